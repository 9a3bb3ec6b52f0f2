"""Replaces the initializers of an exported graph by the module's tensors, with the module's names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import onnx
import torch
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper
from torch import Tensor

DOMAIN = "mtc"  # domain of the operators of _translations.py that become marks, before normalization
DETACHED = "mtc.detached"  # metadata of an Identity node without gradient
UPDATE = "mtc.update"  # metadata of an Identity node: the buffer of which the result is the new value
SETTING = "mtc.setting"  # metadata of an Identity node of a number: the flag of the program that sets it
SMALL = 4096  # maximum number of elements of an unused buffer whose value is stored in the facts
ELEMENT_TYPES = {
    torch.float32: TensorProto.FLOAT,
    torch.float64: TensorProto.DOUBLE,
    torch.float16: TensorProto.FLOAT16,
    torch.bfloat16: TensorProto.BFLOAT16,
    torch.int8: TensorProto.INT8,
    torch.int16: TensorProto.INT16,
    torch.int32: TensorProto.INT32,
    torch.int64: TensorProto.INT64,
    torch.uint8: TensorProto.UINT8,
    torch.bool: TensorProto.BOOL,
}


def normalize(
    model: ModelProto,
    canonical: Mapping[str, str],
    parameters: Mapping[str, Tensor],
    buffers: Mapping[str, Tensor],
    updated: Iterable[str],
) -> None:
    """Gives tensors the module's names, adds missing parameters, and removes unused nodes and initializers.

    Args:
        model: The exported model, changed in place.
        canonical: Maps each name of a parameter or buffer to the first name of the same tensor.
        parameters: Parameters by their first name. Each becomes exactly one initializer.
        buffers: Buffers by their first name. Unused buffers become initializers only if they are large.
        updated: Names of buffers that forward passes update; each becomes an initializer.
    """
    graph = model.graph
    _mark_identities(model)
    _enable_attention_dropout(graph)
    _rename_initializers(graph, canonical)
    _drop_zero_biases(graph)
    _remove_unused_nodes(graph)
    used = _used_names(graph)
    tensors = {**parameters, **buffers}
    kept = {
        name
        for name, tensor in tensors.items()
        if name in used or name in parameters or name in updated or (tensor.numel() > SMALL and tensor.dtype in ELEMENT_TYPES)
    }
    results = {name for node in all_nodes(graph) for name in node.output}
    rename_values(graph, {name: f"{name}.result" for name in kept & results})
    named = {canonical.get(tensor.name, tensor.name): tensor for tensor in graph.initializer}
    exported = {name: _copy(tensor) for name, tensor in named.items() if name not in parameters}
    for name, tensor in exported.items():
        tensor.name = name
    del graph.initializer[:]
    for name, tensor in tensors.items():
        if name in kept:
            converted = exported.get(name) if name in buffers else None
            is_same = converted is None or (tuple(converted.dims), converted.data_type) == _type(tensor)
            graph.initializer.append(initializer(name, tensor) if is_same else converted)
    graph.initializer.extend(tensor for name, tensor in exported.items() if name in used and name not in tensors)
    _forget(graph)


def initializer(name: str, tensor: Tensor) -> TensorProto:
    """Returns an initializer with the tensor's bytes; without data if it has none. Complex numbers are stored as pairs of real numbers."""
    tensor = real(tensor.detach())
    if tensor.is_meta:
        external = TensorProto.EXTERNAL
        return TensorProto(name=name, dims=tensor.shape, data_type=ELEMENT_TYPES[tensor.dtype], data_location=external)
    tensor = tensor.cpu().contiguous()
    proto = TensorProto(name=name, dims=tensor.shape, data_type=ELEMENT_TYPES[tensor.dtype])
    proto.raw_data = tensor.flatten().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
    return proto


def has_bytes(proto: TensorProto, tensor: Tensor) -> bool:
    """Returns whether an initializer has a tensor's shape, type and bytes."""
    if (tuple(proto.dims), proto.data_type) != _type(tensor):
        return False
    if tensor.is_meta:
        return is_absent(proto)
    tensor = real(tensor.detach()).cpu().contiguous()
    return not tensor.numel() or np.array_equal(np.frombuffer(proto.raw_data, np.uint8), tensor.flatten().view(torch.uint8).numpy())


def is_absent(proto: TensorProto) -> bool:
    """Returns whether an initializer has no data in memory."""
    return proto.data_location == TensorProto.EXTERNAL


def size(proto: TensorProto) -> int:
    """Returns the size of an initializer in bytes, without copying its data."""
    return math.prod(proto.dims) * helper.tensor_dtype_to_np_dtype(proto.data_type).itemsize


