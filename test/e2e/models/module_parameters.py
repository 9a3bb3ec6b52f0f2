# RUN: %python %s %t
"""Parameters that an exporter folded, copied, merged or dropped are trained like the module trains them: files as PyTorch's exporters write
them have the losses of files with the module's original parameters."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import MTC, compile, losses, own_folder, run

random = np.random.default_rng(0)
BATCH, WIDTH, CLASSES, STEPS = 8, 6, 4, 10
FLAGS = ["--loss", "cross-entropy", "--optimizer", "sgd", "--lr", 0.5]
folder = own_folder()


def matrix(*shape) -> np.ndarray:
    return (random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)


def add_metadata(message, **entries):
    for key, value in entries.items():
        message.metadata_props.add(key=key.replace("__", "."), value=value)


class File:
    """A graph as an exporter writes it; inputs x are [BATCH, WIDTH] by default."""

    def __init__(self, inputs=None, parameters=(), buffers=()):
        self.inputs = inputs or {"x": (TensorProto.FLOAT, [BATCH, WIDTH])}
        self.nodes, self.initializers, self.infos = [], [], []
        self.signature = "".join(f"p_{n.replace('.', '_')}: PARAMETER target='{n}'\n" for n in parameters)
        self.signature += "".join(f"b_{n.replace('.', '_')}: BUFFER target='{n}' persistent=True\n" for n in buffers)
        self.parameters = parameters

    def hold(self, name, value, origins=None):
        """Adds an initializer; `origins` are the values from which the newer exporter folded it."""
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        info = helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)
        if origins is not None:
            add_metadata(info, pkg__onnxscript__optimizer__folded_from=str(origins))
        elif name in self.parameters:
            add_metadata(info, pkg__torch__export__graph_signature__InputSpec__kind="PARAMETER")
        if info.metadata_props:
            self.infos.append(info)
        return self

    def node(self, op, inputs, output, scope="", call="", rule="", **attributes):
        """Adds a node in a scope; `call` is the FX node's operator and arguments: `linear %x, %p_w`."""
        node = helper.make_node(op, inputs, [output], name=f"{scope}/{op}" if scope.startswith("/") else output, **attributes)
        if scope and not scope.startswith("/"):
            add_metadata(node, pkg__torch__onnx__name_scopes=f"['', '{scope}', 'op']")
        if call:
            target, arguments = call.split(" ", 1)
            text = f"%v : [num_users=1] = call_function[target=torch.ops.aten.{target}.default](args = ({arguments}), kwargs = {{}})"
            add_metadata(node, pkg__torch__onnx__fx_node=text)
        if rule:
            add_metadata(node, pkg__onnxscript__rewriter__rule_name=rule)
        self.nodes.append(node)
        return self

    def save(self, name):
        shape = [BATCH, CLASSES]
        graph = helper.make_graph(
            self.nodes, "main", [helper.make_tensor_value_info(n, *t) for n, t in self.inputs.items()],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)], self.initializers, value_info=self.infos,
        )  # fmt: skip
        if self.signature:
            add_metadata(graph, pkg__torch__export__ExportedProgram__graph_signature=self.signature)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10, producer_name="pytorch")
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, folder / f"{name}.onnx")
        return folder / f"{name}.onnx"


LABELS = random.integers(0, CLASSES, BATCH * STEPS)
X = random.standard_normal((BATCH * STEPS, WIDTH)).astype(np.float32)
IDS = random.integers(0, CLASSES, (BATCH * STEPS,))


def trained(name: str, file: File, data, *flags):
    program = compile(file.save(name), folder, data | {"labels": LABELS}, *FLAGS, *flags, name=name)
    return losses(program.train(STEPS)), program


