# RUN: %python %s %t
"""mtc warns of gradient stops that the graph lacks according to the metadata of PyTorch's exporter, if they change the training."""

import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, own_folder, run

import numpy as np

folder = own_folder()
SIGNATURE = "p_w: PARAMETER target='w'\nb_m: BUFFER target='m' persistent=True\nx: USER_INPUT\n"
DETACH = "the module stops gradients (detach() or no_grad()) at "


def node(kind: str, inputs: list[str], output: str, fx: str = "", trace: str = "", **attributes) -> onnx.NodeProto:
    """A node that was exported from the FX node `OPERATOR(ARGUMENTS)`."""
    result = helper.make_node(kind, inputs, [output], **attributes)
    if fx:
        operator, arguments = fx.rstrip(")").split("(")
        text = f"%{output} : [num_users=1] = call_function[target=torch.ops.{operator}](args = ({arguments}), kwargs = {{}})"
        result.metadata_props.add(key="pkg.torch.onnx.fx_node", value=text)
    if trace:
        result.metadata_props.add(key="pkg.torch.onnx.stack_trace", value=f'File "m.py", line 5, in forward\n    {trace}\n')
    return result


def warnings(name: str, nodes: list[onnx.NodeProto]) -> str:
    info = lambda each: helper.make_tensor_value_info(each, TensorProto.FLOAT, (4, 3))  # noqa: E731
    constants = {"w": np.ones((3, 3), np.float32), "m": np.ones((4, 3), np.float32), "axes": np.int64([1])}
    graph = helper.make_graph(nodes, "g", [info("x")], [info("out")], [numpy_helper.from_array(a, n) for n, a in constants.items()])
    graph.metadata_props.add(key="pkg.torch.export.ExportedProgram.graph_signature", value=SIGNATURE)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10, producer_name="pytorch")
    onnx.save(model, folder / f"{name}.onnx")
    result = run([MTC, "inspect", folder / f"{name}.onnx"], folder)
    return "\n".join(line for line in (result.stdout + result.stderr).splitlines() if "warning" in line)


h = node("MatMul", ["x", "w"], "h", "aten.linear.default(%x, %p_w)")
optimized = warnings("optimized", [h, node("Mul", ["h", "h"], "out", "aten.mul.Tensor(%h, %detach)")])
assert not optimized, f"expected both operands of the multiplication as arguments: {optimized}"
g = node("Relu", ["h"], "g", "aten.relu.default(%h)")
for name, nodes in {
    "removed": [h, g, node("Mul", ["g", "h"], "out", "aten.mul.Tensor(%g, %detach)")],
    "identity": [h, g, node("Identity", ["h"], "detach", "aten.detach.default(%h)"),
                 node("Mul", ["g", "detach"], "out", "aten.mul.Tensor(%g, %detach)")],
    "scale": [h, node("ReduceMax", ["h", "axes"], "top", "aten.amax.default(%detach)"), node("Div", ["h", "top"], "out", "aten.div.Tensor(%h, %top)")],
}.items():  # fmt: skip
    text = warnings(name, nodes)
    assert text.count("warning") == 1 and DETACH + "'h'" in text and "export with mtc.export" in text, (name, text)
line = "with torch.no_grad(): g = torch.relu(h)"
text = warnings("no_grad", [h, node("Relu", ["h"], "g", "aten.relu.default(%h)", line), node("Mul", ["g", "h"], "out", "aten.mul.Tensor(%g, %h)")])
assert DETACH + "'g'" in text, text

# Without a trained parameter, before an operator without a gradient, or as the shift of a softmax, the stop changes nothing.
shifted = [h, node("ReduceMax", ["h", "axes"], "top", "aten.amax.default(%detach)"), node("Sub", ["h", "top"], "d", "aten.sub.Tensor(%h, %top)"),
           node("Exp", ["d"], "out", "aten.exp.default(%d)")]  # fmt: skip
mask = [h, node("Add", ["m", "x"], "n", "aten.add.Tensor(%b_m, %x)"), node("Mul", ["h", "n"], "out", "aten.mul.Tensor(%h, %detach)")]
rounded = [h, node("Round", ["h"], "r", "aten.round.default(%detach)"), node("Add", ["h", "r"], "out", "aten.add.Tensor(%h, %r)")]
for name, nodes in {"shifted": shifted, "mask": mask, "rounded": rounded}.items():
    assert not warnings(name, nodes), (name, warnings(name, nodes))
