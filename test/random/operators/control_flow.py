"""Loop and Scan, with an If in their bodies, with conditions that are known or depend on the data."""

import numpy as np
import tape
from onnx import TensorProto, helper, numpy_helper
from operators import evaluate, operator

VERSION = 13  # opset of the operators in bodies, which are equal in all opsets


def run(graph, values: dict) -> list:
    """Returns the outputs of a subgraph, whose nodes use `values` and values of the subgraph."""
    values = dict(values)
    for node in graph.node:
        if node.op_type == "Constant":
            results = [next(iter(values.values())).tape.constant(numpy_helper.to_array(node.attribute[0].t))]
        elif node.op_type == "If":
            branches = {a.name: a.g for a in node.attribute}
            taken = values[node.input[0]].data.all()
            results = run(branches["then_branch" if taken else "else_branch"], values)
        else:
            results = [evaluate(node, VERSION, [values[name] for name in node.input])]
            results = results[0] if isinstance(results[0], list) else results
        values.update(zip(node.output, results))
    return [values[output.name] for output in graph.output]


class Body:
    """A subgraph under construction, whose nodes keep the shape of their operand."""

    def __init__(self, graph, prefix: str):
        self.graph, self.prefix, self.nodes = graph, prefix, []

    def node(self, op: str, *inputs: str, **attributes) -> str:
        name = f"{self.prefix}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def constant(self, array) -> str:
        return self.node("Constant", value=numpy_helper.from_array(np.asarray(array)))

    def number(self, low: float, high: float) -> str:
        return self.constant(self.graph.number_of(self.graph.number(low, high)))

    def mixed(self, x: str, y: str) -> str:
        """A bounded function of two values, with the shape of the first one."""
        return self.node("Tanh", self.node(self.graph.choose(["Add", "Sub", "Mul"]), x, y))

    def is_small(self, x: str, limit: float) -> str:
        """A boolean that depends on the data."""
        return self.node("Less", self.node("ReduceMax", x, keepdims=0), self.constant(self.graph.number_of(limit)))

    def branched(self, x: str) -> str:
        """An If whose branches use x. The branch that is not taken may compute the square root of a negative number."""
        limit = self.graph.number(-0.5, 0.9)
        condition = self.constant(np.array(self.graph.chance(0.5))) if self.graph.chance(0.2) else self.is_small(x, limit)
        then, otherwise = (Body(self.graph, self.prefix + key) for key in ("then", "else"))
        if self.graph.chance(0.5):
            then.node("Sqrt", then.node("Sub", then.constant(self.graph.number_of(limit + 0.2)), x))
        else:
            then.node(self.graph.choose(["Sin", "Neg", "Identity"]), x)
        otherwise.node(self.graph.choose(["Sin", "Neg", "Identity", "Sigmoid"]), x)
        branches = [branch.finish("branch", [], [branch.nodes[-1].output[0]]) for branch in (then, otherwise)]
        return self.node("If", condition, then_branch=branches[0], else_branch=branches[1])

    def finish(self, name: str, inputs: list, outputs: list[str]):
        empty = [helper.make_empty_tensor_value_info(output) for output in outputs]
        for value in empty:
            value.type.tensor_type.elem_type = self.graph.element
        return helper.make_graph(self.nodes, name, inputs, empty)


def value_info(name: str, element: int, shape=()):
    return helper.make_tensor_value_info(name, element, shape)


def propose_loop(graph, name: str):
    """A Loop with a state, and a weight that the loop carries unchanged."""
    x = graph.value(max_rank=4)
    shape = graph.shape(x)
    w = graph.parameter(graph.broadcastable(shape))
    count, condition = graph.random.randint(0, 4), graph.choose(["none", "none", "known", "data", "data"])
    body = Body(graph, graph.fresh("body"))
    y = body.mixed("state", "weight")
    if graph.chance(0.4):
        y = body.node("Mul", y, body.node("Cast", "iteration", to=graph.element))
    if graph.chance(0.5):
        y = body.branched(y)
    outputs = ["go_on_next", y, body.node("Identity", "weight")]
    if condition == "data":
        body.nodes.append(helper.make_node("Identity", [body.is_small(y, graph.number(-0.5, 0.9))], ["go_on_next"]))
    elif condition == "known":
        limit = body.constant(np.array(graph.random.randint(0, 2)))
        body.nodes.append(helper.make_node("Less", ["iteration", limit], ["go_on_next"]))
    else:
        body.nodes.append(helper.make_node("Identity", ["go_on"], ["go_on_next"]))
    if condition != "data" and graph.chance(0.5):
        outputs.append(body.mixed(y, "weight"))
    inputs = [value_info("iteration", TensorProto.INT64), value_info("go_on", TensorProto.BOOL),
              value_info("state", graph.element, shape), value_info("weight", graph.element, graph.shape(w))]
    made = body.finish("body", inputs, outputs)
    made.output[0].type.tensor_type.elem_type = TensorProto.BOOL
    operands = [graph.constant(np.array(count)), graph.constant(np.array(True)), x, w]
    graph.node(name, operands, outputs=len(outputs) - 1, body=made)


