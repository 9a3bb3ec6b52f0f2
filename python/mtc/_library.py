"""The C interface of compiled libraries, through ctypes."""

from __future__ import annotations

import ctypes
import os
import re
from ctypes import POINTER, Structure, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from mtc.errors import TrainerError

WARN = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
PROGRESS = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int32)
INFER = 1
LAST_BATCHES = {"wrap": 1, "drop": 2, "mask": 3}
COMPLETED, STOPPED, FAILED = 0, 1, 2
ALIGNMENT = 64


class Tensor(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("type", c_int32),
        ("rank", c_uint32),
        ("dims", POINTER(c_int64)),
        ("bytes", c_size_t),
    ]


class Options(Structure):
    _fields_ = [
        ("weights", c_char_p),
        ("seed", c_uint64),
        ("total_steps", c_int64),
        ("threads", c_int32),
        ("uses", c_uint32),
        ("device", c_char_p),
        ("offload_folder", c_char_p),
        ("memory", c_void_p),
        ("memory_bytes", c_size_t),
        ("warn", WARN),
        ("warn_data", c_void_p),
    ]


class Step(Structure):
    _fields_ = [
        ("step", c_int64),
        ("updated", c_int32),
        ("skipped", c_int32),
        ("loss", c_double),
        ("learning_rate", c_double),
        ("gradient_norm", c_double),
        ("loss_scale", c_double),
    ]


class RunOptions(Structure):
    _fields_ = [
        ("last_step", c_int64),
        ("samples_per_epoch", c_int64),
        ("save", c_char_p),
        ("keep_best", c_int32),
        ("best_metric", c_char_p),
        ("is_higher_better", c_int32),
        ("early_stop", c_int64),
        ("metrics", c_char_p),
        ("tensorboard", c_char_p),
        ("report", c_char_p),
        ("progress", PROGRESS),
        ("progress_data", c_void_p),
        ("progress_columns", c_int32),
    ]


class Setting(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("compiled", c_double)]


class Metric(Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


def _dtypes() -> list[np.dtype[Any]]:
    """Returns numpy's types in the order of the library's element types; 16-bit and 8-bit floats are those of ml_dtypes, if it is
    installed."""
    try:
        import ml_dtypes

        bf16, f8e4m3, f8e5m2 = (np.dtype(t) for t in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2))
    except ModuleNotFoundError:  # Without it, values are the bits of their elements.
        bf16, f8e4m3, f8e5m2 = np.dtype(np.uint16), np.dtype(np.uint8), np.dtype(np.uint8)
    names = ["f8", "f4", bf16, "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", f8e4m3, f8e5m2]
    return [np.dtype(name) for name in names]


DTYPES = _dtypes()

_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "name": (c_char_p, []),
    "version": (c_char_p, []),
    "memory_bytes": (c_size_t, [c_uint32]),
    "input_count": (c_uint32, []),
    "input": (Tensor, [c_uint32]),
    "input_is_label": (c_int32, [c_uint32]),
    "input_is_shared": (c_int32, [c_uint32]),
    "input_next_of": (c_int32, [c_uint32]),
    "input_padding": (c_int64, [c_uint32]),
    "output_count": (c_uint32, []),
    "output": (Tensor, [c_uint32]),
    "shape_count": (c_uint32, []),
    "shape_input": (Tensor, [c_uint32, c_uint32]),
    "shape_output": (Tensor, [c_uint32, c_uint32]),
    "shape_batch": (c_int64, [c_uint32]),
    "select_shape": (c_int32, [c_void_p, c_uint32]),
    "batch": (c_int64, []),
    "batches_per_update": (c_int64, []),
    "trains_smaller_batches": (c_int32, []),
    "create": (c_int32, [POINTER(Options), POINTER(c_void_p)]),
    "destroy": (None, [c_void_p]),
    "message": (c_char_p, [c_void_p]),
    "choose_samples": (c_int32, [c_void_p, c_int64, c_int32, c_int32, c_int64, c_void_p, POINTER(c_int64)]),
    "group_samples": (c_int32, [c_void_p, c_int64, c_void_p, c_int32, c_int32, POINTER(c_int64)]),
    "choose_grouped_samples": (c_int32, [c_void_p, c_int64, c_void_p, POINTER(c_int64), POINTER(c_uint32)]),
    "input_buffer": (c_void_p, [c_void_p, c_uint32]),
    "train": (c_int32, [c_void_p, POINTER(c_void_p), c_int64, POINTER(Step)]),
    "metric_count": (c_uint32, []),
    "metric_name": (c_char_p, [c_uint32]),
    "evaluate": (c_int32, [c_void_p, POINTER(c_void_p), c_int64]),
    "finish_evaluation": (c_int32, [c_void_p, c_void_p]),
    "infer": (c_int32, [c_void_p, POINTER(c_void_p), c_int64, POINTER(c_void_p)]),
    "begin_run": (c_int32, [c_void_p, POINTER(RunOptions)]),
    "finish_validation": (c_int32, [c_void_p, POINTER(Metric), c_uint32, c_void_p, POINTER(c_int32)]),
    "run_stops_early": (c_int32, [c_void_p]),
    "end_run": (c_int32, [c_void_p, c_int32, c_char_p]),
    "steps": (c_int64, [c_void_p]),
    "learning_rate": (c_double, [c_void_p]),
    "set_learning_rate": (c_int32, [c_void_p, c_double]),
    "setting_count": (c_uint32, []),
    "setting": (Setting, [c_uint32]),
    "get_setting": (c_int32, [c_void_p, c_char_p, POINTER(c_double)]),
    "set_setting": (c_int32, [c_void_p, c_char_p, c_double]),
    "save": (c_int32, [c_void_p, c_char_p]),
    "load": (c_int32, [c_void_p, c_char_p]),
    "resume": (c_int32, [c_void_p, c_char_p]),
    "weight_count": (c_uint32, [c_void_p]),
    "weight": (Tensor, [c_void_p, c_uint32]),
    "read_weight": (c_int32, [c_void_p, c_char_p, c_void_p, c_size_t]),
    "write_weight": (c_int32, [c_void_p, c_char_p, c_void_p, c_size_t]),
    "export_weights": (c_int32, [c_void_p, c_char_p]),
    "export_onnx": (c_int32, [c_void_p, c_char_p]),
}


def prefix_of(path: Path) -> str:
    """Returns the prefix of a library's functions, which the compiler derives from its file name."""
    prefix = re.sub(rb"[^0-9A-Za-z_]", b"_", os.fsencode(path.stem.removeprefix("lib"))).decode()
    return prefix if prefix and not prefix[0].isdigit() else "_" + prefix


def load(path: Path) -> dict[str, Any]:
    """Opens a library. Returns its functions by their names without the prefix.

    Raises:
        TrainerError: If the file cannot be loaded, or was not written under this name.
    """
    try:
        library = ctypes.CDLL(str(path.resolve()))
    except OSError as error:
        raise TrainerError(f"{path}: cannot be loaded: {error}") from None
    prefix = prefix_of(path)
    if not hasattr(library, f"{prefix}_create"):
        raise TrainerError(
            f"{path}: has no function {prefix}_create; expected a library of mtc under the name that it was compiled with"
        )
    functions = {}
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, f"{prefix}_{name}")
        function.restype = result
        function.argtypes = arguments
        functions[name] = function
    return functions
