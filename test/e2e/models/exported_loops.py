# RUN: %python %s %t
"""Models with loops as exporters write them train like equivalent models without loops. The loops are EmbeddingBag of both PyTorch
exporters (a Loop over slices; a Loop that fills a sequence, with an If for empty bags) and Keras' recurrent layers (counters compared as
floats, weights carried by the Loop)."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import compile, losses, own_folder

ROWS, LENGTH, WORDS, WIDTH, CLASSES = 4, 5, 20, 6, 3
random = np.random.default_rng(0)
DATA = {"x": random.integers(0, WORDS, (ROWS, LENGTH)), "labels": random.integers(0, CLASSES, ROWS)}
WEIGHTS = {"table": random.standard_normal((WORDS, WIDTH)), "recurrent": random.standard_normal((WIDTH, WIDTH)) / 2,
           "head": random.standard_normal((WIDTH, CLASSES))}
CONSTANTS = {"flat": [-1], "zero": 0, "one": 1, "two": 2, "axis": [0], "rows": ROWS, "length": LENGTH, "go": True,
             "offsets": [*range(0, ROWS * LENGTH + 1, LENGTH)], "many": 2**31 - 1}


def node(op: str, inputs: str, outputs: str, **attributes) -> onnx.NodeProto:
    """Names separated by spaces; `-` omits an operand."""
    names = [[name.replace("-", "") for name in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op, *names, **attributes)


def subgraph(nodes, inputs: str, outputs: str, initializers=()) -> onnx.GraphProto:
    """A subgraph whose inputs and outputs have no types, as PyTorch's newer exporter writes it."""
    values = [[onnx.ValueInfoProto(name=name) for name in text.split()] for text in (inputs, outputs)]
    return helper.make_graph(nodes, "body", *values, initializers)


def tensor(name: str, value, kind=np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value, kind), name)


def save(path, nodes, weights: str):
    """The nodes compute `h`, one row per sample."""
    initializers = [tensor(name, WEIGHTS[name]) for name in [*weights.split(), "head"]]
    initializers += [numpy_helper.from_array(np.array(value), name) for name, value in CONSTANTS.items()]
    graph = helper.make_graph([*nodes, node("MatMul", "h head", "logits")], "g",
                              [helper.make_tensor_value_info("x", TensorProto.INT64, (ROWS, LENGTH))],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, (ROWS, CLASSES))], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)


def write_plain_bag(path):
    save(path, [node("Gather", "table x", "taken"), node("Unsqueeze", "one axis", "second"),
                node("ReduceSum", "taken second", "h", keepdims=0)], "table")


def write_bag_of_slices(path):
    body = subgraph([node("Add", "i one", "next"), node("Gather", "offsets i", "a"), node("Gather", "offsets next", "b"),
                     node("Unsqueeze", "a axis", "start"), node("Unsqueeze", "b axis", "end"),
                     node("Slice", "ids start end axis", "bag"), node("Gather", "table bag", "taken"),
                     node("ReduceSum", "taken axis", "sum", keepdims=0), node("Identity", "goes", "go_on")],
                    "i goes", "go_on sum")
    save(path, [node("Reshape", "x flat", "ids"), node("Loop", "rows go", "h", body=body)], "table")


def write_bag_of_sequence(path):
    empty = subgraph([], "", "nothing", [tensor("nothing", np.zeros((1, WIDTH)))])
    full = subgraph([node("Slice", "taken start end", "part"), node("ReduceSum", "part axis", "row")], "", "row")
    body = subgraph([node("Reshape", "k flat", "at"), node("Add", "at one", "after"), node("Add", "at two", "last"),
                     node("Slice", "offsets at after", "start"), node("Slice", "offsets after last", "end"),
                     node("Equal", "start end", "is_empty"),
                     node("If", "is_empty", "sum", then_branch=empty, else_branch=full),
                     node("SequenceInsert", "list sum", "list_next"), node("Add", "k one", "k_next"),
                     node("Less", "k_next rows", "go_on")],
                    "i goes list k", "go_on list_next k_next")
    save(path, [node("Reshape", "x flat", "ids"), node("Gather", "table ids", "taken"), node("SequenceEmpty", "", "none"),
                node("Loop", "- go none zero", "sums last_k", body=body),
                node("ConcatFromSequence", "sums", "h", axis=0)], "table")


def write_plain_recurrence(path):
    nodes = [node("Gather", "table x", "steps"), node("Gather", "steps zero", "first", axis=1),
             node("Sub", "first first", "h0")]
    for t in range(LENGTH):
        index = numpy_helper.from_array(np.array(t))
        nodes += [node("Constant", "", f"t{t}", value=index), node("Gather", f"steps t{t}", f"x{t}", axis=1),
                  node("MatMul", f"h{t} recurrent", f"m{t}"), node("Add", f"x{t} m{t}", f"s{t}"),
                  node("Tanh", f"s{t}", f"h{t + 1}")]
    save(path, [*nodes, node("Identity", f"h{LENGTH}", "h")], "table recurrent")


def write_keras_recurrence(path):
    limit = tensor("limit", LENGTH)
    body = subgraph([node("Gather", "time t", "xt"), node("MatMul", "state weight", "m"), node("Add", "xt m", "s"),
                     node("Tanh", "s", "new"), node("Add", "t one", "t_next"), node("Identity", "weight", "same"),
                     node("Cast", "t_next", "a", to=TensorProto.FLOAT), node("Less", "a limit", "in_time"),
                     node("Cast", "i", "b", to=TensorProto.FLOAT), node("Less", "b limit", "in_count"),
                     node("And", "in_time in_count", "go_on")],
                    "i goes t state weight", "go_on t_next new same new", [limit])
    save(path, [node("Gather", "table x", "steps"), node("Transpose", "steps", "time", perm=[1, 0, 2]),
                node("Gather", "time zero", "first"), node("Sub", "first first", "initial"),
                node("Loop", "many go zero initial recurrent", "t_end end weight_end all", body=body),
                node("Unsqueeze", "length axis", "stop"), node("Sub", "stop one", "start"),
                node("Slice", "all start stop axis", "last"), node("Squeeze", "last axis", "h")], "table recurrent")


folder = own_folder()
kinds = {"bag": (write_plain_bag, write_bag_of_slices, write_bag_of_sequence),
         "recurrence": (write_plain_recurrence, write_keras_recurrence)}
for kind, writers in kinds.items():
    expected = None
    for write in writers:
        write(folder / f"{write.__name__}.onnx")
        program = compile(folder / f"{write.__name__}.onnx", folder, DATA, "--loss", "cross-entropy", "--optimizer", "sgd",
                          "--lr", 0.1, name=write.__name__)
        gradients, history = program.gradients(write.__name__), losses(program.train(10))
        if expected is None:
            expected = gradients, history
            assert history[-1] < 0.9 * history[0], history
        assert gradients.keys() == expected[0].keys(), gradients.keys()
        for name, value in expected[0].items():
            np.testing.assert_allclose(gradients[name], value, rtol=1e-4, atol=1e-6, err_msg=f"{write.__name__}: {name}")
        np.testing.assert_allclose(history, expected[1], rtol=1e-5, err_msg=write.__name__)
