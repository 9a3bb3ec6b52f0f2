"""Generates random cases. Each case depends only on its seed, and contains the operator that its number selects."""

import math

import numpy as np
import onnx
from case import STEPS, Case
from comparison import Expectation, expect
from graph import Graph, read_by
from motifs import MOTIFS
from onnx import helper, numpy_helper
from operators import OPERATORS, name_of, schema
from operators.folded import never
from reference import OPTIMIZERS as KNOWN
from reference import loss_and_gradients
from tape import Rejected, Tape

OPTIMIZERS = [name for name in KNOWN if name != "muon"]  # the graph determines the parameters that Muon updates
OPSETS = [10, 13, 17, 18, 20, 21, 23, 24, 24, 24]
RARE = [9, 26, 27]  # opsets for operators that no opset of OPSETS contains
BATCHES = [1, 1, 2, 3, 4, 5, 8]
DOUBLES = 1 / 6  # share of models with this type
UNREAD = 0.06  # share of the values without users that remain unused; the loss uses the others
IR_VERSION = 10
ATTEMPTS = 400
OWN_NUMBERS = {
    "rmsprop": [{"alpha": 0.9}, {"momentum": 0.5}, {"centered": "true"}, {"momentum": 0.5, "centered": "true"}],
    "adagrad": [{"lr-decay": 0.1}, {"initial-accumulator-value": 0.1}],
    "adafactor": [{"beta2-decay": -0.5}, {"eps2": 0.1}, {"clip-threshold": 1.5}],
}
REQUIRED = sorted(name for name, operator in OPERATORS.items() if operator.propose is not never)


def required(index: int) -> str:
    """Returns the operator that case `index` contains; as many consecutive cases as there are operators contain all of them."""
    return REQUIRED[index % len(REQUIRED)]


def generate(seed: int, index: int, passes: list[str]) -> tuple[Case, Expectation]:
    for attempt in range(ATTEMPTS):
        try:
            case = draw(np.random.SeedSequence([seed, index, attempt]).generate_state(1)[0].item(), index, passes)
            return case, expect(case)
        except Rejected:
            pass
    raise RuntimeError(f"no case {index} with {required(index)} could be drawn in {ATTEMPTS} attempts")


def draw(seed: int, index: int, passes: list[str]) -> Case:
    operator = required(index)
    graph = start(seed, operator)
    target = min(graph.random.randint(3, 14), 14) if index % 4 else graph.random.randint(15, 30)
    at = graph.random.randrange(max(target - 3, 1))  # number of nodes before the required operator
    held = False
    for _ in range(8 * target):
        if not held and len(graph.nodes) >= at:
            held = graph.attempt(lambda: OPERATORS[operator].propose(graph, operator))
        elif graph.chance(0.2):
            motif = graph.choose(MOTIFS)
            graph.attempt(lambda: motif(graph))
        else:
            name = graph.choose(REQUIRED)
            graph.attempt(lambda: OPERATORS[name].propose(graph, name))
        if held and len(graph.nodes) >= target:
            break
    if not any(name_of(node) == operator for node in graph.nodes):
        raise Rejected(f"{operator} found no place")
    return finish(graph, index, passes)


def start(seed: int, operator: str) -> Graph:
    random = np.random.default_rng(seed)
    allowed = [opset for opset in OPSETS if schema(operator, opset)] or [opset for opset in RARE if schema(operator, opset)]
    opset = int(random.choice(allowed))
    return Graph(seed, opset, is_double=bool(random.random() < DOUBLES), batch=int(random.choice(BATCHES)), rows=STEPS)


def as_float(graph: Graph, name: str) -> str:
    return name if graph.values[name].is_float else graph.node("Cast", [name], to=graph.element)


