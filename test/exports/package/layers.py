"""Tests of layers and losses."""

import warnings

import torch
import torch.nn.functional as F
from harness import PATH, Function, nodes, refused, test
from torch import nn

import mtc


@test
def losses_that_ignore_a_symbolic_class():
    class Positions(nn.Module):
        """The number of classes is the length of a sequence. A target beyond the end is ignored, as in question answering of transformers."""

        def __init__(self, reduction):
            super().__init__()
            self.linear = nn.Linear(4, 1)
            self.reduction = reduction

        def forward(self, x, target):
            scores = self.linear(x).squeeze(-1)
            length = scores.shape[1]
            return F.cross_entropy(scores, target.clamp(0, length), ignore_index=length, reduction=self.reduction)

    for reduction in ("mean", "sum", "none"):
        x, target = torch.randn(6, 5, 4), torch.tensor([0, 9, 2, 4, 1, 9])
        mtc.export(Positions(reduction=reduction), (x, target), PATH, dynamic_axes={"x": {1: "sequence"}})


@test
def losses_in_the_module():
    class Loss(nn.Module):
        def __init__(self, **options):
            super().__init__()
            self.linear = nn.Linear(4, 5)
            self.options = options

        def forward(self, x, target):
            return F.cross_entropy(self.linear(x), target, **self.options)

    weight = torch.tensor([1.0, 2.0, 0.5, 3.0, 1.0])
    x, target = torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 4, 2])
    for reduction in ("mean", "sum", "none"):
        for smoothing in (0.0, 0.3):
            for options in ({}, {"weight": weight}, {"weight": weight, "ignore_index": 2}):
                module = Loss(reduction=reduction, label_smoothing=smoothing, **options)
                mtc.export(module, (x, target), PATH)
                settings = [entry.value for node in nodes("Identity") for entry in node.metadata_props if entry.key == "mtc.setting"]
                assert settings == ["label-smoothing"] * (smoothing > 0), settings
                if "ignore_index" not in options:
                    mtc.export(module, (x, torch.rand(6, 5)), PATH)


    class Dense(nn.Module):
        """Classes are on the second axis, and positions on the third."""

        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(4, 5, 1)

        def forward(self, x, target):
            return F.cross_entropy(self.conv(x), target, weight=weight, label_smoothing=0.2, ignore_index=1)

    mtc.export(Dense(), (torch.randn(2, 4, 6), torch.randint(0, 5, (2, 6))), PATH)


@test
def splits_and_bags():
    def pieces(module, x):
        a, b, c = x.split([1, 2, 5], 1)
        d, e = x.split(5, 1)
        return a * b.sum(1, keepdim=True) + c.mean() + d[:, :3] * e

    mtc.export(Function(pieces, 8), torch.randn(3, 8), PATH)
    assert not nodes("SplitToSequence")

    class Bags(nn.Module):
        def __init__(self, **options):
            super().__init__()
            self.bag = nn.EmbeddingBag(7, 3, **options)

        def forward(self, values, offsets, weights):
            return self.bag(values, offsets, weights)

    values, offsets = torch.tensor([1, 0, 3, 6, 1, 2]), torch.tensor([0, 2, 2, 5])  # with include_last_offset, the last index is in no bag
    weights = torch.rand(6)
    for options in ({"mode": "sum"}, {"mode": "sum", "padding_idx": 1}, {"mode": "sum", "include_last_offset": True}):
        mtc.export(Bags(**options), (values, offsets, weights), PATH, dynamic_batch=False)
        assert not nodes("Loop")
    for options in ({"mode": "mean"}, {"mode": "mean", "padding_idx": 0}):
        mtc.export(Bags(**options), (values, offsets, None), PATH, dynamic_batch=False)
    refused(Bags(mode="max"), (values, offsets, None), "mode='max'", "offsets", dynamic_batch=False)


class Packed(nn.Module):
    def __init__(self, layer, total_length=None):
        super().__init__()
        self.layer, self.total_length = layer, total_length

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        output, state = self.layer(packed)
        if self.total_length is None:
            return state
        padded, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=self.total_length, padding_value=0.5)
        return padded, state


@test
def packed_sequences():
    x, lengths = torch.randn(4, 7, 3), torch.tensor([7, 2, 5, 3])
    for layer in (nn.LSTM(3, 5, 2, bidirectional=True), nn.GRU(3, 5, bidirectional=True), nn.RNN(3, 5, 2), nn.LSTM(3, 5, bias=False)):
        for total in (None, 7):
            mtc.export(Packed(layer, total), (x, lengths), PATH)
            found = [node for kind in ("LSTM", "GRU", "RNN") for node in nodes(kind)]
            assert len(found) == layer.num_layers and all(node.input[4] for node in found)

    class Whole(Packed):
        def forward(self, x, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            return nn.utils.rnn.pad_packed_sequence(self.layer(packed)[0], batch_first=True)[0]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mtc.export(Whole(nn.GRU(3, 5)), (x, lengths), PATH)
    assert [w for w in caught if w.category is mtc.ExportWarning and "total_length=7" in str(w.message)], caught

    class Reads(Packed):
        def forward(self, x, lengths):
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            return self.layer(packed)[0].data.mean()

    refused(Reads(nn.GRU(3, 5)), (x, lengths), "mean", "PackedSequence", "pad_packed_sequence")


@test
def layers_without_an_operator():
    x = torch.randn(3, 6, 4)
    mtc.export(nn.LSTM(4, 8, 2, proj_size=3, batch_first=True, bidirectional=True), x, PATH)
    mtc.export(nn.LSTM(4, 8, proj_size=3, bias=False), x, PATH, dynamic_batch=False)
    softmax = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0)
    mtc.export(softmax, (torch.randn(6, 8), torch.tensor([0, 4, 5, 9, 10, 19])), PATH)

    class Loss(nn.Module):
        def __init__(self, **options):
            super().__init__()
            self.linear, self.options = nn.Linear(4, 5), options

        def forward(self, x, target, steps, sizes):
            return F.ctc_loss(self.linear(x).log_softmax(2).transpose(0, 1), target, steps, sizes, **self.options)

    target = torch.tensor([[1, 1, 2], [3, 4, 0], [2, 0, 0]])
    for options in ({}, {"reduction": "sum"}, {"reduction": "none", "blank": 4}, {"zero_infinity": True}):
        steps = torch.tensor([6, 4, 5]) if "zero_infinity" not in options else torch.tensor([3, 4, 5])
        mtc.export(Loss(**options), (x, target, steps, torch.tensor([3, 2, 1])), PATH)

    bag = nn.EmbeddingBag(5, 3, mode="max", padding_idx=1)
    mtc.export(bag, torch.tensor([[0, 1, 2], [1, 1, 1], [3, 3, 4]]), PATH)


@test
def convolutions_without_bias_have_none():
    """PyTorch's translation of Conv3d adds zeros of shape [channels, 2]."""
    for kind, shape in ((nn.Conv1d, (8,)), (nn.Conv2d, (6, 6)), (nn.Conv3d, (4, 6, 6))):
        for padding in (1, "same"):
            mtc.export(kind(3, 4, 3, padding=padding, bias=False), torch.randn(2, 3, *shape), PATH)
            assert [len(node.input) for node in nodes("Conv")] == [2], nodes("Conv")
