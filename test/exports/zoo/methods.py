"""Losses, layers and methods that modules contain, beyond plain classification. Only `mtc.export` exports them."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from zoo.architecture import Example, architecture, classes, images


class Loss(nn.Module):
    """A module whose output is `function(self, ...)`, with submodules and parameters as attributes."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, nn.Parameter(part) if isinstance(part, Tensor) else part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def loss(function, inputs: dict[str, Tensor], lr: float = 0.1, dynamic: bool = True, **parts) -> Example:
    """An example whose module returns its loss."""
    module = Loss(function, **parts)
    names = ", ".join(inputs)
    # The inputs of the graph have the names of the parameters of forward.
    forward = eval(f"lambda self, {names}: self.function(self, {names})")
    module.__class__ = type("Loss", (Loss,), {"forward": forward})
    return Example(module, inputs, None, "output", lr, output="loss", dynamic=dynamic)


def classifier(function, x: Tensor, lr: float = 0.2, dynamic: bool = True, number: int = 5, **parts) -> Example:
    module = Loss(function, **parts)
    module.__class__ = type("Classifier", (Loss,), {"forward": lambda self, x: self.function(self, x)})
    return Example(module, {"x": x}, classes(number), lr=lr, dynamic=dynamic)


def mlp(*sizes: int, activation=nn.Tanh) -> nn.Sequential:
    layers = [layer for a, b in zip(sizes, sizes[1:]) for layer in (nn.Linear(a, b), activation())]  # noqa: B905
    return nn.Sequential(*layers[:-1])


def randn(*shape: int) -> Tensor:
    return torch.randn(80, *shape)


# ------------------------------------------------------------------------------------------------ spectra


@architecture
def fourier_operator() -> Example:
    """A Fourier neural operator with complex weights."""

    def forward(m, u, target):
        h = m.lift(u.unsqueeze(-1)).transpose(1, 2)
        f = torch.fft.rfft(h)
        kept = torch.einsum("bim,iom->bom", f[..., :5], m.modes)
        h = F.gelu(torch.fft.irfft(F.pad(kept, (0, f.shape[-1] - 5)), n=24) + m.skip(h))
        return F.mse_loss(m.project(h.transpose(1, 2)).squeeze(-1), target)

    return loss(forward, {"u": randn(24), "target": randn(24)}, lift=nn.Linear(1, 8), skip=nn.Conv1d(8, 8, 1),
                project=nn.Linear(8, 1), modes=0.2 * torch.randn(8, 8, 5, dtype=torch.complex64))  # fmt: skip


@architecture
def fourier_operator_2d() -> Example:
    def forward(m, u, target):
        h = m.lift(u)
        f = torch.fft.rfft2(h)
        kept = torch.zeros_like(f)
        kept[:, :, :3, :3] = torch.einsum("bixy,ioxy->boxy", f[:, :, :3, :3], torch.view_as_complex(m.modes))
        return F.mse_loss(m.project(F.gelu(torch.fft.irfft2(kept, s=(12, 12)) + m.skip(h))), target)

    return loss(forward, {"u": randn(1, 12, 12), "target": randn(1, 12, 12)}, lift=nn.Conv2d(1, 6, 1), skip=nn.Conv2d(6, 6, 1),
                project=nn.Conv2d(6, 1, 1), modes=0.2 * torch.randn(6, 6, 3, 3, 2))  # fmt: skip


@architecture
def global_filter() -> Example:
    """GFNet: images are filtered by products of spectra."""

    def forward(m, x):
        h = m.embed(x).permute(0, 2, 3, 1)
        f = torch.fft.rfft2(m.norm(h), dim=(1, 2), norm="ortho") * torch.view_as_complex(m.filter)
        h = h + torch.fft.irfft2(f, s=h.shape[1:3], dim=(1, 2), norm="ortho")
        return m.head(h.mean((1, 2)))

    return classifier(forward, images(16), embed=nn.Conv2d(3, 8, 2, 2), norm=nn.LayerNorm(8), head=nn.Linear(8, 5),
                      filter=0.3 * torch.randn(8, 5, 8, 2))  # fmt: skip


