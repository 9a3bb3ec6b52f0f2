"""Recurrent layers, evaluated step by step."""

import numpy as np
import tape
from operators import operator
from operators.activation import clip, expm1_below, hard_sigmoid
from tape import Rejected, less, sigmoid, softplus, tanh, where

# Each entry has the function, and whether it has the parameters alpha and beta.
FUNCTIONS = {
    "Tanh": (lambda x, a, b: tanh(x), 0), "Sigmoid": (lambda x, a, b: sigmoid(x), 0),
    "Relu": (lambda x, a, b: where(less(x.tape.constant(0.0), x), x, 0.0), 0),
    "Softsign": (lambda x, a, b: x / (1.0 + tape.absolute(x)), 0), "Softplus": (lambda x, a, b: softplus(x), 0),
    "LeakyRelu": (lambda x, a, b: where(less(x, 0.0), a * x, x), 1),
    "ThresholdedRelu": (lambda x, a, b: where(less(x.tape.constant(a), x), x, 0.0), 1),
    "Elu": (lambda x, a, b: expm1_below(x, 1.0, a), 1), "Affine": (lambda x, a, b: a * x + b, 2),
    "ScaledTanh": (lambda x, a, b: a * tanh(b * x), 2), "HardSigmoid": (hard_sigmoid, 2),
}  # fmt: skip
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}


def propose(graph, name: str):
    gates = GATES[name]
    direction = graph.choose(["forward", "reverse", "bidirectional"])
    directions, hidden, batch = 2 if direction == "bidirectional" else 1, graph.extent(5), graph.extent(4)
    batch_first = graph.opset >= 14 and graph.chance(0.3)
    steps = graph.extent(5)
    x = graph.of_shape((batch, steps, graph.extent(6)) if batch_first else (steps, batch, graph.extent(6)))
    state = (batch, directions, hidden) if batch_first else (directions, batch, hidden)
    operands = [x, graph.weight((directions, gates * hidden, graph.shape(x)[2])),
                graph.weight((directions, gates * hidden, hidden))]  # fmt: skip
    operands.append(graph.parameter((directions, 2 * gates * hidden)) if graph.chance(0.7) else "")
    lengths = graph.numbers.integers(1, steps + 1, batch).astype(np.int32)
    operands.append(graph.constant(lengths) if graph.chance(0.3) else "")
    operands.append(graph.of_shape(state) if graph.chance(0.5) else "")
    attributes = {"hidden_size": hidden, "direction": direction}
    if name == "LSTM":
        operands.append(graph.of_shape(state) if graph.chance(0.5) else "")
        operands.append(graph.parameter((directions, 3 * hidden)) if graph.chance(0.4) else "")
        attributes["input_forget"] = graph.choose([0, 0, 0, 1])
    if name == "GRU":
        attributes["linear_before_reset"] = graph.choose([0, 1])
    if batch_first:
        attributes["layout"] = 1
    if graph.chance(0.2):
        attributes["clip"] = graph.number(0.5, 3)
    if graph.chance(0.3):
        named = [graph.choose(list(FUNCTIONS)) for _ in DEFAULTS[name] * directions]
        attributes["activations"] = named
        for i, numbers in enumerate(("activation_alpha", "activation_beta")):
            attributes[numbers] = [graph.number(0.2, 0.8) for each in named if FUNCTIONS[each][1] > i]
            if not attributes[numbers]:
                del attributes[numbers]
    while not operands[-1]:
        operands.pop()
    if any(n in attributes.get("activations", []) for n in ("Affine", "Softplus", "Relu", "ScaledTanh")) and steps > 3:
        raise Rejected("states may grow")
    graph.node(name, operands, outputs=graph.choose([1, 2, 3] if name == "LSTM" else [1, 2]), **attributes)


def functions(node, directions: int):
    named = [n.decode() if isinstance(n, bytes) else n for n in node.attribute("activations") or DEFAULTS[node.op] * directions]
    alphas, betas = list(node.attribute("activation_alpha") or []), list(node.attribute("activation_beta") or [])
    found = []
    for each in named:
        function, takes = FUNCTIONS[each]
        alpha, beta = alphas.pop(0) if takes > 0 else 0.0, betas.pop(0) if takes > 1 else 0.0
        found.append(lambda x, f=function, a=alpha, b=beta: f(x, a, b))
    return found


def gated(x, i: int, hidden: int):
    return tape.move(x, lambda p: p[..., i * hidden : (i + 1) * hidden])


