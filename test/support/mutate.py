"""Generates almost valid models from a seed: small valid models, each with one fault of a known kind.

    mutate.py FOLDER [COUNT] [SEED]     # writes COUNT (200) models, FOLDER/000-fault.onnx and so on

The valid models are ONNX's own backend tests of operators, and the examples in this folder. onnx's checker decides which mutated models are
still valid, because some faults are harmless.
"""

import copy
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import merged
import onnx
from onnx import AttributeProto, GraphProto, ModelProto, TensorProto, helper, numpy_helper

TESTS = Path(onnx.__file__).parent / "backend/test/data/node"
MOST_BYTES = 20_000
OPSETS = range(7, 27)
VALUES = {TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BOOL, TensorProto.INT64,
          TensorProto.INT32, TensorProto.INT8, TensorProto.UINT8}  # fmt: skip


class Inapplicable(Exception):
    """The fault cannot be applied to the model."""


# --- The valid models -------------------------------------------------------------------------------------------------


def read_backend_test(name: str) -> ModelProto | None:
    """Returns the test's model, with integer inputs as initializers, since a compiler may need them; None if it is unsuitable."""
    path = TESTS / name / "model.onnx"
    model = onnx.load(path, load_external_data=False)
    values = [*model.graph.input, *model.graph.output]
    if path.stat().st_size > MOST_BYTES or model.functions or any(
        entry.domain or entry.version not in OPSETS for entry in model.opset_import
    ):
        return None
    if not all(v.type.HasField("tensor_type") and v.type.tensor_type.elem_type in VALUES for v in values):
        return None
    if any(a.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for n in model.graph.node for a in n.attribute):
        return None
    integers = []
    for i, value in enumerate(model.graph.input):
        if value.type.tensor_type.elem_type in (TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL):
            tensor = TensorProto.FromString((TESTS / name / f"test_data_set_0/input_{i}.pb").read_bytes())
            tensor.name = value.name
            integers.append(tensor)
    if len(integers) < len(model.graph.input):
        model.graph.initializer.extend(integers)
        kept = [value for value in model.graph.input if value.name not in {t.name for t in integers}]
        del model.graph.input[:]
        model.graph.input.extend(kept)
    model.ir_version = 10
    return model


def layered_model() -> ModelProto:
    """A model of two linear layers, a norm and a softmax, with declared types of all values, and computed shapes."""
    def tensor(name, *shape):
        return helper.make_tensor(name, TensorProto.FLOAT, shape, [0.1] * int(numpy_helper.np.prod(shape)))

    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], "fc1", transB=1, alpha=1.0),
        helper.make_node("LayerNormalization", ["h", "s", "t"], ["n"], "norm", axis=-1, epsilon=1e-5),
        helper.make_node("Gelu", ["n"], ["g"], "act", approximate="tanh"),
        helper.make_node("Shape", ["g"], ["shape"], "shape"),
        helper.make_node("Constant", [], ["heads"], "heads", value=helper.make_tensor("", TensorProto.INT64, [3], [0, 2, -1])),
        helper.make_node("Reshape", ["g", "heads"], ["r"], "split"),
        helper.make_node("Transpose", ["r"], ["p"], "swap", perm=[0, 2, 1]),
        helper.make_node("ReduceSum", ["p", "axes"], ["q"], "sum", keepdims=0),
        helper.make_node("MatMul", ["q", "w2"], ["m"], "fc2"),
        helper.make_node("Concat", ["m", "m"], ["c"], "both", axis=1),
        helper.make_node("Softmax", ["c"], ["y"], "classes", axis=1),
        helper.make_node("Reshape", ["y", "shape"], ["z"], "back"),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes, "layered", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 8]), helper.make_tensor_value_info("z", TensorProto.FLOAT, [4, 8])],
        [tensor("w1", 8, 6), tensor("b1", 8), tensor("s", 8), tensor("t", 8), tensor("w2", 4, 4),
         helper.make_tensor("axes", TensorProto.INT64, [1], [2])],
    )  # fmt: skip
    return onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9))