@architecture
def diagonal_state_space() -> Example:
    """S4D: a convolution whose kernel is a sum of complex exponentials."""

    def forward(m, x):
        length, step = x.shape[1], m.step.exp().unsqueeze(1)
        poles = torch.complex(-m.decay.exp(), m.frequency)
        weights = torch.view_as_complex(m.weights) * (torch.exp(step * poles) - 1) / poles
        kernel = 2 * torch.einsum("hn,hnl->hl", weights, torch.exp((step * poles).unsqueeze(-1) * torch.arange(length))).real
        spectrum = torch.fft.rfft(x.transpose(1, 2), n=2 * length) * torch.fft.rfft(kernel, n=2 * length)
        return m.head(F.gelu(torch.fft.irfft(spectrum, n=2 * length)[..., :length]).mean(-1))

    return classifier(forward, randn(16, 6), weights=0.5 * torch.randn(6, 8, 2), decay=torch.full((6, 8), -0.7),
                      frequency=torch.arange(8.0).repeat(6, 1), step=torch.full((6,), -2.0), head=nn.Linear(6, 5))  # fmt: skip


@architecture
def rotary_complex() -> Example:
    """Rotary positions as in the first code of Llama: products of complex numbers."""

    def forward(m, x):
        q, k, v = (part.unflatten(-1, (2, 8)).transpose(1, 2) for part in m.project(x).chunk(3, -1))
        turn = torch.polar(torch.ones(10, 4), torch.outer(torch.arange(10.0), 10.0 ** -torch.arange(4.0)))
        rotate = lambda t: torch.view_as_real(torch.view_as_complex(t.unflatten(-1, (4, 2))) * turn).flatten(-2)  # noqa: E731
        y = F.scaled_dot_product_attention(rotate(q), rotate(k), v)
        return m.head(y.transpose(1, 2).flatten(2).mean(1))

    return classifier(forward, randn(10, 12), project=nn.Linear(12, 48), head=nn.Linear(16, 5))


@architecture
def spectrogram_classifier() -> Example:
    def forward(m, x):
        frames = torch.stft(x, 32, 8, window=torch.hann_window(32), return_complex=True).abs()
        return m.head(torch.log1p(m.bands(frames.transpose(1, 2)).relu()).mean(1))

    return classifier(forward, randn(160), bands=nn.Linear(17, 12), head=nn.Linear(12, 5))


# ------------------------------------------------------------------------------------------------ sequences