def to_scalar(graph: Graph, name: str) -> str:
    """Adds a weighted sum, so that each element contributes differently to the loss."""
    value = graph.values[as_float(graph, name)]
    name = next(n for n, v in graph.values.items() if v is value)
    shape = graph.shape(name)
    if shape:
        weights = graph.numbers.uniform(0.5, 1.5, shape) * graph.numbers.choice([-1, 1], shape)
        weights = weights / max(1, math.sqrt(value.data.size))
        name = graph.node("Mul", [name, graph.constant(weights.astype(graph.float_type))])
        name = graph.node("ReduceSum", [name], keepdims=0)
    return name


def finish(graph: Graph, index: int, passes: list[str]) -> Case:
    """Adds a loss that depends on the values without users, and draws the training settings."""
    loss = graph.choose(["output", "output", "mse", "mse", "cross-entropy", "l1", "bce-with-logits", "causal-lm"])
    last = [name for name in graph.values if name not in graph.used and name[0] in "vpx"]
    last = without_some(graph, last)
    main = choose_main(graph, loss, last)
    if main is None:
        loss = "output"
    parts = [to_scalar(graph, name) for name in last if name != main]
    if not parts and main is None:
        raise Rejected("nothing to train")
    scalar = parts[0] if parts else None
    for part in parts[1:]:
        scalar = graph.node("Add", [scalar, part])
    if scalar is None:
        output = main
    elif main is None:
        output = graph.node("Mul", [scalar, graph.constant(graph.number_of(0.5))])
    else:
        output = join(graph, loss, main, scalar)
    labels = draw_labels(graph, loss, graph.shape(output))
    model = to_model(graph, output)
    data = dict(graph.data)  # data of the inputs in the model
    if labels is not None:
        data["labels"] = labels
    case = Case(model, data, graph.batch, loss, output, graph.choose(OPTIMIZERS), {}, emulated=index % 15 == 14)
    if graph.chance(0.3) and graph.data:
        make_symbolic(case)
    names = list(case.trained())
    if len(names) > 1 and graph.chance(0.15):
        case.frozen = [graph.choose(names)]
    if not case.trained():
        raise Rejected("nothing to train")
    case.skipped = graph.random.sample(passes, graph.random.randint(1, min(3, len(passes)))) if passes else []
    case.numbers = choose_numbers(graph, case)
    return case


def without_some(graph: Graph, last: list[str]) -> list[str]:
    """Omits some values without users, unless a parameter would then have no effect."""
    kept = [name for name in last if not graph.chance(UNREAD)]
    reached = set(kept)
    for node in reversed(graph.nodes):
        if reached & set(node.output):
            reached |= set(read_by(node, reached))
    return kept if all(name in reached for name in graph.initializers) else last


def choose_main(graph: Graph, loss: str, last: list[str]) -> str | None:
    """Chooses the value that the loss compares with labels. Its first axis is the batch."""
    def fits(name: str) -> bool:
        shape = graph.shape(name)
        if not graph.values[name].is_float or not shape or shape[0] != graph.batch or not graph.values[name].varies:
            return False
        if loss == "causal-lm":
            return len(shape) == 3
        return loss != "cross-entropy" or len(shape) >= 2

    found = [name for name in last if fits(name)]
    return graph.choose(found) if found and loss != "output" else None


def join(graph: Graph, loss: str, main: str, scalar: str) -> str:
    """Combines the main value and the sum of the others. The sum scales the classes' scores, because adding it to all of them would not
    change cross-entropy."""
    if loss in ("cross-entropy", "causal-lm"):
        bounded = graph.node("Tanh", [scalar])
        return graph.node("Mul", [main, graph.node("Add", [bounded, graph.constant(graph.number_of(1.5))])])
    return graph.node("Add", [main, scalar])


