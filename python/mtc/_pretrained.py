"""The tensors in which ``save_pretrained`` of transformers stores a module, if they are not those of the module.

transformers saves some models under older names, and splits or joins some tensors: a file has a matrix for each expert where the module has
one tensor for all. The conversion is run on tensors without memory. A view has the storage of its parameter, so that offset and strides show
its elements. Copies, such as concatenations, have storages of their own, for which the elements are recorded.
"""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from mtc.errors import ExportWarning
from mtc.facts import Part, PretrainedTensor

aten = torch.ops.aten


class _Unknown(Exception):
    """Elements that are no strided part of a parameter."""


@dataclass(frozen=True)
class _Axis:
    extent: int
    source: int  # stride in the parameter
    target: int  # stride in the storage or tensor


@dataclass(frozen=True)
class _Piece:
    """A strided part of a parameter, and its position in a storage or tensor."""

    owner: str
    source: int
    target: int
    axes: tuple[_Axis, ...]

    def count(self) -> int:
        return math.prod(axis.extent for axis in self.axes)


class _Recorder(TorchDispatchMode):
    """Records the elements of storages that operations create."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: dict[int, list[_Piece] | None] = {}  # None: unknown
        self.alive: list[Tensor] = []  # Addresses of storages are not used again.

    def parameter(self, name: str, like: Tensor) -> Tensor:
        made = torch.empty(like.shape, dtype=like.dtype, device="meta")
        axes = tuple(_Axis(extent, stride, stride) for extent, stride in zip(made.shape, made.stride(), strict=True))
        self._add(made, [_Piece(name, 0, 0, axes)])
        return made

    def of(self, tensor: Tensor) -> list[_Piece]:
        """Returns the pieces of a tensor, with their positions in its row-major order."""
        pieces = self.pieces.get(_key(tensor))
        if pieces is None:
            raise _Unknown
        axes = [_Axis(*each) for each in zip(tensor.shape, tensor.stride(), _row_major(tensor.shape), strict=True)]
        found = [_moved(piece, axes, tensor.storage_offset(), 0) for piece in pieces]
        kept = [piece for piece in found if piece]
        if sum(piece.count() for piece in kept) != tensor.numel():
            raise _Unknown
        return kept

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for made in pytree.tree_leaves(result):
            if isinstance(made, Tensor) and _key(made) not in self.pieces:
                try:
                    self._add(made, [piece for source, slot in _copies(func, args, made) for piece in self._placed(source, slot)])
                except _Unknown:
                    self._add(made, None)
        return result

    def _add(self, tensor: Tensor, pieces: list[_Piece] | None) -> None:
        self.pieces[_key(tensor)] = pieces
        self.alive.append(tensor)

    def _placed(self, source: Tensor, slot: Tensor) -> list[_Piece]:
        """Returns the pieces of a tensor that is copied into a slot of another storage."""
        axes = [_Axis(*each) for each in zip(source.shape, _row_major(source.shape), slot.stride(), strict=True)]
        moved = [_moved(piece, axes, 0, slot.storage_offset()) for piece in self.of(source)]
        return [piece for piece in moved if piece]


def _key(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata


def _row_major(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _copies(func: Any, args: tuple, made: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Returns the tensors that an operation copies, each with its slot in the result."""
    if func is aten.cat.default:
        dim, start = (args[1] if len(args) > 1 else 0), 0
        for each in args[0]:
            yield each, made.narrow(dim, start, each.shape[dim])
            start += each.shape[dim]
    elif func is aten.stack.default:
        for index, each in enumerate(args[0]):
            yield each, made.select(args[1] if len(args) > 1 else 0, index)
    elif func in (aten.clone.default, aten._to_copy.default):
        yield args[0], made
    else:
        raise _Unknown