@operator("Loop", propose_loop)
def loop(node, trips, condition, *carried):
    body, carried, scanned = node.attribute("body"), list(carried), []
    names = [value.name for value in body.input]
    for iteration in range(int(trips.data)):
        if not condition.data.all():
            break
        values = [trips.tape.constant(np.array(iteration)), condition, *carried]
        condition, *results = run(body, dict(zip(names, values)))
        carried, slices = results[: len(carried)], results[len(carried) :]
        scanned.append(slices)
    if not scanned and len(node.outputs) > len(carried):
        raise tape.Rejected("scan outputs without a slice have no shape here")
    return carried + [stack(list(slices), 0) for slices in zip(*scanned)]


def stack(values: list, axis: int):
    return tape.concatenate([tape.move(value, lambda i: np.expand_dims(i, axis)) for value in values], axis)


def propose_scan(graph, name: str):
    """A Scan over one or two inputs, along any axes and in both directions. The state has the shape of the first input's slices."""
    x = graph.value(min_rank=1, max_rank=4, where=lambda shape: any(n <= 7 for n in shape))
    shape = graph.shape(x)
    axis = graph.choose([i for i, n in enumerate(shape) if n <= 7])
    slice_shape = [*shape[:axis], *shape[axis + 1 :]]
    state = graph.of_shape(slice_shape)
    scanned, axes, infos = [x], [axis], [value_info("slice0", graph.element, slice_shape)]
    if graph.chance(0.5):  # a shape that broadcasts to that of the first input's slices
        other = list(graph.broadcastable(slice_shape))
        axes.append(graph.random.randint(0, len(other)))
        scanned.append(graph.of_shape([*other[: axes[1]], shape[axis], *other[axes[1] :]]))
        infos.append(value_info("slice1", graph.element, other))
    body = Body(graph, graph.fresh("body"))
    y = body.mixed("state", "slice0")
    if len(scanned) == 2:
        y = body.mixed(y, "slice1")
    if graph.chance(0.3):
        y = body.branched(y)
    outputs = [y, *(body.mixed(y, graph.choose(["slice0", "state"])) for _ in range(graph.choose([0, 1, 2])))]
    count, rank = len(outputs) - 1, len(slice_shape) + 1
    attributes = {"num_scan_inputs": len(scanned)}
    if any(axes) or graph.chance(0.3):
        attributes["scan_input_axes"] = [graph.signed(a, len(graph.shape(s))) if graph.opset >= 11 else a
                                         for a, s in zip(axes, scanned)]  # fmt: skip
    if graph.chance(0.5):
        attributes["scan_input_directions"] = [graph.choose([0, 1]) for _ in scanned]
    if count and graph.chance(0.5):
        own = [graph.random.randrange(rank) for _ in range(count)]
        attributes["scan_output_axes"] = [graph.signed(a, rank) if graph.opset >= 11 else a for a in own]
    if count and graph.chance(0.5):
        attributes["scan_output_directions"] = [graph.choose([0, 1]) for _ in range(count)]
    made = body.finish("body", [value_info("state", graph.element, slice_shape), *infos], outputs)
    graph.node(name, [state, *scanned], outputs=len(outputs), body=made, **attributes)


@operator("Scan", propose_scan)
def scan(node, *operands):
    count = node.attribute("num_scan_inputs")
    states, inputs = list(operands[:-count]), operands[-count:]
    body, results = node.attribute("body"), []
    names = [value.name for value in body.input]
    axes = node.attribute("scan_input_axes", [0] * count)
    directions = node.attribute("scan_input_directions", [0] * count)
    length = inputs[0].shape[axes[0]]
    for step in range(length):
        at = [length - 1 - step if direction else step for direction in directions]
        slices = [tape.move(x, lambda i, a=a, k=k: np.take(i, k, a)) for x, a, k in zip(inputs, axes, at)]
        values = run(body, dict(zip(names, states + slices)))
        states = values[: len(states)]
        results.append(values[len(states) :])
    scanned = [list(slices) for slices in zip(*results)]
    for slices, direction in zip(scanned, node.attribute("scan_output_directions", [0] * len(scanned))):
        if direction:
            slices.reverse()
    own = node.attribute("scan_output_axes", [0] * len(scanned))
    return states + [stack(slices, axis % (slices[0].rank + 1)) for slices, axis in zip(scanned, own)]
