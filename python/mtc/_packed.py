"""Represents packed sequences by padded sequences with lengths while a module is traced.

The data of a PackedSequence has as many rows as the batch has valid steps, so that shapes depend on the lengths. Within :func:`padded`,
``pack_padded_sequence`` keeps the padded tensor and the lengths instead. Recurrent layers pass them to ONNX's RNN, GRU and LSTM, whose
``sequence_lens`` has the semantics of packing: the reverse direction begins at the last valid step, the final state is that
of the last valid step, and outputs of the padding are 0.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from onnxscript import opset18 as op
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.overrides import TorchFunctionMode

from mtc.errors import ExportError, ExportWarning

# For each kind of layer: ONNX's operator, the order of ONNX's gates in PyTorch's, and the attributes for each direction.
KINDS: dict[str, tuple[str, tuple[int, ...], dict[str, Any]]] = {
    "LSTM": ("LSTM", (0, 3, 1, 2), {}),
    "GRU": ("GRU", (1, 0, 2), {"linear_before_reset": 1}),
    "RNN_TANH": ("RNN", (0,), {"activations": ["Tanh"]}),
    "RNN_RELU": ("RNN", (0,), {"activations": ["Relu"]}),
}


@torch.library.custom_op("mtc::padded_recurrent", mutates_args=())
def padded_recurrent(
    kind: str,
    input: Tensor,
    lengths: Tensor,
    hx: list[Tensor],
    params: list[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    bidirectional: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """A recurrent layer of ``torch.nn`` on sequences of different lengths.

    Args:
        kind: The ``mode`` of ``torch.nn.RNNBase``.
        input: The padded sequences, [steps, batch, features].
        lengths: The numbers of valid steps, [batch], in any order.
        hx: The initial hidden state, [layers * directions, batch, hidden size], and for LSTM the initial cell state.
        params: The weights in PyTorch's order.
        has_biases: Whether each layer has biases.
        num_layers: The number of layers.
        dropout: The probability of dropout between layers; 0 in evaluation mode.
        bidirectional: Whether each layer has a reverse direction.

    Returns:
        The outputs, [steps, batch, directions * hidden size], which are 0 after the last valid step, the final hidden state and
        the final cell state. The last is the hidden state unless the kind is LSTM.
    """
    raise NotImplementedError("padded_recurrent is only traced")


@padded_recurrent.register_fake
def _(kind, input, lengths, hx, params, has_biases, num_layers, dropout, bidirectional):
    outputs = input.new_empty((input.shape[0], input.shape[1], hx[0].shape[2] * (2 if bidirectional else 1)))
    return outputs, torch.empty_like(hx[0]), torch.empty_like(hx[-1])


def translation(
    kind, input, lengths, hx, params, has_biases=True, num_layers=1, dropout=0.0, bidirectional=False
):  # fmt: skip
    """Applies ONNX's RNN, GRU or LSTM with ``sequence_lens`` once for each layer."""
    name, gates, attributes = KINDS[kind]
    operator = getattr(op, name)
    directions = 2 if bidirectional else 1
    attributes = {key: value * directions if isinstance(value, list) else value for key, value in attributes.items()}
    attributes |= {"direction": "bidirectional" if bidirectional else "forward", "hidden_size": hx[0].shape[2]}
    count = 4 if has_biases else 2
    lengths = op.Cast(lengths, to=6)

    def reordered(tensor):
        if len(gates) == 1:
            return tensor
        parts = op.Split(tensor, axis=0, num_outputs=len(gates))
        return op.Concat(*(parts[gate] for gate in gates), axis=0)

    def stacked(tensors):
        rows = [op.Unsqueeze(tensor, [0]) for tensor in tensors]
        return op.Concat(*rows, axis=0) if len(rows) > 1 else rows[0]

    finals: list[list[Any]] = [[] for _ in hx]
    for layer in range(num_layers):
        first = layer * directions
        groups = [params[(first + i) * count : (first + i + 1) * count] for i in range(directions)]
        weights = [stacked([reordered(group[i]) for group in groups]) for i in (0, 1)]
        biases = stacked([op.Concat(*map(reordered, group[2:]), axis=0) for group in groups]) if has_biases else None
        states = [op.Slice(state, [first], [first + directions], [0]) for state in hx]
        output, *last = operator(input, *weights, biases, lengths, *states, **attributes)
        for values, state in zip(finals, last, strict=True):
            values.append(state)
        # [steps, directions, batch, hidden] -> [steps, batch, directions * hidden]
        input = op.Reshape(op.Transpose(output, perm=[0, 2, 1, 3]), op.Constant(value_ints=[0, 0, -1]))
        if layer + 1 < num_layers and dropout:
            input, _ = op.Dropout(input, op.Constant(value_float=dropout), op.Constant(value_int=1))
    states = [op.Concat(*values, axis=0) if len(values) > 1 else values[0] for values in finals]
    return input, states[0], op.Identity(states[-1])


