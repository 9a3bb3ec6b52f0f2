"""Models of physics, statistics and geometry. They are exported by `mtc.export` only."""

import torch
import torch.nn.functional as F
from torch import nn
from zoo.architecture import Example, architecture
from zoo.functional import classifier, loss, mlp, randn


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
    """A flow of coupling layers and a learned rotation, whose determinant is part of the loss."""

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
