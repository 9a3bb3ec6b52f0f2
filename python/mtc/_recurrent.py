"""LSTM with projections, which ONNX's LSTM lacks."""

from __future__ import annotations

import torch
from torch import Tensor

from mtc._rules import rule, static


def _has_projection(node: torch.fx.Node) -> bool:
    hidden, cell = (state.meta["val"] for state in node.args[1])
    return hidden.shape[-1] != cell.shape[-1]


@rule("lstm", when=_has_projection)
def lstm(
    input: Tensor, hx: list[Tensor], params: list[Tensor], has_biases: bool, num_layers: int, dropout: float, train: bool,
    bidirectional: bool, batch_first: bool,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Unrolls layers with ``proj_size``, whose hidden state h = W_hr (o tanh(c)) has fewer elements than the cell state c."""
    hidden, cell = hx
    if hidden.shape[-1] == cell.shape[-1]:
        return NotImplemented
    x = input.transpose(0, 1) if batch_first else input
    steps = static(x.shape[0], "LSTM with proj_size: the number of steps")
    count = 5 if has_biases else 3
    last_h, last_c = [], []
    for layer in range(num_layers):
        outputs = []
        for direction in range(bidirectional + 1):
            index = layer * (bidirectional + 1) + direction
            w_ih, w_hh, *biases, w_hr = params[index * count : (index + 1) * count]
            gates = torch.nn.functional.linear(x, w_ih, sum(biases) if biases else None)
            h, c, found = hidden[index], cell[index], {}
            for step in reversed(range(steps)) if direction else range(steps):
                i, f, g, o = (gates[step] + h @ w_hh.t()).chunk(4, -1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = (torch.sigmoid(o) * torch.tanh(c)) @ w_hr.t()
                found[step] = h
            last_h.append(h)
            last_c.append(c)
            outputs.append(torch.stack([found[step] for step in range(steps)]))
        x = torch.cat(outputs, -1) if bidirectional else outputs[0]
        if dropout and train and layer + 1 < num_layers:
            x = torch.dropout(x, dropout, True)
    return x.transpose(0, 1) if batch_first else x, torch.stack(last_h), torch.stack(last_c)