class _Steps(int):
    """The number of steps of packed sequences that ``pad_packed_sequence`` reads, which is not its argument ``total_length``."""


class _Packing(TorchFunctionMode):
    """Replaces the functions that implement ``pack_padded_sequence`` and ``pad_packed_sequence``.

    Raises:
        ExportError: If another function reads the data of a PackedSequence, because its layout differs from PyTorch's in the exported
            graph.
    """

    def __init__(self) -> None:
        super().__init__()
        self.packed: list[tuple[Tensor, Tensor]] = []  # data and lengths of each PackedSequence
        self.is_trusted = False

    def packed_of(self, value: Any) -> tuple[Tensor, Tensor] | None:
        return next((pair for pair in self.packed if value is pair[0] or value is pair[1]), None)

    @contextlib.contextmanager
    def trusted(self) -> Iterator[None]:
        """Allows all functions to read packed data."""
        self.is_trusted = True
        try:
            yield
        finally:
            self.is_trusted = False

    def pack(self, data: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Tensor, Tensor]:
        self.packed.append(((data.transpose(0, 1) if batch_first else data).clone(), lengths.clone()))
        return self.packed[-1]

    def pad(self, data: Tensor, lengths: Tensor, batch_first: bool, value: float, total: int) -> tuple[Tensor, Tensor]:
        steps = data.shape[0]
        if total <= 0 or isinstance(total, _Steps):
            warnings.warn(
                "pad_packed_sequence without total_length returns as many steps as the longest sequence of the batch; the "
                f"exported graph always returns {steps}. Pass total_length={steps}, so that the module does the same.",
                ExportWarning,
                stacklevel=2,
            )
        elif total < steps:
            data = data.narrow(0, 0, total)
        elif total > steps:
            data = torch.nn.functional.pad(data, [0, 0] * (data.dim() - 1) + [0, total - steps])
        valid = torch.arange(data.shape[0], device=data.device)[:, None] < lengths
        data = torch.where(valid.reshape(*valid.shape, *[1] * (data.dim() - 2)), data, value)
        return data.transpose(0, 1) if batch_first else data, lengths.clone()

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "_pack_padded_sequence":
            return self.pack(*args, **kwargs)
        if name == "_pad_packed_sequence":
            return self.pad(*args, **kwargs)
        found = None if self.is_trusted else next(filter(None, map(self.packed_of, (*args, *kwargs.values()))), None)
        if found and name == "size" and args[0] is found[1]:
            return _Steps(found[0].shape[0])  # the batch sizes of a PackedSequence are as many as its steps
        if found and name != "__get__":
            raise ExportError(
                f"forward applies {name} to the data of a PackedSequence, which ONNX cannot express. Apply it to the result "
                "of pad_packed_sequence."
            )
        return func(*args, **kwargs)


def _forward(packing: _Packing, original: Any) -> Any:
    """Returns ``forward`` of a recurrent layer that accepts padded sequences as PackedSequence."""

    def forward(self, input, hx=None):
        if not isinstance(input, PackedSequence):
            return original(self, input, hx)
        if getattr(self, "proj_size", 0):
            raise ExportError(
                f"{type(self).__name__} with proj_size={self.proj_size} on packed sequences cannot be exported. Pass the padded "
                "sequences, and read the last valid step of the outputs."
            )
        data, lengths, order, inverse = input
        with packing.trusted():
            count = (2 if self.bidirectional else 1) * self.num_layers
            if hx is None:
                zeros = data.new_zeros((count, data.shape[1], self.hidden_size))
                states = [zeros, zeros] if self.mode == "LSTM" else [zeros]
            else:
                states = list(hx) if self.mode == "LSTM" else [hx]
                states = states if order is None else [state.index_select(1, order) for state in states]
            dropout = self.dropout if self.training else 0.0
            output, hidden, cell = torch.ops.mtc.padded_recurrent(
                self.mode, data, lengths, states, self._flat_weights, self.bias, self.num_layers, dropout, self.bidirectional
            )
            if inverse is not None:
                hidden, cell = hidden.index_select(1, inverse), cell.index_select(1, inverse)
        packing.packed.append((output, lengths))
        return PackedSequence(output, lengths, order, inverse), (hidden, cell) if self.mode == "LSTM" else hidden

    return forward


@contextlib.contextmanager
def padded() -> Iterator[None]:
    """Traces packed sequences as padded sequences with lengths."""
    kinds = (nn.RNN, nn.GRU, nn.LSTM)
    originals = [kind.forward for kind in kinds]
    packing = _Packing()
    try:
        for kind, original in zip(kinds, originals, strict=True):
            kind.forward = _forward(packing, original)
        with packing:
            yield
    finally:
        for kind, original in zip(kinds, originals, strict=True):
            kind.forward = original