@architecture
def packed_lstm() -> Example:
    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(40, 12, padding_idx=0)
            self.lstm = nn.LSTM(12, 10, batch_first=True, bidirectional=True)
            self.head = nn.Linear(20, 5)

        def forward(self, ids, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(self.embed(ids), lengths, batch_first=True, enforce_sorted=False)
            _, (hidden, _) = self.lstm(packed)
            return self.head(hidden.transpose(0, 1).flatten(1))

    lengths = torch.randint(2, 10, (80,))
    lengths[::8] = 9
    ids = torch.randint(1, 40, (80, 9)) * (torch.arange(9) < lengths[:, None])
    return Example(Classifier(), {"ids": ids, "lengths": lengths}, classes(), lr=0.5)


@architecture
def packed_gru_tagger() -> Example:
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.gru = nn.GRU(6, 8, num_layers=2, batch_first=True)
            self.head = nn.Linear(8, 5)

        def forward(self, x, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            padded, _ = nn.utils.rnn.pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=7)
            return self.head(padded)

    inputs = {"x": randn(7, 6), "lengths": torch.randint(2, 8, (80,))}
    return Example(Tagger(), inputs, classes(5, 80, 7), lr=0.3)


@architecture
def lstm_projected() -> Example:
    return classifier(lambda m, x: m.head(m.lstm(x)[0][:, -1]), randn(6, 8), lstm=nn.LSTM(8, 12, 2, batch_first=True, proj_size=5),
                      head=nn.Linear(5, 5), lr=0.5)  # fmt: skip


@architecture
def speech_ctc() -> Example:
    def forward(m, x, labels, sizes):
        log_probabilities = m.head(m.gru(x)[0]).log_softmax(2).transpose(0, 1)
        return F.ctc_loss(log_probabilities, labels, torch.full((x.shape[0],), 12), sizes)

    inputs = {"x": randn(12, 6), "labels": torch.randint(1, 8, (80, 4)), "sizes": torch.randint(1, 5, (80,))}
    return loss(forward, inputs, gru=nn.GRU(6, 10, batch_first=True, bidirectional=True), head=nn.Linear(20, 8))


@architecture
def conditional_random_field() -> Example:
    def forward(m, x, tags):
        scores = m.emit(x)
        alpha = scores[:, 0] + m.start
        gold = alpha.gather(1, tags[:, :1])
        for t in range(1, 6):
            alpha = torch.logsumexp(alpha.unsqueeze(2) + m.transitions, 1) + scores[:, t]
            gold = gold + scores[:, t].gather(1, tags[:, t : t + 1]) + m.transitions[tags[:, t - 1], tags[:, t]].unsqueeze(1)
        return (torch.logsumexp(alpha, 1, keepdim=True) - gold).mean()

    inputs = {"x": randn(6, 8), "tags": torch.randint(0, 4, (80, 6))}
    return loss(forward, inputs, emit=nn.Linear(8, 4), start=torch.zeros(4), transitions=0.1 * torch.randn(4, 4))


@architecture
def adaptive_softmax() -> Example:
    """The second tail cluster has a projection to 0 features."""
    inputs = {"x": randn(8), "labels": torch.randint(0, 20, (80,))}
    return loss(lambda m, x, labels: m.softmax(m.linear(x), labels).loss, inputs, lr=0.3, linear=nn.Linear(8, 8),
                softmax=nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10]))  # fmt: skip


@architecture
def temporal_convolutions() -> Example:
    norm = nn.utils.parametrizations.weight_norm
    layers = [norm(nn.Conv1d(4 if d == 1 else 8, 8, 3, padding=2 * d, dilation=d)) for d in (1, 2, 4)]

    def forward(m, x):
        for layer in m.layers:
            x = F.relu(layer(x)[..., : x.shape[-1]])
        return m.head(x.mean(-1))

    return classifier(forward, randn(4, 16), layers=nn.ModuleList(layers), head=nn.Linear(8, 5))


@architecture
def pointer_network() -> Example:
    def forward(m, x, target):
        h = m.lstm(x)[0]
        scores = torch.tanh(m.query(h[:, -1:]) + m.key(h)) @ m.value
        return F.nll_loss(scores.log_softmax(1), target)

    return loss(forward, {"x": randn(7, 3), "target": torch.randint(0, 7, (80,))}, lr=0.3, lstm=nn.LSTM(3, 10, batch_first=True),
                query=nn.Linear(10, 10), key=nn.Linear(10, 10, bias=False), value=0.5 * torch.randn(10))  # fmt: skip


# ------------------------------------------------------------------------------------------------ physics and geometry


@architecture
def radiance_field() -> Example:
    """NeRF: transmittance by a cumulative product."""

    def forward(m, origin, direction, target):
        t = torch.linspace(1, 4, 10)
        points = origin.unsqueeze(1) + direction.unsqueeze(1) * t.unsqueeze(1)
        waves = (points.unsqueeze(-1) * 2.0 ** torch.arange(3)).flatten(2)
        density, color = m.field(torch.cat([points, waves.sin(), waves.cos()], -1)).split([1, 3], -1)
        opacity = 1 - torch.exp(-F.softplus(density.squeeze(-1)) * 0.3)
        passed = torch.cumprod(F.pad(1 - opacity, (1, 0), value=1.0), 1)[:, :-1]
        return F.mse_loss(((opacity * passed).unsqueeze(-1) * color.sigmoid()).sum(1), target)

    inputs = {"origin": randn(3), "direction": randn(3), "target": torch.rand(80, 3)}
    return loss(forward, inputs, lr=0.5, field=mlp(21, 24, 4, activation=nn.ReLU))