def run(node, x, w, r, bias, lengths, h, c, peepholes, activations, reverse: bool):
    """x is [T, B, I], states are [B, H]."""
    gates, hidden, limit = GATES[node.op], r.shape[1], node.attribute("clip", 0.0)

    def active(i, v):
        return activations[i](clip(v, -limit, limit) if limit else v)

    def product(v, first=0, count=gates):
        rows = tape.move(r, lambda p: p[first * hidden : (first + count) * hidden])
        return tape.contract("bh,gh->bg", v, rows)

    outputs = [None] * x.shape[0]
    for step in range(x.shape[0]):
        at = x.shape[0] - 1 - step if reverse else step
        runs = np.ones((x.shape[1], 1), bool) if lengths is None else (at < lengths.data)[:, None]
        v = tape.contract("bi,gi->bg", tape.move(x, lambda p: p[at]), w)
        inner = None
        if bias is not None:
            inner = tape.move(bias, lambda p: p[gates * hidden :])
            v = v + tape.move(bias, lambda p: p[: gates * hidden])
        if node.op == "RNN":
            v = v + product(h) if inner is None else v + product(h) + inner
            new, cell = active(0, v), None
        elif node.op == "GRU":
            linear = node.attribute("linear_before_reset", 0)
            s = product(h, 0, 3 if linear else 2)
            z, reset = gated(v, 0, hidden) + gated(s, 0, hidden), gated(v, 1, hidden) + gated(s, 1, hidden)
            if inner is not None:
                z, reset = z + gated(inner, 0, hidden), reset + gated(inner, 1, hidden)
            z, reset = active(0, z), active(0, reset)
            last = gated(s, 2, hidden) if linear else product(reset * h, 2, 1)
            if inner is not None:
                last = last + gated(inner, 2, hidden)
            new = active(1, gated(v, 2, hidden) + (reset * last if linear else last))
            new, cell = (1.0 - z) * new + z * h, None
        else:
            v = v + product(h) if inner is None else v + product(h) + inner
            peep = lambda i, seen: 0.0 if peepholes is None else gated(peepholes, i, hidden) * seen  # noqa: E731
            i = active(0, gated(v, 0, hidden) + peep(0, c))
            forget = 1.0 - i if node.attribute("input_forget", 0) else active(0, gated(v, 2, hidden) + peep(2, c))
            cell = forget * c + i * active(1, gated(v, 3, hidden))
            o = active(0, gated(v, 1, hidden) + peep(1, cell))
            new = o * activations[2](cell)
            c = where(runs, cell, c)
        outputs[at] = where(runs, new, 0.0)
        h = where(runs, new, h)
    return tape.concatenate([tape.reshape(o, (1, *o.shape)) for o in outputs], 0), h, c


def recurrent(node, x, w, r, bias=None, lengths=None, state=None, cell=None, peepholes=None):
    batch_first = node.attribute("layout", 0)
    if batch_first:
        x = tape.move(x, lambda p: np.swapaxes(p, 0, 1))
    direction = node.attribute("direction", "forward")
    reversals = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    chosen, each = functions(node, len(reversals)), len(DEFAULTS[node.op])
    parts = []
    for i, reverse in enumerate(reversals):
        take = lambda v: None if v is None else tape.move(v, lambda p: p[i])  # noqa: E731, B023
        def initial(v):
            if v is None:
                return x.tape.constant(np.zeros((x.shape[1], r.shape[2])))
            return tape.move(v, lambda p: p[:, i] if batch_first else p[i])  # noqa: B023

        parts.append(run(node, x, take(w), take(r), take(bias), lengths, initial(state), initial(cell), take(peepholes),
                         chosen[i * each : (i + 1) * each], reverse))  # fmt: skip
    y = tape.concatenate([tape.move(p[0], lambda q: q[:, None]) for p in parts], 1)
    results = [tape.move(y, lambda p: np.transpose(p, (2, 0, 1, 3))) if batch_first else y]
    for i in (1, 2):
        if parts[0][i] is not None:
            last = tape.concatenate([tape.reshape(p[i], (1, *p[i].shape)) for p in parts], 0)
            results.append(tape.move(last, lambda p: np.swapaxes(p, 0, 1)) if batch_first else last)
    return results[: len(node.outputs)]


for _name in GATES:
    operator(_name, propose)(recurrent)


def propose_linear_attention(graph, name: str):
    if graph.is_double:
        raise Rejected("it is not defined for doubles")
    batch, steps, heads, group = graph.extent(3), graph.extent(4), graph.choose([1, 2, 3]), graph.choose([1, 1, 2])
    keys, values = graph.extent(4), graph.extent(5)
    rule = graph.choose(["linear", "gated", "delta", "gated_delta"])
    operands = [graph.bounded(-1, 1, (batch, steps, heads * group * keys)), graph.bounded(-1, 1, (batch, steps, heads * keys)),
                graph.bounded(-1, 1, (batch, steps, heads * values))]  # fmt: skip
    operands.append(graph.bounded(-1, 1, (batch, heads, keys, values)) if graph.chance(0.5) else "")
    decays = heads * graph.choose([1, keys])
    operands.append(graph.bounded(-1, 0, (batch, steps, decays)) if rule.startswith("gated") else "")
    operands.append(graph.bounded(0, 1, (batch, steps, graph.choose([1, heads]))) if rule.endswith("delta") else "")
    while not operands[-1]:
        operands.pop()
    scale = {"scale": graph.number(0.2, 1)} if graph.chance(0.5) else {}
    graph.node(name, operands, outputs=2, q_num_heads=heads * group, kv_num_heads=heads, update_rule=rule, **scale)


@operator("LinearAttention", propose_linear_attention)
def linear_attention(node, query, key, value, state=None, decay=None, beta=None):
    heads, batch = node.attribute("kv_num_heads"), query.shape[0]
    group = node.attribute("q_num_heads") // heads
    keys, values = key.shape[2] // heads, value.shape[2] // heads
    state = key.tape.constant(np.zeros((batch, heads, keys, values))) if state is None else state
    scale = node.attribute("scale", 0.0) or keys**-0.5
    outputs = []
    for t in range(query.shape[1]):
        at = lambda x, *shape: tape.reshape(tape.move(x, lambda p: p[:, t]), (batch, *shape))  # noqa: E731, B023
        k, v = at(key, heads, keys), at(value, heads, values)
        if decay is not None:
            state = state * tape.exp(at(decay, heads, -1, 1))
        if beta is not None:
            v = at(beta, -1, 1) * (v - tape.contract("bhkv,bhk->bhv", state, k))
        state = state + tape.contract("bhk,bhv->bhkv", k, v)
        y = tape.contract("bhgk,bhkv->bhgv", at(query, heads, group, keys), state)
        outputs.append(tape.reshape(y, (batch, 1, -1)))
    return [tape.concatenate(outputs, 1) * scale, state]
