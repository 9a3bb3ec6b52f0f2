# RUN: %python %s %t
"""Tests which GPU code a program contains, and which part of it the driver receives on each GPU. The driver is a stub that rejects all
code."""

import os
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from program import Program, compile, own_folder, run

folder = own_folder()
run(["clang-22", "-shared", "-fPIC", Path(__file__).parents[1] / "inputs/any-gpu.c", "-o", folder / "libcuda.so.1"], folder)
os.environ["LD_LIBRARY_PATH"] = str(folder)

data = {"x": np.ones((8, 32), np.float32), "target": np.ones((8, 32), np.float32)}


def compiled(architectures: str, function: str = "Tanh") -> Program:
    """Compiles a program of kernels that needs no CUDA library."""
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "gain"], ["z"], name="gain"), helper.make_node(function, ["z"], ["y"], name="f")],
        "gain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 32])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 32])],
        [numpy_helper.from_array(np.ones(32, np.float32), "gain")],
    )
    model = folder / f"{function}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), model)
    flags = ("--loss", "mse", "--labels", "target", "--optimizer", "sgd", "--lr", "0.1", "--target", f"cuda:{architectures}")
    return compile(model, folder, data, *flags, name=architectures.replace(",", "-"))


def started(program: Program, major: int, minor: int, driver: int = 13000) -> list[str]:
    """Returns the messages of a program on this GPU, whose driver rejects all code."""
    os.environ.update(GPU_MAJOR=str(major), GPU_MINOR=str(minor), GPU_DRIVER=str(driver))
    return program.run("--steps", 1, code=2).stderr.splitlines()


several = compiled("sm_80,sm_90,compute_90")
held = several.path.read_bytes()
texts = [text.split(b"\0")[0] for text in held.split(b"\n.version ")[1:]]
assert texts and all(b"\n.target sm_90\n" in text and b".visible .entry kernel_" in text for text in texts), len(texts)
assert not any(b".extern" in text for text in texts), "the PTX has external symbols"
assert started(several, 8, 6)[0] == "machine code"
given, message = started(several, 9, 0)
assert given == "machine code" and "the program's code cannot be loaded: no code is taken here" in message, message
for later in (10, 0), (12, 1), (15, 0):
    given, message = started(several, *later)
    assert given == "PTX of sm_90" and "the driver cannot compile the program's PTX: no code is taken here" in message, message
(message,) = started(several, 7, 5)
assert "this program has code for sm_80, sm_90, compute_90, and the GPU is sm_75" in message, message
assert "programs of mtc run on GPUs from sm_80 on" in message, message
(message,) = started(several, 9, 0, driver=12080)
assert "is for CUDA 12.8; this program's code needs one for CUDA 13.0" in message, message

# Without compute_90, the program contains machine code only.
plain = compiled("sm_90")
assert b"\n.version " not in plain.path.read_bytes()
(message,) = started(plain, 12, 0)
assert "this program has code for sm_90, and the GPU is sm_120" in message, message
assert "with sm_120 added to --target, or with compute_90, which all later GPUs run, too" in message, message

# A program that contains only PTX needs neither the assembler nor a matching driver. It needs libdevice only if it calls math functions.
os.environ["MTC_CUDA_PATH"] = str(folder)
alone = compiled("compute_100", "Relu")
del os.environ["MTC_CUDA_PATH"]
assert started(alone, 10, 3, driver=12070)[0] == "PTX of sm_100"
(message,) = started(alone, 10, 3, driver=12060)
assert "this program's code needs one for CUDA 12.7" in message, message
(message,) = started(alone, 9, 0)
assert "this program has code for compute_100, and the GPU is sm_90; compile it again with sm_90 added" in message, message