@architecture
def physics_informed() -> Example:
    """Burgers' equation, with derivatives by torch.autograd.grad."""

    def forward(m, x):
        x = x.clone().requires_grad_(True)
        u = m.net(x)
        first = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
        second = torch.autograd.grad(first[:, 0].sum(), x, create_graph=True)[0]
        return ((first[:, 1] + u[:, 0] * first[:, 0] - 0.1 * second[:, 0]) ** 2).mean()

    return loss(forward, {"x": randn(2)}, net=mlp(2, 16, 16, 1))


@architecture
def hamiltonian_network() -> Example:
    def forward(m, state, change):
        state = state.clone().requires_grad_(True)
        gradient = torch.autograd.grad(m.energy(state).sum(), state, create_graph=True)[0]
        return F.mse_loss(torch.cat([gradient[:, 2:], -gradient[:, :2]], 1), change)

    return loss(forward, {"state": randn(4), "change": randn(4)}, energy=mlp(4, 16, 1))


@architecture
def gaussian_process() -> Example:
    """Deep kernel learning: the marginal likelihood by a Cholesky factor."""

    def forward(m, x, y):
        z = m.features(x) / m.scale.exp()
        kernel = torch.exp(-0.5 * torch.cdist(z, z) ** 2) + m.noise.exp() * torch.eye(x.shape[0])
        factor = torch.linalg.cholesky(kernel)
        fit = (y.unsqueeze(1) * torch.cholesky_solve(y.unsqueeze(1), factor)).sum()
        return (0.5 * fit + factor.diagonal().log().sum()) / x.shape[0]

    return loss(forward, {"x": randn(3), "y": randn()}, features=nn.Linear(3, 2), scale=torch.zeros(2), noise=torch.tensor(-1.0),
                dynamic=False)  # fmt: skip


@architecture
def normalizing_flow() -> Example:
    """Couplings and a learned rotation, whose determinant is in the loss."""

    def forward(m, x):
        volume = torch.linalg.slogdet(m.mix)[1].expand(x.shape[0])
        x = x @ m.mix
        for net in m.nets:
            a, b = x.chunk(2, 1)
            scale, shift = net(a).chunk(2, 1)
            x = torch.cat([b * scale.tanh().exp() + shift, a], 1)
            volume = volume + scale.tanh().sum(1)
        return (0.5 * (x**2).sum(1) - volume).mean()

    return loss(forward, {"x": randn(6)}, lr=0.02, mix=torch.eye(6) + 0.1 * torch.randn(6, 6),
                nets=nn.ModuleList([mlp(3, 12, 6), mlp(3, 12, 6)]))  # fmt: skip


@architecture
def orthogonal_layers() -> Example:
    orthogonal = nn.utils.parametrizations.orthogonal
    return classifier(lambda m, x: m.head(torch.tanh(m.second(torch.tanh(m.first(x))))), randn(8), first=orthogonal(nn.Linear(8, 8)),
                      second=orthogonal(nn.Linear(8, 8), orthogonal_map="cayley"), head=nn.Linear(8, 5))  # fmt: skip


@architecture
def kalman_filter() -> Example:
    def forward(m, y):
        state, spread = torch.zeros(y.shape[0], 2, 1), torch.eye(2).expand(y.shape[0], 2, 2)
        noise, total = m.noise.exp() * torch.eye(1), 0.0
        for t in range(5):
            state, spread = m.step @ state, m.step @ spread @ m.step.mT + 0.1 * torch.eye(2)
            innovation, size = y[:, t, None, None] - m.observe @ state, m.observe @ spread @ m.observe.mT + noise
            gain = torch.linalg.solve(size, m.observe @ spread).mT
            total = total + (innovation**2 / size + size.log()).mean()
            state, spread = state + gain @ innovation, spread - gain @ m.observe @ spread
        return total

    return loss(forward, {"y": randn(5)}, lr=0.02, step=0.8 * torch.eye(2) + 0.1 * torch.randn(2, 2),
                observe=torch.randn(1, 2), noise=torch.tensor(0.0))  # fmt: skip