def check(name: str, exported: File, module: File, data, *flags) -> str:
    """Checks for equal losses, and the compiler's message for the exported file."""
    found, _ = trained(name, exported, data, *flags)
    expected, _ = trained(f"{name}-module", module, data)
    np.testing.assert_allclose(found, expected, rtol=2e-6, err_msg=name)
    assert abs(expected[-1] - expected[0]) > 1e-3, f"{name} trains nothing"
    return run([MTC, "compile", folder / f"{name}.onnx", *FLAGS, *flags, "-o", folder / name, "--force"], folder).stderr


def called_twice():
    w, head = matrix(WIDTH, WIDTH), matrix(CLASSES, WIDTH)
    names = ("layer.weight", "head.weight")
    file = File(parameters=names)
    file.hold("head.weight", head).hold("val_0", w.T, ["layer.weight"]).hold("val_2", w.T, ["layer.weight"])
    file.node("MatMul", ["x", "val_0"], "m0", "layer", "linear %x, %p_layer_weight").node("Tanh", ["m0"], "t0")
    file.node("MatMul", ["t0", "val_2"], "m1", "layer", "linear %t0, %p_layer_weight")
    file.node("Gemm", ["m1", "head.weight"], "y", "head", "linear %m1, %p_head_weight", transB=1)
    module = File(parameters=names).hold("head.weight", head).hold("layer.weight", w)
    module.node("Transpose", ["layer.weight"], "t").node("MatMul", ["x", "t"], "m0").node("Tanh", ["m0"], "t0")
    module.node("MatMul", ["t0", "t"], "m1").node("Gemm", ["m1", "head.weight"], "y", transB=1)
    told = check("called_twice", file, module, {"x": X})
    assert "'val_0' and 'val_2' are one weight" in told and "warning" not in told, told


def tied_head():
    table = matrix(CLASSES, WIDTH)
    inputs = {"x": (TensorProto.INT64, [BATCH])}
    names = ("embed.weight", "head.weight")
    file = File(inputs, names).hold("head.weight", table).hold("val_0", table.T, ["head.weight"])
    file.node("Gather", ["head.weight", "x"], "e", "embed", "embedding %p_head_weight, %x").node("Tanh", ["e"], "t")
    file.node("MatMul", ["t", "val_0"], "y", "head", "linear %t, %p_head_weight")
    older = File(inputs).hold("embed.weight", table).hold("onnx::MatMul_9", table.T)
    older.node("Gather", ["embed.weight", "x"], "e", "/embed").node("Tanh", ["e"], "t")
    older.node("MatMul", ["t", "onnx::MatMul_9"], "y", "/head")
    module = File(inputs).hold("embed.weight", table).node("Gather", ["embed.weight", "x"], "e").node("Tanh", ["e"], "t")
    module.node("Transpose", ["embed.weight"], "w").node("MatMul", ["t", "w"], "y")
    for name, each in (("tied_head", file), ("tied_head_older", older)):
        told = check(name, each, module, {"x": IDS})
        assert "warning" not in told, told
    # Without --tie, the copies are two weights, and the exported file contains both.
    apart, _ = trained("apart", file, {"x": IDS}, "--untie", "val_0")
    together, program = trained("together", file, {"x": IDS})
    assert abs(apart[-1] - together[-1]) > 1e-3
    program.exported("trained", "--steps", STEPS, "--no-shuffle")
    values = {i.name: numpy_helper.to_array(i) for i in onnx.load(folder / "trained.onnx").graph.initializer}
    assert (values["val_0"] == values["head.weight"].T).all() and np.abs(values["val_0"] - table.T).max() > 1e-3


def folded_transposition():
    w, head = matrix(WIDTH, WIDTH), matrix(CLASSES, WIDTH)
    file = File(parameters=("w", "head.weight")).hold("head.weight", head).hold("permute", w.T, ["w"])
    file.node("MatMul", ["x", "permute"], "m", "matmul", "matmul %x, %permute").node("Tanh", ["m"], "t")
    file.node("Gemm", ["t", "head.weight"], "y", "head", "linear %t, %p_head_weight", transB=1)
    module = File().hold("w", w.T).hold("head.weight", head).node("MatMul", ["x", "w"], "m").node("Tanh", ["m"], "t")
    module.node("Gemm", ["t", "head.weight"], "y", transB=1)
    assert "warning" not in check("folded_transposition", file, module, {"x": X})


