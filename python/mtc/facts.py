"""Facts of a module that an ONNX graph cannot represent, stored as JSON in the model's metadata.

The metadata entry :data:`KEY` of an ONNX file is one JSON object with the fields of :class:`ModuleFacts`:

===============  ======================================================================================================
``format``       The version of this format, 1.
``parameters``   The module's parameters, in the order of ``Module.named_parameters()``; see :class:`Parameter`.
``buffers``      The module's buffers; see :class:`Buffer`.
``padding_idx``  Maps weights of embeddings with a ``padding_idx`` to the row that lookups do not train. Other uses of the
                 weight, such as a tied output layer, do train this row.
``mode``         ``"train"`` or ``"eval"``: the mode of the exported module.
``inference``    Maps values of the graph, which compute the training mode, to the values that replace them in evaluation mode.
                 Values that are not listed differ only by the inference form of Dropout and BatchNormalization. Missing if
                 the evaluation mode is unknown.
``stops``        The number of nodes that stop gradients.
===============  ======================================================================================================

This module requires ``onnx``, but not PyTorch.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import onnx

from mtc.errors import FactsError

KEY = "mtc.module"
FORMAT = 1
MODES = ("train", "eval")
NOT_FINITE = ("inf", "-inf", "nan")

Number = float | int | bool


class Part(NamedTuple):
    """A strided part of a tensor of the module in another tensor.

    For all indices i within ``extents``, element ``variable`` + the sum of i[a] * ``variable_strides``[a] of the module's tensor is element
    ``image`` + the sum of i[a] * ``image_strides``[a] of the other one, in row-major order.
    """

    variable: int
    image: int
    extents: tuple[int, ...]
    variable_strides: tuple[int, ...]
    image_strides: tuple[int, ...]


@dataclass(frozen=True)
class PretrainedTensor:
    """A tensor in the files of ``save_pretrained`` of transformers that has elements of a tensor of the module.

    Attributes:
        name: The name in the files.
        shape: The shape in the files.
        parts: The elements of the module's tensor; empty if they are all of its elements, in order.
    """

    name: str
    shape: tuple[int, ...]
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Parameter:
    """A parameter of the module, which is one initializer of the graph.

    Attributes:
        name: The first name of the tensor in the module, and the name of its initializer.
        names: All names of the tensor in the module's ``state_dict``; several for a tied weight.
        shape: The shape in the module and in the graph.
        dtype: The element type, such as ``"float32"``.
        requires_grad: Whether the module trains it.
        module: The class of the submodule that owns ``name``, such as ``"torch.nn.Linear"``.
        pretrained: The tensors of ``save_pretrained`` that have the elements, in groups that each have all of them; empty if they are those of the
            module.
    """

    name: str
    names: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    module: str
    pretrained: tuple[PretrainedTensor, ...] = ()


@dataclass(frozen=True)
class Buffer:
    """A buffer of the module.

    Attributes:
        name: The name in the module and, if the graph has an initializer for the buffer, of the initializer.
        shape: The shape in the module.
        dtype: The element type, such as ``"int64"``.
        persistent: Whether the module's ``state_dict`` contains it.
        value: The elements in row-major order; None if the graph has an initializer for the buffer. Non-finite numbers are
            the strings ``"inf"``, ``"-inf"`` and ``"nan"`` in JSON.
        update: The graph's output with the value after a forward pass; None if forward passes do not change the buffer, and for
            running statistics of batch norms.
        pretrained: As for a parameter.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    persistent: bool
    value: tuple[Number, ...] | None = None
    update: str | None = None
    pretrained: tuple[PretrainedTensor, ...] = ()