@architecture
def point_transformation() -> Example:
    """PointNet with a learned transformation."""

    def forward(m, x):
        matrix = m.to_matrix(m.first(x).amax(2)).unflatten(1, (3, 3)) + torch.eye(3)
        return m.head(m.second(matrix @ x).amax(2))

    return classifier(forward, randn(3, 20), lr=0.05, first=nn.Sequential(nn.Conv1d(3, 12, 1), nn.BatchNorm1d(12), nn.ReLU()),
                      to_matrix=nn.Linear(12, 9), second=nn.Sequential(nn.Conv1d(3, 12, 1), nn.BatchNorm1d(12)),
                      head=nn.Linear(12, 5))  # fmt: skip


@architecture
def edge_convolution() -> Example:
    """DGCNN: neighbors by distances."""

    def forward(m, x):
        near = torch.cdist(x, x).topk(4, largest=False).indices
        neighbors = torch.gather(x.unsqueeze(1).expand(-1, 30, -1, -1), 2, near.unsqueeze(-1).expand(-1, -1, -1, 3))
        edges = torch.cat([neighbors - x.unsqueeze(2), x.unsqueeze(2).expand_as(neighbors)], -1)
        return m.head(m.edge(edges).amax(2).mean(1))

    return classifier(forward, randn(30, 3), edge=mlp(6, 12, 12, activation=nn.ReLU), head=nn.Linear(12, 5))


# ------------------------------------------------------------------------------------------------ metric and generative learning


@architecture
def contrastive() -> Example:
    """SimCLR; the number of classes is that of the samples."""

    def forward(m, a, b):
        z = F.normalize(torch.cat([m.encoder(a), m.encoder(b)]))
        scores = (z @ z.T / 0.5).fill_diagonal_(-1e9)
        n = a.shape[0]
        return F.cross_entropy(scores, torch.cat([torch.arange(n) + n, torch.arange(n)]))

    return loss(forward, {"a": randn(10), "b": randn(10)}, lr=0.3, encoder=mlp(10, 16, 6, activation=nn.ReLU))


@architecture
def barlow_twins() -> Example:
    def forward(m, a, b):
        a, b = ((z - z.mean(0)) / z.std(0) for z in (m.encoder(a), m.encoder(b)))
        correlation = a.T @ b / a.shape[0]
        on = torch.diagonal(correlation)
        return ((on - 1) ** 2).sum() + 0.01 * ((correlation**2).sum() - (on**2).sum())

    return loss(forward, {"a": randn(10), "b": randn(10)}, lr=0.01, encoder=mlp(10, 16, 6))


@architecture
def triplets() -> Example:
    def forward(m, anchor, positive, negative):
        return F.triplet_margin_loss(*(F.normalize(m.encoder(x)) for x in (anchor, positive, negative)), margin=1.0)

    return loss(forward, {"anchor": randn(10), "positive": randn(10), "negative": randn(10)}, lr=0.02, encoder=mlp(10, 16, 6))


@architecture
def angular_margin() -> Example:
    """ArcFace."""

    def forward(m, x, labels):
        cosine = F.linear(F.normalize(m.encoder(x)), F.normalize(m.centers)).clamp(-1 + 1e-6, 1 - 1e-6)
        own = F.one_hot(labels, 5).bool()
        return F.cross_entropy(8 * torch.where(own, torch.cos(torch.acos(cosine) + 0.3), cosine), labels)

    return loss(forward, {"x": randn(10), "labels": classes()}, encoder=mlp(10, 16, 8), centers=torch.randn(5, 8))