def valid_models() -> Iterator[tuple[str, ModelProto]]:
    """Returns all valid models by name, those with several nodes first."""
    yield "layered", layered_model()
    for exporter in ("dynamo", "torchscript"):
        model = merged.build(exporter)
        for value in [*model.graph.input, *model.graph.output]:
            value.type.tensor_type.shape.dim[0].dim_value = merged.BATCH
        yield exporter, model
    for name in sorted(folder.name for folder in TESTS.iterdir()):
        if model := read_backend_test(name):
            yield name, model


# --- The faults -------------------------------------------------------------------------------------------------------

FAULTS: dict[str, Callable[[ModelProto, random.Random], None]] = {}


def fault(function):
    FAULTS[function.__name__] = function
    return function


def choose(rng: random.Random, items):
    items = list(items)
    if not items:
        raise Inapplicable
    return rng.choice(items)


def attribute_of(model: ModelProto, rng: random.Random, kinds=None):
    return choose(rng, ((n, a) for n in model.graph.node for a in n.attribute if not kinds or a.type in kinds))


def value_of_kind(name: str, kind: int) -> AttributeProto:
    values = {AttributeProto.INT: 1, AttributeProto.FLOAT: 1.5, AttributeProto.STRING: "text", AttributeProto.INTS: [1, 2],
              AttributeProto.FLOATS: [1.5, 2.5], AttributeProto.STRINGS: ["a", "b"],
              AttributeProto.TENSOR: helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0])}  # fmt: skip
    return helper.make_attribute(name, values[kind])


KINDS = [AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.STRING, AttributeProto.INTS, AttributeProto.FLOATS,
         AttributeProto.STRINGS, AttributeProto.TENSOR]  # fmt: skip


@fault
def attribute_renamed(model, rng):
    _, attribute = attribute_of(model, rng)
    attribute.name = attribute.name[:-1] or "a" if rng.random() < 0.5 else attribute.name + "s"


@fault
def attribute_of_another_kind(model, rng):
    _, attribute = attribute_of(model, rng)
    attribute.CopyFrom(value_of_kind(attribute.name, rng.choice([k for k in KINDS if k != attribute.type])))


@fault
def attribute_kind_without_its_value(model, rng):
    _, attribute = attribute_of(model, rng, (AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.INTS))
    attribute.type = rng.choice([k for k in KINDS if k != attribute.type])


@fault
def attribute_added(model, rng):
    choose(rng, model.graph.node).attribute.append(value_of_kind(rng.choice(["axis", "mode", "surplus"]), rng.choice(KINDS)))


@fault
def attribute_with_two_values(model, rng):
    _, attribute = attribute_of(model, rng, (AttributeProto.INT,))
    attribute.f = 1.5


@fault
def attribute_removed(model, rng):
    node, attribute = attribute_of(model, rng)
    node.attribute.remove(attribute)


@fault
def attribute_twice(model, rng):
    node, attribute = attribute_of(model, rng)
    node.attribute.append(copy.deepcopy(attribute))


@fault
def attribute_of_another_value(model, rng):
    _, attribute = attribute_of(model, rng, (AttributeProto.INT, AttributeProto.STRING, AttributeProto.INTS))
    if attribute.type == AttributeProto.INT:
        attribute.i = rng.choice([-9, 0, 1, 77, 2**40])
    elif attribute.type == AttributeProto.STRING:
        attribute.s = b"NONSENSE"
    elif attribute.ints:
        attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice([-7, 0, 5, 99])


def declarations(graph: GraphProto) -> list:
    return [*graph.input, *graph.output, *graph.value_info]


@fault
def declared_element_type(model, rng):
    tensor = choose(rng, declarations(model.graph)).type.tensor_type
    tensor.elem_type = rng.choice([t for t in (1, 6, 7, 9, 10, 11) if t != tensor.elem_type])


@fault
def declared_element_type_that_is_none(model, rng):
    choose(rng, declarations(model.graph)).type.tensor_type.elem_type = rng.choice([8, 99])


@fault
def declared_extent(model, rng):
    dims = [dim for value in declarations(model.graph) for dim in value.type.tensor_type.shape.dim if dim.dim_value]
    choose(rng, dims).dim_value += rng.choice([-1, 1, 5])