def _moved(piece: _Piece, axes: list[_Axis], start: int, target: int) -> _Piece | None:
    """Maps the positions of a piece: index i of ``axes`` is at ``start + i * source`` before, and at ``target + i * target`` after.

    Returns the part of the piece that the axes contain; None if they contain none of it.

    Raises:
        _Unknown: If the part is not strided.
    """
    axes = sorted((axis for axis in axes if axis.extent > 1), key=lambda axis: axis.source, reverse=True)
    if any(axis.source < 1 for axis in axes):
        raise _Unknown
    inner = [part for axis in piece.axes for part in _split(axis, axes)]
    moved = replace(piece, target=target, axes=())
    own_rest, start_rest = piece.target, start
    for axis in axes:
        own_digit, own_rest = divmod(own_rest, axis.source)
        start_digit, start_rest = divmod(start_rest, axis.source)
        digit = own_digit - start_digit
        own = [part for part in inner if part.target >= axis.source]
        inner = [part for part in inner if part.target < axis.source]
        steps = [_Axis(part.extent, part.source, part.target // axis.source) for part in own]
        if any(part.target % axis.source for part in own):
            raise _Unknown
        clipped = _clipped(steps, digit, axis.extent)
        if clipped is None:
            return None
        source, digit, steps = clipped
        moved = _Piece(
            moved.owner,
            moved.source + source,
            moved.target + digit * axis.target,
            (*moved.axes, *(_Axis(step.extent, step.source, step.target * axis.target) for step in steps)),
        )
    clipped = _clipped(inner, own_rest - start_rest, 1)  # Axes that the view lacks have one index there.
    return clipped and replace(moved, source=moved.source + clipped[0])


def _split(axis: _Axis, others: list[_Axis]) -> Iterator[_Axis]:
    """Splits an axis where others begin."""
    if axis.extent == 1:
        return
    ends = sorted({other.source for other in others if axis.target < other.source < axis.target * axis.extent})
    step = 1
    for end in [*(end / axis.target for end in ends), axis.extent]:
        if end % step:
            raise _Unknown
        yield _Axis(int(end // step), axis.source * step, axis.target * step)
        step = int(end)


def _clipped(steps: list[_Axis], first: int, count: int) -> tuple[int, int, list[_Axis]] | None:
    """Restricts axes to the indices whose sum with ``first`` is in ``range(count)``.

    Returns the offset in the parameter, the new first sum and the restricted axes; None if nothing is left.
    """
    source, kept = 0, []
    steps = sorted(steps, key=lambda step: step.target, reverse=True)
    for position, step in enumerate(steps):
        span = sum((inner.extent - 1) * inner.target for inner in steps[position + 1 :])
        begin = max(0, -((first + span) // step.target))
        end = min(step.extent, (count - 1 - first) // step.target + 1)
        if begin >= end:
            return None
        if end - begin > 1 and (first + begin * step.target < 0 or first + (end - 1) * step.target + span >= count):
            raise _Unknown
        source += begin * step.source
        first += begin * step.target
        if end - begin > 1:
            kept.append(replace(step, extent=end - begin))
    return (source, first, kept) if 0 <= first < count else None


def _part(piece: _Piece) -> Part:
    """Joins adjacent axes."""
    axes: list[_Axis] = []
    for axis in sorted(piece.axes, key=lambda axis: axis.target, reverse=True):
        if axes and axes[-1].source == axis.extent * axis.source and axes[-1].target == axis.extent * axis.target:
            axes[-1] = replace(axis, extent=axes[-1].extent * axis.extent)
        else:
            axes.append(axis)
    axes = axes or [_Axis(1, 1, 1)]
    extents, sources, targets = (tuple(getattr(axis, field) for axis in axes) for field in ("extent", "source", "target"))
    return Part(piece.source, piece.target, extents, sources, targets)


def _converted(model: nn.Module, prefix: str) -> dict[str, list[PretrainedTensor]]:
    """Returns the tensors of ``save_pretrained`` by the names of the ``state_dict`` whose elements they have."""
    from transformers.core_model_loading import revert_weight_conversion  # noqa: PLC0415

    recorder, state = _Recorder(), {}
    found: dict[str, list[PretrainedTensor]] = {}
    unknown = []
    for name, tensor in model.state_dict().items():
        if isinstance(tensor, Tensor):
            state[name] = recorder.parameter(prefix + name, tensor)
    with recorder:
        stored = revert_weight_conversion(model, dict(state))
    for name, tensor in stored.items():
        try:
            pieces = recorder.of(tensor)
        except _Unknown:
            unknown.append(name)
            continue
        for owner, own in itertools.groupby(sorted(pieces, key=lambda piece: piece.owner), key=lambda piece: piece.owner):
            parts = tuple(_part(piece) for piece in own)
            size = state[owner.removeprefix(prefix)].numel()
            is_whole = parts == (Part(0, 0, (size,), (1,), (1,)),)
            found.setdefault(owner, []).append(PretrainedTensor(prefix + name, tuple(tensor.shape), () if is_whole else parts))
    if unknown:
        warnings.warn(
            f"save_pretrained changes the values of {', '.join(unknown[:3])}{' and others' if len(unknown) > 3 else ''}: mtc reads and "
            "writes these tensors as those of the module only. Pass a file of save_file(module.state_dict()) to --weights.",
            ExportWarning,
            stacklevel=2,
        )
    return found


def _is_complete(tensors: list[PretrainedTensor], count: int) -> bool:
    """Returns whether tensors have each of ``count`` elements once."""
    held = [sum(math.prod(part.extents) for part in each.parts) if each.parts else math.prod(each.shape) for each in tensors]
    return sum(held) == count


def tensors(module: nn.Module, aliases: dict[str, list[str]]) -> dict[str, tuple[PretrainedTensor, ...]]:
    """Returns the tensors of ``save_pretrained`` that hold parameters and buffers, by canonical name, if they differ from the module's.

    Args:
        module: A model of transformers, or a module that contains some.
        aliases: All names of each parameter and buffer, by canonical name.
    """
    found: dict[str, list[PretrainedTensor]] = {}
    last: set[str] = set()  # names of tied tensors that save_pretrained omits
    sizes: dict[str, int] = {}
    for prefix, model in _models(module):
        found |= _converted(model, prefix)
        last |= {prefix + name for name in getattr(model, "all_tied_weights_keys", None) or {}}
        sizes |= {prefix + name: tensor.numel() for name, tensor in model.state_dict().items() if isinstance(tensor, Tensor)}
    named = {alias: name for name, all_names in aliases.items() for alias in all_names}
    result: dict[str, tuple[PretrainedTensor, ...]] = {}
    for name, all_names in aliases.items():
        groups = [(alias, found[alias]) for alias in sorted(all_names, key=lambda alias: alias in last) if alias in found]
        is_same = all(len(group) == 1 and group[0].name == alias and not group[0].parts for alias, group in groups)
        if groups and not is_same and all(_is_complete(group, sizes[alias]) for alias, group in groups):
            result[name] = tuple(tensor for _, group in groups for tensor in group)
    taken = {tensor.name for name, group in result.items() for tensor in group if named.get(tensor.name, name) != name}
    if taken:
        warnings.warn(
            f"save_pretrained stores other tensors under the names of {', '.join(sorted(taken)[:3])}: pass a file of "
            "save_file(module.state_dict()) to --weights.",
            ExportWarning,
            stacklevel=2,
        )
        return {}
    return result


def _models(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """Returns the outermost models of transformers in a module that it converts when it saves them, with their prefixes."""
    # A module has such a model only if transformers was imported.
    modeling, loading = (sys.modules.get(f"transformers.{name}") for name in ("modeling_utils", "core_model_loading"))
    if not hasattr(loading, "revert_weight_conversion"):  # older versions save all models as they are
        return []
    models: list[tuple[str, nn.Module]] = []
    for path, each in module.named_modules():
        prefix = f"{path}." if path else ""
        if isinstance(each, modeling.PreTrainedModel) and not any(prefix.startswith(outer) for outer, _ in models):
            models.append((prefix, each))
    return models