@architecture
def variational_autoencoder() -> Example:
    def forward(m, x, noise):
        mean, log_variance = m.encoder(x).chunk(2, 1)
        decoded = m.decoder(mean + noise * torch.exp(0.5 * log_variance))
        divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1).mean()
        return F.binary_cross_entropy_with_logits(decoded, x, reduction="none").sum(1).mean() + divergence

    return loss(forward, {"x": torch.rand(80, 12), "noise": randn(3)}, lr=0.02, encoder=mlp(12, 16, 6), decoder=mlp(3, 16, 12))


@architecture
def denoising_diffusion() -> Example:
    def forward(m, x, noise, step):
        kept = torch.cumprod(1 - torch.linspace(1e-3, 0.2, 20), 0)[step].unsqueeze(1)
        noisy = kept.sqrt() * x + (1 - kept).sqrt() * noise
        return F.mse_loss(m.net(torch.cat([noisy, m.time(step)], 1)), noise)

    inputs = {"x": randn(6), "noise": randn(6), "step": torch.randint(0, 20, (80,))}
    return loss(forward, inputs, time=nn.Embedding(20, 4), net=mlp(10, 24, 6))


@architecture
def mixture_density() -> Example:
    def forward(m, x, y):
        logits, mean, log_scale = m.net(x).chunk(3, 1)
        score = torch.distributions.Normal(mean, log_scale.exp()).log_prob(y.unsqueeze(1))
        return -torch.logsumexp(logits.log_softmax(1) + score, 1).mean()

    return loss(forward, {"x": randn(4), "y": randn()}, lr=0.05, net=mlp(4, 16, 9))


@architecture
def optimal_transport() -> Example:
    def forward(m, x, y):
        cost = torch.cdist(m.map(x), y) ** 2
        f, g = torch.zeros_like(cost[:, :, 0]), torch.zeros_like(cost[:, 0])
        for _ in range(3):
            f = -torch.logsumexp(g.unsqueeze(1) - cost, 2)
            g = -torch.logsumexp(f.unsqueeze(2) - cost, 1)
        return (torch.exp(f.unsqueeze(2) + g.unsqueeze(1) - cost) * cost).sum((1, 2)).mean()

    return loss(forward, {"x": randn(5, 3), "y": randn(5, 3)}, lr=0.01, map=nn.Linear(3, 3))


@architecture
def energy_score_matching() -> Example:
    """Sliced score matching: a gradient of a gradient in the direction of noise."""

    def forward(m, x, v):
        x = x.clone().requires_grad_(True)
        score = torch.autograd.grad(m.energy(x).sum(), x, create_graph=True)[0]
        curvature = torch.autograd.grad((score * v).sum(), x, create_graph=True)[0]
        return ((curvature * v).sum(1) + 0.5 * (score**2).sum(1)).mean()

    return loss(forward, {"x": randn(4), "v": randn(4)}, lr=0.05, energy=mlp(4, 16, 1))


# ------------------------------------------------------------------------------------------------ images and tables


@architecture
def spatial_transformer() -> Example:
    def forward(m, x):
        grid = F.affine_grid(m.locate(x.flatten(1)).unflatten(1, (2, 3)) + torch.eye(2, 3), x.shape, align_corners=False)
        return m.head(F.silu(m.conv(F.grid_sample(x, grid, align_corners=False))).mean((2, 3)))

    locate = nn.Linear(100, 6)
    nn.init.normal_(locate.weight, std=0.01)
    return classifier(forward, images(10, 1), locate=locate, conv=nn.Conv2d(1, 6, 3), head=nn.Linear(6, 5))


@architecture
def volumes() -> Example:
    module = nn.Sequential(nn.Conv3d(1, 6, 3, padding=1, bias=False), nn.BatchNorm3d(6), nn.ReLU(), nn.MaxPool3d(2),
                           nn.Conv3d(6, 8, 3, bias=False), nn.InstanceNorm3d(8, affine=True), nn.ReLU(), nn.Flatten(),
                           nn.Linear(64, 5))  # fmt: skip
    return Example(module, {"x": randn(1, 8, 8, 8)}, classes())