@fault
def declared_rank(model, rng):
    shape = choose(rng, declarations(model.graph)).type.tensor_type.shape
    if shape.dim and rng.random() < 0.5:
        del shape.dim[-1]
    else:
        shape.dim.add(dim_value=rng.choice([1, 2]))


@fault
def declared_negative_extent(model, rng):
    dims = [dim for value in declarations(model.graph) for dim in value.type.tensor_type.shape.dim if dim.dim_value]
    choose(rng, dims).dim_value = -3


@fault
def declared_as_a_sequence(model, rng):
    value = choose(rng, declarations(model.graph))
    value.type.CopyFrom(helper.make_sequence_type_proto(copy.deepcopy(value.type)))


@fault
def declared_twice(model, rng):
    value = copy.deepcopy(choose(rng, [*model.graph.output, *model.graph.value_info]))
    value.type.tensor_type.elem_type = TensorProto.INT8
    model.graph.value_info.append(value)


@fault
def inputs_swapped(model, rng):
    node = choose(rng, (n for n in model.graph.node if len(n.input) > 1))
    i, j = rng.sample(range(len(node.input)), 2)
    node.input[i], node.input[j] = node.input[j], node.input[i]


@fault
def input_dropped(model, rng):
    node = choose(rng, (n for n in model.graph.node if n.input))
    del node.input[rng.randrange(len(node.input))]


@fault
def input_left_out(model, rng):
    node = choose(rng, (n for n in model.graph.node if n.input))
    node.input[rng.randrange(len(node.input))] = ""


@fault
def input_added(model, rng):
    node = choose(rng, (n for n in model.graph.node if n.input))
    node.input.append(rng.choice(node.input))


@fault
def input_undefined(model, rng):
    node = choose(rng, (n for n in model.graph.node if n.input))
    node.input[rng.randrange(len(node.input))] = "nothing defines this"


@fault
def input_of_another_node(model, rng):
    names = [v.name for v in model.graph.input] + [t.name for t in model.graph.initializer]
    node = choose(rng, (n for n in model.graph.node if n.input))
    node.input[rng.randrange(len(node.input))] = choose(rng, names)


@fault
def output_dropped(model, rng):
    node = choose(rng, (n for n in model.graph.node if n.output))
    del node.output[rng.randrange(len(node.output))]


@fault
def output_added(model, rng):
    choose(rng, model.graph.node).output.append("surplus")


@fault
def output_left_out(model, rng):
    node = choose(rng, (n for n in model.graph.node if n.output))
    node.output[rng.randrange(len(node.output))] = ""


@fault
def output_defined_twice(model, rng):
    node = copy.deepcopy(choose(rng, model.graph.node))
    model.graph.node.append(node)


@fault
def output_named_as_an_input(model, rng):
    node = choose(rng, (n for n in model.graph.node if n.output))
    node.output[0] = choose(rng, model.graph.input).name


@fault
def graph_input_twice(model, rng):
    model.graph.input.append(copy.deepcopy(choose(rng, model.graph.input)))


@fault
def graph_output_undefined(model, rng):
    choose(rng, model.graph.output).name = "nothing defines this"


@fault
def graph_input_without_a_name(model, rng):
    choose(rng, model.graph.input).name = ""


@fault
def initializer_twice(model, rng):
    model.graph.initializer.append(copy.deepcopy(choose(rng, model.graph.initializer)))


@fault
def initializer_of_another_shape(model, rng):
    tensor = choose(rng, (t for t in model.graph.initializer if t.dims))
    tensor.dims[rng.randrange(len(tensor.dims))] += rng.choice([-1, 1])


@fault
def initializer_of_another_type(model, rng):
    tensor = choose(rng, model.graph.initializer)
    tensor.data_type = rng.choice([t for t in (1, 6, 7, 9, 11) if t != tensor.data_type])


@fault
def operator_renamed(model, rng):
    node = choose(rng, model.graph.node)
    node.op_type = rng.choice([node.op_type + "X", node.op_type.lower(), "Relu", "Add", "Upsample", ""])