def draw_labels(graph: Graph, loss: str, shape: tuple) -> np.ndarray | None:
    rows = graph.batch * graph.rows
    if loss == "output":
        return None
    if loss in ("cross-entropy", "causal-lm"):
        axis = 1 if len(shape) >= 4 else len(shape) - 1
        labels = graph.numbers.integers(0, shape[axis], (rows, *shape[1:axis], *shape[axis + 1 :]))
        if graph.chance(0.5):
            ignored = graph.numbers.random(labels.shape) < 0.3
            ignored.reshape(graph.rows, -1)[:, 0] = False
            labels[ignored] = -100
        return labels
    if loss == "bce-with-logits":
        return graph.numbers.integers(0, 2, (rows, *shape[1:])).astype(graph.float_type)
    return graph.numbers.normal(0, 1, (rows, *shape[1:])).astype(np.float32).astype(graph.float_type)


def value_info(graph: Graph, name: str) -> onnx.ValueInfoProto:
    value = graph.values[name]
    element = graph.element if value.is_float else helper.np_dtype_to_tensor_dtype(value.data.dtype)
    return helper.make_tensor_value_info(name, element, graph.shape(name))


def further_outputs(graph: Graph, output: str) -> list[str]:
    """Chooses outputs in addition to the one that the loss uses."""
    inner = [name for name, _ in graph.available() if name[0] == "v" and name != output]
    return graph.random.sample(inner, min(graph.choose([0, 0, 1, 2]), len(inner)))


def to_model(graph: Graph, output: str) -> onnx.ModelProto:
    read = {name for node in graph.nodes for name in node.input} | {output}
    outputs = [value_info(graph, name) for name in (output, *further_outputs(graph, output))]
    graph.data = {name: array for name, array in graph.data.items() if name in read}
    initializers = [numpy_helper.from_array(array, name) for name, array in graph.initializers.items() if name in read]
    made = helper.make_graph(graph.nodes, "random", [value_info(graph, name) for name in graph.data], outputs, initializers)
    domains = sorted({node.domain for node in graph.nodes} - {""})
    imports = [helper.make_opsetid("", graph.opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    model = helper.make_model(made, opset_imports=imports, ir_version=IR_VERSION)
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise RuntimeError(f"an invalid model was drawn: {str(error)[:600]}") from error
    return model


def make_symbolic(case: Case):
    """Makes the batch dimension symbolic; a flag sets its size."""
    case.dims = {"batch": case.batch}
    for value in case.model.graph.input:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"


def choose_numbers(graph: Graph, case: Case) -> dict:
    """Chooses a learning rate that changes the loss within three steps but keeps the operands of every operator in its domain."""
    case.numbers = {"lr": 0.0}
    loss, gradients, _ = loss_and_gradients(case, {n: a.astype(np.float64) for n, a in case.trained().items()}, 0, Tape())
    largest = max(float(np.abs(g).max(initial=0)) for g in gradients.values())
    if largest == 0:
        raise Rejected("no gradient")
    if case.optimizer in ("sgd", "momentum"):
        square = sum(float((g * g).sum()) for g in gradients.values())
        rate = min(0.02 / largest, 0.05 * (abs(loss) + 0.1) / square)
        numbers = {"lr": rate}
        if graph.chance(0.3):
            numbers["clip-norm"] = float(f"{graph.random.uniform(0.3, 1.5) * math.sqrt(square):.3g}")
        if case.optimizer == "momentum" and graph.chance(0.5):
            numbers |= {"momentum": 0.5, "nesterov": graph.choose(["true", "false"])}
    else:
        rate = min(0.005, 0.05 * (abs(loss) + 0.1) / sum(float(np.abs(g).sum()) for g in gradients.values()))
        numbers = {"lr": rate}
        if case.optimizer in ("adam", "adamw", "rmsprop", "adagrad") and graph.chance(0.6):
            numbers["eps"] = float(f"{0.1 * largest:.2g}")
        if case.optimizer in ("adam", "adamw", "lion") and graph.chance(0.3):
            numbers["betas"] = "0.8,0.95"
        if case.optimizer in OWN_NUMBERS and graph.chance(0.5):
            numbers |= graph.choose(OWN_NUMBERS[case.optimizer])
    numbers["lr"] = float(f"{numbers['lr']:.3g}")
    if graph.chance(0.4):
        numbers["weight-decay"] = 0.1
    return numbers