@architecture
def dice_segmentation() -> Example:
    def forward(m, x, labels):
        a = F.mish(m.first(x))
        b = F.interpolate(F.mish(m.second(F.avg_pool2d(a, 2))), scale_factor=2, mode="bilinear", align_corners=False)
        p, t = m.head(torch.cat([a, b], 1)).softmax(1), F.one_hot(labels, 3).permute(0, 3, 1, 2)
        return 1 - ((2 * (p * t).sum((2, 3)) + 1) / ((p + t).sum((2, 3)) + 1)).mean()

    inputs = {"x": images(8, 2), "labels": torch.randint(0, 3, (80, 8, 8))}
    return loss(forward, inputs, lr=10.0, first=nn.Conv2d(2, 6, 3, padding=1), second=nn.Conv2d(6, 6, 3, padding=1),
                head=nn.Conv2d(12, 3, 1))  # fmt: skip


@architecture
def super_resolution() -> Example:
    def forward(m, x, target):
        h = m.second(F.leaky_relu(m.first(x), 0.2))
        up = F.pixel_shuffle(h, 2) + F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)
        return torch.sqrt((up - target) ** 2 + 1e-6).mean()

    inputs = {"x": images(6), "target": images(12)}
    return loss(forward, inputs, lr=0.3, first=nn.Conv2d(3, 8, 3, padding=1, padding_mode="reflect"),
                second=nn.Conv2d(8, 12, 3, padding=1, padding_mode="circular"))  # fmt: skip


@architecture
def convolutional_lstm() -> Example:
    def forward(m, x, target):
        hidden = cell = torch.zeros_like(x[:, 0]).expand(-1, 4, -1, -1)
        for step in range(3):
            i, f, o, g = m.gates(torch.cat([x[:, step], hidden], 1)).chunk(4, 1)
            cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
            hidden = torch.sigmoid(o) * torch.tanh(cell)
        return F.binary_cross_entropy(torch.sigmoid(m.head(hidden)), target)

    inputs = {"x": randn(3, 1, 6, 6), "target": torch.rand(80, 1, 6, 6)}
    return loss(forward, inputs, lr=0.5, gates=nn.Conv2d(5, 16, 3, padding=1), head=nn.Conv2d(4, 1, 1))


@architecture
def capsules() -> Example:
    def squash(v):
        size = v.norm(dim=-1, keepdim=True)
        return size / (1 + size**2) * v

    def forward(m, x, labels):
        votes = torch.einsum("ijdk,bik->bijd", m.route, squash(m.primary(x).unflatten(1, (6, 4))))
        logits = torch.zeros_like(votes[..., 0])
        for _ in range(2):
            v = squash((logits.softmax(2).unsqueeze(-1) * votes).sum(1))
            logits = logits + (votes * v.unsqueeze(1)).sum(-1)
        size, own = v.norm(dim=-1), F.one_hot(labels, 5)
        return (own * F.relu(0.9 - size) ** 2 + 0.5 * (1 - own) * F.relu(size - 0.1) ** 2).sum(1).mean()

    return loss(forward, {"x": randn(10), "labels": classes()}, lr=0.5, primary=nn.Linear(10, 24), route=0.5 * torch.randn(6, 5, 4, 4))


@architecture
def bags_of_maxima() -> Example:
    def forward(m, ids, labels):
        return F.cross_entropy(m.head(torch.cat([bag(ids) for bag in m.bags], 1)), labels)

    bags = nn.ModuleList([nn.EmbeddingBag(20, 6, mode=mode, padding_idx=0) for mode in ("max", "sum", "mean")])
    return loss(forward, {"ids": torch.randint(0, 20, (80, 4)), "labels": classes()}, lr=0.3, bags=bags, head=nn.Linear(18, 5))


@architecture
def sparsemax_attention() -> Example:
    def sparsemax(z):
        ordered = z.sort(-1, descending=True).values
        total = ordered.cumsum(-1)
        count = (1 + torch.arange(1, z.shape[-1] + 1) * ordered > total).sum(-1, keepdim=True)
        return F.relu(z - (total.gather(-1, count - 1) - 1) / count)

    return classifier(lambda m, x: m.head(x * sparsemax(m.attend(x))), randn(8), attend=nn.Linear(8, 8), head=nn.Linear(8, 5))