@fault
def operator_of_another_domain(model, rng):
    choose(rng, model.graph.node).domain = "com.example"


@fault
def opset_changed(model, rng):
    model.opset_import[0].version = rng.choice([7, 9, 11, 13, 16, 18, 21])


@fault
def opset_missing(model, rng):
    del model.opset_import[:]


@fault
def nodes_reversed(model, rng):
    if len(model.graph.node) < 2:
        raise Inapplicable
    nodes = list(model.graph.node)[::-1]
    del model.graph.node[:]
    model.graph.node.extend(nodes)


@fault
def cycle(model, rng):
    if len(model.graph.node) < 2 or not model.graph.node[0].input:
        raise Inapplicable
    model.graph.node[0].input[0] = model.graph.node[-1].output[0]


# --- Changes that leave a model valid ----------------------------------------------------------------------------------

HARMLESS: dict[str, Callable[[ModelProto, random.Random], None]] = {}


def harmless(function):
    HARMLESS[function.__name__] = function
    return function


@harmless
def nodes_without_names(model, rng):
    for node in model.graph.node:
        node.name = ""


@harmless
def nodes_of_one_name(model, rng):
    for node in model.graph.node:
        node.name = "node"


@harmless
def documented(model, rng):
    model.doc_string = model.graph.doc_string = "A text.\n" * 3
    for node in model.graph.node:
        node.doc_string = "another"
    model.metadata_props.add(key="author", value="nobody")


@harmless
def attributes_in_another_order(model, rng):
    for node in model.graph.node:
        attributes = sorted(node.attribute, key=lambda a: a.name, reverse=True)
        del node.attribute[:]
        node.attribute.extend(attributes)


@harmless
def nothing_declared(model, rng):
    del model.graph.value_info[:]


@harmless
def extents_declared_as_symbols(model, rng):
    for value in [*model.graph.output, *model.graph.value_info]:
        for i, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.dim_param = f"{value.name}_{i}"


@harmless
def unused_initializer(model, rng):
    model.graph.initializer.append(helper.make_tensor("unused", TensorProto.FLOAT, [2], [1.0, 2.0]))


@harmless
def initializers_as_inputs(model, rng):
    for tensor in model.graph.initializer:
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))


@harmless
def initializers_declared(model, rng):
    for tensor in model.graph.initializer:
        model.graph.value_info.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))


@harmless
def result_nobody_reads(model, rng):
    source = choose(rng, model.graph.input).name
    model.graph.node.append(helper.make_node("Identity", [source], ["unread"]))


# --- Mutated models ---------------------------------------------------------------------------------------------------


@dataclass
class Mutated:
    base: str
    change: str
    model: ModelProto

    def name(self) -> str:
        return f"{self.change}, {self.base}"

    def problem(self) -> str:
        """Returns the error message of onnx's checker, or an empty text."""
        try:
            onnx.checker.check_model(self.model, full_check=True)
        except Exception as error:  # noqa: BLE001: the checker raises three kinds, and some of Python's own
            return str(error) or type(error).__name__
        return ""


def mutated_models(bases: list[tuple[str, ModelProto]], count: int, seed: int, changes=None) -> list[Mutated]:
    """Returns `count` models, alternating faults and models; they depend only on the seed."""
    rng = random.Random(seed)
    changes = list((changes or FAULTS).items())
    result = []
    turn = 0
    while len(result) < count:
        name, change = changes[turn % len(changes)]
        turn += 1
        # Every third model has several nodes.
        base, valid = bases[rng.randrange(3)] if rng.random() < 0.33 else rng.choice(bases)
        model = copy.deepcopy(valid)
        try:
            change(model, rng)
        except Inapplicable:
            continue
        result.append(Mutated(base, name, model))
    return result


def main():
    folder = Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    folder.mkdir(parents=True, exist_ok=True)
    bases = list(valid_models())
    for index, mutated in enumerate(mutated_models(bases, count, seed)):
        (folder / f"{index:03}-{mutated.change}.onnx").write_bytes(mutated.model.SerializeToString())


if __name__ == "__main__":
    main()
