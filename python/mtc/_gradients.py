"""Checks that an exported graph stops gradients exactly where its module does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from mtc import _graph
from mtc._capture import PREFIXES, Call, flat_outputs
from mtc._stops import reentrant_checkpoints_inlined
from mtc._verify import is_close
from mtc.errors import ExportError


def checked(program: torch.export.ExportedProgram, module: nn.Module, call: Call) -> None:
    """Raises ExportError if the gradients of a graph differ from the module's.

    Args:
        program: The program that was translated, after the decomposition of operators.
        module: The module.
        call: The example inputs.
    """
    trained = {name: parameter for name, parameter in module.named_parameters() if parameter.requires_grad}
    copies = {name: parameter.detach().clone().requires_grad_() for name, parameter in trained.items()}
    try:
        found = _gradients_of(lambda args, kwargs: _Marked(program).outputs(copies, args, kwargs), [*copies.values()], call)
    except RuntimeError:
        return  # PyTorch has no derivative of an operator of the program.
    try:
        # The module runs after the program, since forward may update buffers that the program shares.
        with reentrant_checkpoints_inlined():
            expected = _gradients_of(
                lambda args, kwargs: [*flat_outputs(module(*args, **kwargs)).values()], [*trained.values()], call
            )
    except RuntimeError as error:
        raise ExportError(f"the backward pass of the module fails: {str(error).splitlines()[0]}") from None
    for name, wanted, actual in zip(trained, expected, found, strict=True):
        if not is_close(actual, wanted):
            raise ExportError(
                f"parameter '{name}': the gradient of the exported graph differs from the module's, because the graph lacks a stop of "
                "gradients, or has one too many. Pass verify=False to write the file anyway."
            )


def _gradients_of(function: Callable[..., list[Tensor]], tensors: list[Tensor], call: Call) -> list[Tensor]:
    """Returns the gradients of a weighted sum of a function's results."""
    args, kwargs = call.cloned()
    with torch.enable_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        values = [y for y in function(args, kwargs) if y.requires_grad]
        if not values:
            return [torch.zeros_like(tensor) for tensor in tensors]
        values = [_graph.real(y) for y in values]
        total = sum((y.double() * torch.linspace(0.5, 1.5, y.numel()).reshape(y.shape)).sum() for y in values)
        found = torch.autograd.grad(total, tensors, allow_unused=True)
    pairs = zip(tensors, found, strict=True)
    return [_graph.real(torch.zeros_like(tensor) if value is None else value) for tensor, value in pairs]


class _Marked(torch.fx.Interpreter):
    """Runs a traced program with the gradients of its ONNX file, where only ``mtc::stop`` stops gradients."""

    def __init__(self, program: torch.export.ExportedProgram) -> None:
        super().__init__(program.graph_module)
        self.program = program

    def outputs(self, parameters: Mapping[str, Tensor], args: tuple, kwargs: dict[str, Any]) -> list[Tensor]:
        """Returns the results of the module, computed with other tensors in place of its parameters."""
        signature = self.program.graph_signature
        inputs = self.program._graph_module_flat_inputs(args, kwargs)
        pairs = zip(signature.input_specs, inputs, strict=True)
        named = {prefix + name: value for prefix in PREFIXES for name, value in parameters.items()}
        results = self.run(*(named.get(spec.target, value) for spec, value in pairs))
        kinds = (spec.kind for spec in signature.output_specs)
        user = [y for kind, y in zip(kinds, results, strict=True) if kind == torch.export.graph_signature.OutputKind.USER_OUTPUT]
        return [y for y in user if isinstance(y, Tensor)]

    def call_function(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if target is torch.ops.aten.detach.default:
            return args[0]
        if target is torch.ops.mtc.stop.default:
            return args[0].detach()
        if target is torch.ops.aten.copy.default:  # has no derivative
            return args[1].to(args[0].dtype).expand_as(args[0])
        return super().call_function(target, args, kwargs)