@architecture
def spline_network() -> Example:
    """A Kolmogorov-Arnold network of piecewise linear functions."""

    def forward(m, x):
        hats = F.relu(1 - (x.unsqueeze(-1) - torch.linspace(-2, 2, 7)).abs() / (4 / 6))
        return m.head(F.silu(x)) + torch.einsum("big,oig->bo", hats, m.curves)

    return classifier(forward, randn(6), head=nn.Linear(6, 5), curves=0.1 * torch.randn(5, 6, 7))


@architecture
def mixture_of_experts() -> Example:
    def forward(m, x, labels):
        gate = m.gate(x).softmax(1)
        weight, chosen = gate.topk(2, 1)
        h = torch.einsum("bi,beij->bej", x, m.experts[chosen])
        balance = 4 * (F.one_hot(chosen[:, 0], 4).float().mean(0) * gate.mean(0)).sum()
        return F.cross_entropy(m.head((weight.unsqueeze(-1) * h.relu()).sum(1)), labels) + 0.01 * balance

    return loss(forward, {"x": randn(6), "labels": classes()}, lr=0.3, gate=nn.Linear(6, 4), experts=0.5 * torch.randn(4, 6, 8),
                head=nn.Linear(8, 5))  # fmt: skip


@architecture
def uncertainty_weights() -> Example:
    def forward(m, x, labels, values):
        h = m.body(x)
        parts = torch.stack([F.cross_entropy(m.classes(h), labels), F.huber_loss(m.value(h).squeeze(1), values)])
        return (torch.exp(-m.weights) * parts + m.weights).sum()

    inputs = {"x": randn(8), "labels": classes(), "values": randn()}
    return loss(forward, inputs, body=mlp(8, 12, 12), classes=nn.Linear(12, 5), value=nn.Linear(12, 1), weights=torch.zeros(2))


@architecture
def quantile_forecast() -> Example:
    def forward(m, x, target):
        error, q = target.unsqueeze(-1) - m.head(m.lstm(x)[0][:, -3:]), torch.tensor([0.1, 0.5, 0.9])
        return torch.maximum(q * error, (q - 1) * error).mean()

    return loss(forward, {"x": randn(8, 4), "target": randn(3)}, lr=0.3, lstm=nn.LSTM(4, 10, batch_first=True), head=nn.Linear(10, 3))


@architecture
def survival_hazard() -> Example:
    """Cox's partial likelihood of samples in the order of their times."""

    def forward(m, x, event):
        risk = m.net(x).squeeze(1)
        return -((risk - torch.logcumsumexp(risk, 0)) * event).sum() / (event.sum() + 1e-3)

    return loss(forward, {"x": randn(5), "event": (torch.rand(80) < 0.7).float()}, net=mlp(5, 12, 1), dynamic=False)


@architecture
def ordinary_differential_equation() -> Example:
    def forward(m, x):
        for _ in range(4):
            a = m.field(x)
            b = m.field(x + 0.1 * a)
            x = x + 0.2 * b
        return m.head(x)

    return classifier(forward, randn(4), field=mlp(4, 12, 4), head=nn.Linear(4, 5), lr=0.5)


@architecture
def weibull_mixture() -> Example:
    def forward(m, x, time):
        scale, shape = F.softplus(m.net(x)).chunk(2, 1)
        ratio = (time.unsqueeze(1) / (scale + 0.1)).clamp(min=1e-4)
        log_density = math.log(2) + torch.log(shape + 0.1) + shape * ratio.log() - ratio ** (shape + 0.1)
        return -torch.logsumexp(log_density, 1).mean()

    return loss(forward, {"x": randn(4), "time": torch.rand(80) + 0.1}, lr=0.05, net=mlp(4, 12, 6))