def real(tensor: Tensor) -> Tensor:
    """Returns a complex tensor as a real one whose last axis has the two parts, and any other tensor unchanged."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _copy(tensor: TensorProto) -> TensorProto:
    copy = TensorProto()
    copy.CopyFrom(tensor)
    return copy


def _type(tensor: Tensor) -> tuple[tuple[int, ...], int | None]:
    tensor = real(tensor.detach())
    return tuple(tensor.shape), ELEMENT_TYPES.get(tensor.dtype)


def _rename_initializers(graph: GraphProto, canonical: Mapping[str, str]) -> None:
    """Replaces each name of a tensor by its first name."""
    new_names = {name: first for name, first in canonical.items() if name != first}
    for node in all_nodes(graph):
        for index, name in enumerate(node.input):
            if name in new_names:
                node.input[index] = new_names[name]
    for output in graph.output:
        if output.name in new_names:
            graph.node.append(helper.make_node("Identity", [new_names[output.name]], [output.name]))


def _mark_identities(model: ModelProto) -> None:
    """Replaces operators of the domain ``mtc`` by Identity nodes with metadata, which every runtime runs."""
    for node in all_nodes(model.graph):
        if node.domain != DOMAIN:
            continue
        entry = node.metadata_props.add()
        if node.op_type == "Stop":
            entry.key, entry.value = DETACHED, "true"
        else:
            entry.key = {"Update": UPDATE, "Setting": SETTING}[node.op_type]
            entry.value = helper.get_attribute_value(node.attribute[0]).decode()
        node.op_type, node.domain = "Identity", ""
        del node.attribute[:]
    kept = [entry for entry in model.opset_import if entry.domain != DOMAIN]
    del model.opset_import[:]
    model.opset_import.extend(kept)


def stops(graph: GraphProto) -> int:
    """Returns the number of nodes that stop gradients."""
    return sum(any(entry.key == DETACHED for entry in node.metadata_props) for node in all_nodes(graph))


def remove_updates(graph: GraphProto) -> None:
    """Removes the metadata of the Identity nodes that compute new values of buffers."""
    for node in all_nodes(graph):
        kept = [entry for entry in node.metadata_props if entry.key != UPDATE]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)


def _enable_attention_dropout(graph: GraphProto) -> None:
    """Sets ``training_mode`` of Dropout. PyTorch's translation of attention omits this input, whose default is inference."""
    flag = "mtc.training_mode"
    found = [node for node in all_nodes(graph) if node.op_type == "Dropout" and len(node.input) == 2]
    for node in found:
        node.input.append(flag)
    if found:
        value = helper.make_tensor(flag, TensorProto.BOOL, [], [True])
        graph.node.insert(0, helper.make_node("Constant", [], [flag], value=value))


def _drop_zero_biases(graph: GraphProto) -> None:
    """Removes the zero biases that PyTorch adds to convolutions without bias; those of Conv3d have a second axis."""
    producers = {name: node for node in graph.node for name in node.output}

    def is_zero(name: str) -> bool:
        node = producers.get(name)
        if node is None or node.op_type not in ("Constant", "Expand", "CastLike", "Cast", "Identity"):
            return False
        if node.op_type != "Constant":
            return is_zero(node.input[0])
        value = helper.get_attribute_value(node.attribute[0])
        return not numpy_helper.to_array(value).any() if isinstance(value, TensorProto) else value == 0.0

    for node in all_nodes(graph):
        if node.op_type == "Conv" and len(node.input) == 3 and is_zero(node.input[2]):
            del node.input[2]


def _remove_unused_nodes(graph: GraphProto) -> None:
    needed = {output.name for output in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed.isdisjoint(node.output):
            continue
        kept.append(node)
        needed.update(node.input)
        for inner in _inner_nodes(node):
            needed.update(inner.input)
    del graph.node[:]
    graph.node.extend(reversed(kept))


def _used_names(graph: GraphProto) -> set[str]:
    names = {output.name for output in graph.output}
    for node in all_nodes(graph):
        names.update(node.input)
    return names


def _forget(graph: GraphProto) -> None:
    """Removes stack traces, and the declared types of intermediate values, which are wrong for some operators of PyTorch.

    The compiler infers the types. Stack traces contain file names of the exporting machine.
    """
    initializers = {tensor.name for tensor in graph.initializer}
    kept_types = [value for value in graph.value_info if value.name in initializers]
    del graph.value_info[:]
    graph.value_info.extend(kept_types)
    for node in all_nodes(graph):
        kept = [entry for entry in node.metadata_props if entry.key != "pkg.torch.onnx.stack_trace"]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)


def all_nodes(graph: GraphProto) -> Iterator[NodeProto]:
    """Yields the nodes of a graph and of its subgraphs."""
    for node in graph.node:
        yield node
        yield from _inner_nodes(node)


def _inner_nodes(node: NodeProto) -> Iterator[NodeProto]:
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            yield from all_nodes(graph)


def rename_values(graph: GraphProto, names: Mapping[str, str]) -> None:
    """Renames graph inputs and outputs, and their uses.

    If another value already has a new name, that value gets a suffix.
    """
    taken = {name for node in all_nodes(graph) for name in (*node.input, *node.output)}
    renamed = dict(names)
    for new in names.values():
        if new in taken and new not in names:
            renamed[new] = f"{new}.value"
    for node in all_nodes(graph):
        for values in (node.input, node.output):
            for index, name in enumerate(values):
                if name in renamed:
                    values[index] = renamed[name]
    for value in (*graph.input, *graph.output, *graph.value_info):
        value.name = renamed.get(value.name, value.name)
    for tensor in graph.initializer:
        tensor.name = renamed.get(tensor.name, tensor.name)


def declare_ranks(graph: GraphProto, shapes: Sequence[Sequence[int]], batch: int | None) -> None:
    """Corrects declared shapes of outputs whose rank differs from the module's.

    Args:
        graph: The graph, changed in place.
        shapes: The shapes of the module's outputs for the example inputs.
        batch: The batch size of the example inputs; None if the batch size is fixed.
    """
    for output, shape in zip(graph.output, shapes, strict=True):
        declared = output.type.tensor_type.shape
        if len(declared.dim) == len(shape) and output.type.tensor_type.HasField("shape"):
            continue
        del declared.dim[:]
        declared.SetInParent()
        for index, size in enumerate(shape):
            dimension = declared.dim.add()
            if index == 0 and size == batch:
                dimension.dim_param = "batch"
            else:
                dimension.dim_value = size


def names(values: Iterable[onnx.ValueInfoProto]) -> list[str]:
    """Returns the names of graph inputs or outputs."""
    return [value.name for value in values]
