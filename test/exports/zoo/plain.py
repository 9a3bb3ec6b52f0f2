"""Modules written with torch.nn alone."""

import torch
import torch.nn.functional as F
from torch import nn
from zoo.architecture import Example, architecture, classes, images, next_tokens, tokens


@architecture
def transformer_encoder() -> Example:
    """nn.TransformerEncoder clones one layer: its layers have equal initial weights and are trained separately."""

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
            self.head = nn.Linear(16, 5)

        def forward(self, x):
            return self.head(self.encoder(x).mean(1))

    return Example(Classifier(), {"x": torch.randn(80, 6, 16)}, classes())


@architecture
def transformer() -> Example:
    class Translator(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(64, 16, padding_idx=0)
            self.transformer = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True)
            self.head = nn.Linear(16, 64, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, source, target):
            mask = nn.Transformer.generate_square_subsequent_mask(12)
            return self.head(self.transformer(self.embed(source), self.embed(target), tgt_mask=mask, tgt_is_causal=True))

    target = tokens(low=0)
    return Example(Translator(), {"source": tokens(low=0), "target": target}, next_tokens(target), "causal-lm", 0.02)


def recurrent(kind) -> Example:
    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.recurrent = kind(8, 12, num_layers=2, batch_first=True, bidirectional=True)
            self.head = nn.Linear(24, 5)

        def forward(self, x):
            return self.head(self.recurrent(x)[0][:, -1])

    return Example(Classifier(), {"x": torch.randn(80, 7, 8)}, classes(), lr=0.3)


@architecture
def lstm() -> Example:
    return recurrent(nn.LSTM)


@architecture
def gru() -> Example:
    return recurrent(nn.GRU)


@architecture
def rnn() -> Example:
    return recurrent(nn.RNN)


@architecture
def lstm_language() -> Example:
    """A language model of an LSTM whose head is tied to the embedding."""

    class Language(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(64, 16)
            self.lstm = nn.LSTM(16, 16, batch_first=True)
            self.head = nn.Linear(16, 64)
            self.head.weight = self.embed.weight

        def forward(self, ids):
            return self.head(self.lstm(self.embed(ids))[0])

    ids = tokens()
    return Example(Language(), {"ids": ids}, next_tokens(ids), "causal-lm", 0.5)


@architecture
def siamese() -> Example:
    """One encoder that is called twice."""

    class Siamese(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(12, 24), nn.GELU(), nn.Linear(24, 8))

        def forward(self, left, right):
            return F.cosine_similarity(self.encoder(left), self.encoder(right))

    inputs = {"left": torch.randn(80, 12), "right": torch.randn(80, 12)}
    return Example(Siamese(), inputs, torch.rand(80), "mse", 0.3)


@architecture
def dlrm() -> Example:
    class Recommender(nn.Module):
        def __init__(self):
            super().__init__()
            self.bottom = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8))
            self.bags = nn.ModuleList(nn.EmbeddingBag(20, 8, mode=mode) for mode in ("sum", "mean", "sum"))
            self.top = nn.Sequential(nn.Linear(8 + 6, 16), nn.ReLU(), nn.Linear(16, 1))

        def forward(self, dense, sparse):
            x = self.bottom(dense)
            rows = torch.stack([x, *(bag(sparse[:, i]) for i, bag in enumerate(self.bags))], 1)
            pairs = torch.bmm(rows, rows.transpose(1, 2))
            i, j = torch.tril_indices(4, 4, -1)
            return self.top(torch.cat([x, pairs[:, i, j]], 1)).squeeze(1)

    inputs = {"dense": torch.randn(80, 6), "sparse": torch.randint(0, 20, (80, 3, 4))}
    return Example(Recommender(), inputs, torch.randint(0, 2, (80,)).float(), "bce-with-logits", 0.3)


@architecture
def gcn() -> Example:
    """Graph convolutions with a dense adjacency matrix; all steps see the whole graph."""

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 5)

        def forward(self, x, adjacency):
            return adjacency @ self.second(torch.relu(adjacency @ self.first(x)))

    adjacency = (torch.rand(12, 12) < 0.3).float() + torch.eye(12)
    inputs = {"x": torch.randn(12, 8), "adjacency": adjacency / adjacency.sum(1, keepdim=True)}
    return Example(Network(), inputs, classes(5, 12), lr=0.5, batch=12, whole=("x", "adjacency", "labels"), dynamic=False)