def computed_weight():
    g, v, head = np.abs(matrix(WIDTH, 1)), matrix(WIDTH, WIDTH), matrix(CLASSES, WIDTH)
    names = ("c.weight_g", "c.weight_v", "head.weight")
    file = File(parameters=names).hold("head.weight", head)
    file.hold("mul", g * v / np.linalg.norm(v, axis=1, keepdims=True), ["c.weight_g", "c.weight_v", "div", "norm"])
    file.node("Gemm", ["x", "mul"], "m", "c", "linear %x, %mul", transB=1).node("Tanh", ["m"], "t")
    file.node("Gemm", ["t", "head.weight"], "y", "head", "linear %t, %p_head_weight", transB=1)
    told = run([MTC, "inspect", file.save("computed_weight")], folder)
    text = told.stdout + told.stderr
    assert "'mul' (c.weight_g, c.weight_v)" in text and "optimize=False" in text, text


def merged_layers():
    w, head = matrix(WIDTH, WIDTH), matrix(CLASSES, WIDTH)
    names = ("a.weight", "b.weight", "head.weight")
    file = File(parameters=names).hold("a.weight", w).hold("head.weight", head)
    module = File(parameters=names).hold("a.weight", w).hold("b.weight", w).hold("head.weight", head)
    for each, second in ((file, "a.weight"), (module, "b.weight")):
        each.node("Gemm", ["x", "a.weight"], "m0", "a", "linear %x, %p_a_weight", transB=1).node("Tanh", ["m0"], "t0")
        each.node("Gemm", ["t0", second], "m1", "b", "linear %t0, %p_b_weight", transB=1).node("Tanh", ["m1"], "t1")
        each.node("Gemm", ["t1", "head.weight"], "y", "head", "linear %t1, %p_head_weight", transB=1)
    assert "warning" not in check("merged_layers", file, module, {"x": X})


def merged_statistics():
    head, ones, zeros = matrix(WIDTH, CLASSES), np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    file, module = File().hold("head", head), File().hold("head", head)
    file.hold("g", ones).hold("b", zeros)
    for name, value in (("g", ones), ("b", zeros), ("mean", zeros), ("var", ones)):
        module.hold(name, value)
    for each, names in ((file, ["g", "b", "b", "g"]), (module, ["g", "b", "mean", "var"])):
        node = helper.make_node("BatchNormalization", ["x", *names], ["n", "m1", "v1"], training_mode=1)
        each.nodes.append(node)
        each.node("MatMul", ["n", "head"], "y")
    check("merged_statistics", file, module, {"x": X})


def zeros_are_no_weight():
    w, head = matrix(WIDTH, WIDTH), matrix(CLASSES, WIDTH)
    file = File(parameters=("w", "head.weight")).hold("w", w).hold("head.weight", head)
    file.hold("val_9", np.zeros((BATCH, WIDTH), np.float32), ["val_1", "zeros_like"])
    module = File().hold("w", w).hold("head.weight", head)
    for each in (file, module):
        each.node("MatMul", ["x", "w"], "m", "", "matmul %x, %p_w")
    file.node("Add", ["val_9", "m"], "s", "", "add %zeros_like, %m").node("Tanh", ["s"], "t")
    module.node("Tanh", ["m"], "t")
    for each in (file, module):
        each.node("Gemm", ["t", "head.weight"], "y", "head", "linear %t, %p_head_weight", transB=1)
    assert "warning" not in check("zeros", file, module, {"x": X})