@dataclass(frozen=True)
class ModuleFacts:
    """The facts of a module."""

    parameters: tuple[Parameter, ...]
    buffers: tuple[Buffer, ...] = ()
    padding_idx: dict[str, int] = field(default_factory=dict)
    mode: Literal["train", "eval"] = "train"
    inference: dict[str, str] | None = None
    stops: int = 0

    def to_json(self) -> str:
        """Returns the facts as JSON, in the format of the metadata."""
        inference = {} if self.inference is None else {"inference": self.inference}
        return json.dumps(
            {
                "format": FORMAT,
                "parameters": [_parameter_entry(parameter) for parameter in self.parameters],
                "buffers": [_buffer_entry(buffer) for buffer in self.buffers],
                "padding_idx": self.padding_idx,
                "mode": self.mode,
                **inference,
                "stops": self.stops,
            },
            separators=(",", ":"),
            allow_nan=False,
        )

    @staticmethod
    def from_json(text: str) -> ModuleFacts:
        """Parses the facts from JSON.

        Raises:
            FactsError: If ``text`` is not JSON of this format; the message names the entry.
        """
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise FactsError(f"metadata '{KEY}': not JSON: {error}") from None
        if not isinstance(content, dict):
            raise FactsError(f"metadata '{KEY}': expected an object, got {_kind(content)}")
        if content.get("format") != FORMAT:
            raise FactsError(
                f"metadata '{KEY}': unknown format {content.get('format')!r}; expected {FORMAT}. "
                "Export the module again with this version of the package."
            )
        mode = _entry(content, "mode", str, KEY)
        if mode not in MODES:
            raise FactsError(f"metadata '{KEY}': invalid mode {mode!r}; expected one of: {', '.join(MODES)}")
        padding = _entry(content, "padding_idx", dict, KEY)
        for name, row in padding.items():
            if type(row) is not int:
                raise FactsError(f"metadata '{KEY}': padding_idx of '{name}': expected an integer, got {row!r}")
        inference = _entry(content, "inference", dict, KEY) if "inference" in content else None
        return ModuleFacts(
            parameters=tuple(_parameter(item) for item in _entry(content, "parameters", list, KEY)),
            buffers=tuple(_buffer(item) for item in _entry(content, "buffers", list, KEY)),
            padding_idx=padding,
            mode=mode,
            inference=inference,
            stops=_entry(content, "stops", int, KEY) if "stops" in content else 0,
        )


def read(model: onnx.ModelProto | str | os.PathLike[str]) -> ModuleFacts:
    """Returns the facts of a model, or of an ONNX file. Does not read external data.

    Raises:
        FactsError: If the model has no or several entries, or if they are malformed.
    """
    if not isinstance(model, onnx.ModelProto):
        model = onnx.load(os.fspath(model), load_external_data=False)
    found = [entry.value for entry in model.metadata_props if entry.key == KEY]
    if len(found) != 1:
        raise FactsError(
            f"the model has {len(found)} metadata entries '{KEY}'; expected one. Export the module with mtc.export."
        )
    return ModuleFacts.from_json(found[0])


def write(model: onnx.ModelProto, facts: ModuleFacts) -> None:
    """Stores the facts in a model's metadata and replaces existing facts.

    Raises:
        FactsError: If a parameter is not an initializer of the graph, or differs from it in shape or element type.
    """
    initializers = {tensor.name: tensor for tensor in model.graph.initializer}
    for parameter in facts.parameters:
        tensor = initializers.get(parameter.name)
        if tensor is None:
            raise FactsError(f"parameter '{parameter.name}': the graph has no initializer of this name")
        if tuple(tensor.dims) != tuple(parameter.shape):
            raise FactsError(
                f"parameter '{parameter.name}': the module's shape is {list(parameter.shape)}, "
                f"the initializer's {list(tensor.dims)}"
            )
        if element_type(tensor.data_type) != parameter.dtype:
            raise FactsError(
                f"parameter '{parameter.name}': the module's element type is {parameter.dtype}, "
                f"the initializer's {element_type(tensor.data_type)}"
            )
    kept = [entry for entry in model.metadata_props if entry.key != KEY]
    del model.metadata_props[:]
    model.metadata_props.extend(kept)
    entry = model.metadata_props.add()
    entry.key, entry.value = KEY, facts.to_json()