@architecture
def gat() -> Example:
    """Graph attention over edge lists, with softmax by index_add."""

    class Layer(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.linear = nn.Linear(inputs, outputs, bias=False)
            self.source, self.target = nn.Parameter(torch.randn(outputs)), nn.Parameter(torch.randn(outputs))

        def forward(self, x, edges):
            h = self.linear(x)
            score = F.leaky_relu(h[edges[0]] @ self.source + h[edges[1]] @ self.target, 0.2).exp()
            total = torch.zeros(12).index_add(0, edges[1], score)
            return torch.zeros_like(h).index_add(0, edges[1], h[edges[0]] * (score / total[edges[1]])[:, None])

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = Layer(8, 16), Layer(16, 5)

        def forward(self, x, edges):
            return self.second(F.elu(self.first(x, edges)), edges)

    edges = torch.cat([torch.arange(12).repeat(2, 1), torch.randint(0, 12, (2, 30))], 1)
    inputs = {"x": torch.randn(12, 8), "edges": edges}
    return Example(Network(), inputs, classes(5, 12), lr=0.2, batch=12, whole=("x", "edges", "labels"), dynamic=False)


@architecture
def tabular() -> Example:
    """Embeddings of categories, concatenated with numbers, and batch norm."""

    class Tabular(nn.Module):
        def __init__(self):
            super().__init__()
            self.embeds = nn.ModuleList(nn.Embedding(n, 4) for n in (5, 7, 9))
            self.norm = nn.BatchNorm1d(6)
            self.layers = nn.Sequential(nn.Linear(18, 24), nn.ReLU(), nn.BatchNorm1d(24), nn.Linear(24, 16), nn.ReLU(),
                                        nn.BatchNorm1d(16), nn.Linear(16, 3))  # fmt: skip

        def forward(self, categories, numbers):
            parts = [embed(categories[:, i]) for i, embed in enumerate(self.embeds)]
            return self.layers(torch.cat([*parts, self.norm(numbers)], 1))

    inputs = {"categories": torch.randint(0, 5, (80, 3)), "numbers": torch.randn(80, 6)}
    return Example(Tabular(), inputs, classes(3))


@architecture
def mlp_weight_norm() -> Example:
    norm = nn.utils.parametrizations.weight_norm
    module = nn.Sequential(norm(nn.Linear(12, 24)), nn.Tanh(), norm(nn.Linear(24, 24)), nn.Tanh(), nn.Linear(24, 5))
    return Example(module, {"x": torch.randn(80, 12)}, classes(), lr=0.3)


@architecture
def mlp_frozen() -> Example:
    """The first layer does not require gradients."""
    module = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 5))
    module[0].requires_grad_(False)
    return Example(module, {"x": torch.randn(80, 12)}, classes(), lr=0.3)


@architecture
def layer_norms() -> Example:
    """Residual blocks whose norms have equal initial values, so that exporters write one initializer for all of them."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.linear = nn.LayerNorm(12), nn.Linear(12, 12)

        def forward(self, x):
            return x + F.gelu(self.linear(self.norm(x)))

    module = nn.Sequential(Block(), Block(), nn.LayerNorm(12), nn.Linear(12, 5))
    return Example(module, {"x": torch.randn(80, 12)}, classes(), lr=0.3)


@architecture
def embedding_padding() -> Example:
    """Lookups do not train the padding row, which is initialized with zeros."""

    class Bag(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(16, 8, padding_idx=0)
            self.head = nn.Linear(8, 5)

        def forward(self, ids):
            return self.head(torch.tanh(self.embed(ids)).mean(1))

    return Example(Bag(), {"ids": torch.randint(0, 4, (80, 6))}, classes(), lr=1.0)


@architecture
def cnn() -> Example:
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(16, 5),
    )  # fmt: skip
    return Example(module, {"x": images(12)}, classes(), lr=0.2)


@architecture
def loss_inside() -> Example:
    """The module returns its loss, with label smoothing and class weights."""

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 5))
            self.register_buffer("weights", torch.tensor([1.0, 2.0, 0.5, 1.5, 1.0]))

        def forward(self, x, labels):
            return F.cross_entropy(self.layers(x), labels, weight=self.weights, label_smoothing=0.2, ignore_index=3)

    inputs = {"x": torch.randn(80, 12), "labels": classes()}
    return Example(Classifier(), inputs, None, "output", 0.3, output="loss")


@architecture
def splits() -> Example:
    """torch.split and chunk of a fused projection."""

    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.fused, self.head = nn.Linear(12, 40), nn.Linear(16, 5)

        def forward(self, x):
            value, gate, scale = self.fused(x).split([16, 16, 8], 1)
            a, b = scale.chunk(2, 1)
            return self.head(value * torch.sigmoid(gate)) * (a * b).mean(1, keepdim=True).exp()

    return Example(Gated(), {"x": torch.randn(80, 12)}, classes(), lr=0.3)


@architecture
def weight_norm_convolution() -> Example:
    """A vocoder's convolutions: weight norm and transposed convolutions."""
    norm = nn.utils.parametrizations.weight_norm
    module = nn.Sequential(norm(nn.Conv1d(4, 16, 7, padding=3)), nn.LeakyReLU(0.1),
                           norm(nn.ConvTranspose1d(16, 8, 4, stride=2, padding=1)), nn.LeakyReLU(0.1),
                           norm(nn.Conv1d(8, 1, 7, padding=3)), nn.Tanh())  # fmt: skip
    return Example(module, {"x": torch.randn(80, 4, 10)}, torch.randn(80, 1, 20), "mse", 0.2)


def group_normalized() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU(), nn.Conv2d(8, 8, 3, padding=1),
                         nn.InstanceNorm2d(8, affine=True), nn.SiLU(), nn.Flatten(), nn.Linear(8 * 64, 5))  # fmt: skip


@architecture
def cnn_group_norm() -> Example:
    return Example(group_normalized(), {"x": images(8)}, classes(), lr=0.05)


@architecture
def tied_autoencoder() -> Example:
    """The decoder multiplies by the encoder's weight, transposed."""

    class Autoencoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(20, 6)
            self.bias = nn.Parameter(torch.zeros(20))

        def forward(self, x):
            return F.linear(torch.tanh(self.encoder(x)), self.encoder.weight.t(), self.bias)

    x = torch.randn(80, 20)
    return Example(Autoencoder(), {"x": x}, x.clone(), "mse", 0.5)