def padding_row():
    table, head = matrix(CLASSES, WIDTH), matrix(CLASSES, WIDTH)
    inputs = {"x": (TensorProto.INT64, [BATCH])}
    gradients = {}
    for name, padding in (("padded", ", 2"), ("plain", "")):
        file = File(inputs, ("e.weight", "head.weight")).hold("e.weight", table).hold("head.weight", head)
        file.node("Gather", ["e.weight", "x"], "e", "e", f"embedding %p_e_weight, %x{padding}").node("Tanh", ["e"], "t")
        file.node("Gemm", ["t", "head.weight"], "y", "head", "linear %t, %p_head_weight", transB=1)
        program = compile(file.save(name), folder, {"x": IDS, "labels": LABELS}, *FLAGS, name=name)
        gradients[name] = program.gradients(f"{name}-gradients")["e.weight"]
    assert (2 in IDS[:BATCH]) and np.abs(gradients["plain"][2]).max() > 0
    gradients["plain"][2] = 0
    np.testing.assert_array_equal(gradients["padded"], gradients["plain"])


def folded_norm():
    """A convolution into which the newer exporter folded a batch normalization is trained, with a warning."""
    conv, head = matrix(WIDTH, 3, 1, 1), matrix(CLASSES, WIDTH)
    inputs = {"x": (TensorProto.FLOAT, [BATCH, 3, 4, 4])}
    names = ("0.weight", "1.weight", "1.bias", "head.weight")
    file = File(inputs, names, ("1.running_mean", "1.running_var")).hold("head.weight", head)
    file.initializers.append(numpy_helper.from_array(conv, "0.weight"))  # Without the metadata that records the fold.
    norm = "batch_norm %conv2d, %p_1_weight, %p_1_bias, %b_1_running_mean, %b_1_running_var"
    file.node("Conv", ["x", "0.weight"], "c", "1", norm, "FuseBatchNormIntoConv").node("GlobalAveragePool", ["c"], "p")
    file.node("Flatten", ["p"], "f").node("Gemm", ["f", "head.weight"], "y", "head", "linear %f, %p_head_weight", transB=1)
    told = run([MTC, "compile", file.save("folded_norm"), *FLAGS, "-o", folder / "folded_norm"], folder).stderr
    assert "batch normalizations of '1' folded" in told, told


def most_is_constant():
    """A file whose weights are mostly constants is rejected, unless a flag confirms it."""
    w, head = matrix(WIDTH, 8 * WIDTH), matrix(CLASSES, 8 * WIDTH)
    file = File().hold("head.weight", head)
    file.nodes.append(helper.make_node("Constant", [], ["w"], name="w", value=numpy_helper.from_array(w)))
    file.node("MatMul", ["x", "w"], "m").node("Tanh", ["m"], "t").node("Gemm", ["t", "head.weight"], "y", transB=1)
    path = file.save("constants")
    refused = run([MTC, "compile", path, *FLAGS, "-o", folder / "constants"], folder, code=1).stderr
    assert "192 of 480 weights are trained" in refused and "--train" in refused, refused
    run([MTC, "compile", path, *FLAGS, "--train", "head*", "-o", folder / "constants"], folder)


def most_is_frozen():
    """The file of a module that trains only its head is accepted, because `requires_grad` records the intent."""
    w, head = matrix(WIDTH, 8 * WIDTH), matrix(CLASSES, 8 * WIDTH)
    file = File().hold("w", w).hold("head.weight", head)
    file.node("MatMul", ["x", "w"], "m").node("Tanh", ["m"], "t").node("Gemm", ["t", "head.weight"], "y", transB=1)
    path = file.save("frozen")
    model = onnx.load(path)
    parameters = [{"name": "w", "requires_grad": False}, {"name": "head.weight", "requires_grad": True}]
    model.metadata_props.add(key="mtc.module", value=json.dumps({"format": 1, "parameters": parameters}))
    onnx.save(model, path)
    told = run([MTC, "compile", path, *FLAGS, "-o", folder / "frozen"], folder).stderr
    assert "1 of 2 parameters trained" in told and "warning" not in told, told


for case in (called_twice, tied_head, folded_transposition, computed_weight, merged_layers, merged_statistics,
             zeros_are_no_weight, padding_row, folded_norm, most_is_constant, most_is_frozen):  # fmt: skip
    case()