def element_type(data_type: int) -> str:
    """Returns PyTorch's name of an ONNX element type, such as ``"float32"`` for ``TensorProto.FLOAT``."""
    name = onnx.TensorProto.DataType.Name(data_type).lower()
    return {"float": "float32", "double": "float64"}.get(name, name)


def _parameter(item: Any) -> Parameter:
    return Parameter(
        name=_entry(item, "name", str, "parameters"),
        names=tuple(_entry(item, "names", list, "parameters")),
        shape=tuple(_entry(item, "shape", list, "parameters")),
        dtype=_entry(item, "dtype", str, "parameters"),
        requires_grad=_entry(item, "requires_grad", bool, "parameters"),
        module=_entry(item, "module", str, "parameters"),
        pretrained=_pretrained(item, "parameters"),
    )


def _buffer(item: Any) -> Buffer:
    return Buffer(
        name=_entry(item, "name", str, "buffers"),
        shape=tuple(_entry(item, "shape", list, "buffers")),
        dtype=_entry(item, "dtype", str, "buffers"),
        persistent=_entry(item, "persistent", bool, "buffers"),
        value=tuple(map(_number, _entry(item, "value", list, "buffers"))) if "value" in item else None,
        update=_entry(item, "update", str, "buffers") if "update" in item else None,
        pretrained=_pretrained(item, "buffers"),
    )


def _pretrained(item: Any, where: str) -> tuple[PretrainedTensor, ...]:
    found = _entry(item, "pretrained", list, where) if "pretrained" in item else []
    return tuple(
        PretrainedTensor(
            name=_entry(each, "name", str, f"{where}: pretrained"),
            shape=tuple(_entry(each, "shape", list, f"{where}: pretrained")),
            parts=tuple(map(_part, _entry(each, "parts", list, f"{where}: pretrained") if "parts" in each else [])),
        )
        for each in found
    )


def _part(fields: Any) -> Part:
    is_part = isinstance(fields, list) and [*map(type, fields)] == [int, int, list, list, list]
    if not is_part or any(type(number) is not int for numbers in fields[2:] for number in numbers):
        raise FactsError(f"metadata '{KEY}': pretrained: 'parts': expected two integers and three lists of integers, got {fields!r}")
    return Part(fields[0], fields[1], *map(tuple, fields[2:]))


def _pretrained_entry(tensors: tuple[PretrainedTensor, ...]) -> dict[str, Any]:
    if not tensors:
        return {}
    return {"pretrained": [{"name": each.name, "shape": each.shape, **({"parts": each.parts} if each.parts else {})} for each in tensors]}


def _parameter_entry(parameter: Parameter) -> dict[str, Any]:
    entry = vars(parameter).copy()
    del entry["pretrained"]
    return {**entry, **_pretrained_entry(parameter.pretrained)}


def _buffer_entry(buffer: Buffer) -> dict[str, Any]:
    entry = vars(buffer).copy()
    if buffer.value is None:
        del entry["value"]
    else:
        entry["value"] = [str(x) if isinstance(x, float) and not math.isfinite(x) else x for x in buffer.value]
    if buffer.update is None:
        del entry["update"]
    del entry["pretrained"]
    return {**entry, **_pretrained_entry(buffer.pretrained)}


def _number(value: Any) -> Number:
    if isinstance(value, bool | int | float):
        return value
    if value in NOT_FINITE:
        return float(value)
    raise FactsError(f"metadata '{KEY}': buffers: 'value': expected numbers, got {value!r}")


def _entry(item: Any, key: str, kind: type, where: str) -> Any:
    """Returns ``item[key]``, which must be of type ``kind``."""
    if not isinstance(item, dict):
        raise FactsError(f"metadata '{KEY}': {where}: expected an object, got {_kind(item)}")
    if key not in item:
        raise FactsError(f"metadata '{KEY}': {where}: missing entry '{key}'")
    if not isinstance(item[key], kind):
        raise FactsError(f"metadata '{KEY}': {where}: '{key}': expected {kind.__name__}, got {_kind(item[key])}")
    return item[key]


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__
