"""Models of spectra and sequences. They are exported by `mtc.export` only."""

import torch
import torch.nn.functional as F
from torch import nn
from zoo.architecture import Example, architecture, classes, images
from zoo.functional import classifier, loss, randn


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
    """GFNet: images are filtered by multiplication of spectra."""

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
    """Rotary positions as in the first code of Llama: multiplication of complex numbers."""

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
    """The second tail cluster is projected to 0 features."""
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
