"""``mtc.Trainer``: training with a compiled library, on numpy arrays."""

from __future__ import annotations

import ctypes
import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mtc import _library
from mtc.compiler import Library
from mtc.errors import TrainerError

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class TensorInfo:
    """Name, shape and type of an input, output or weight."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Step:
    """The result of a batch.

    Attributes:
        step: Number of updates so far.
        updated: Whether the batch completed an update. If not, its gradients were accumulated, and the other fields are those of
            the last update.
        loss: The loss before the update.
        learning_rate: The learning rate of the update.
        gradient_norm: Norm of all gradients, for models compiled with ``clip_norm`` or ``grad_norm``; otherwise ``None``.
        loss_scale: The loss scale, for models with loss scaling; otherwise ``None``.
        skipped: Whether loss scaling skipped the update, because a gradient was not finite.
    """

    step: int
    updated: bool
    loss: float
    learning_rate: float
    gradient_norm: float | None
    loss_scale: float | None
    skipped: bool


@dataclass(frozen=True)
class Evaluation:
    """The metrics of a data set.

    Attributes:
        samples: Number of evaluated samples.
        metrics: Values by name, such as ``"loss"`` and ``"accuracy"``, as programs print them with ``--evaluate``.
    """

    samples: int
    metrics: dict[str, float]

    @property
    def loss(self) -> float:
        """The mean loss."""
        return self.metrics["loss"]

    @property
    def accuracy(self) -> float | None:
        """The fraction of correctly classified targets; ``None`` for losses that do not classify."""
        return self.metrics.get("accuracy")


@dataclass(frozen=True)
class History:
    """The steps of :meth:`Trainer.fit`, and the evaluations after its epochs."""

    steps: list[Step]
    evaluations: list[Evaluation]

    @property
    def losses(self) -> NDArray[np.float64]:
        """The loss of each step."""
        return np.array([step.loss for step in self.steps])


def _optional(value: float) -> float | None:
    return None if math.isnan(value) else value


class Trainer:
    """A training run of a compiled library: weights, optimizer state and step.

    Arrays are passed to the library as pointers. Contiguous arrays with an input's type and shape are not copied.
    Trainers are independent of each other; a trainer may be used by one thread at a time.

    Args:
        library: The result of :func:`mtc.compile`, or the path of a library that ``mtc compile --emit library`` wrote.

    Keyword Args:
        weights: File of the initial weights (``.safetensors``), such as a ``state_dict`` of the module. Default: the file that
            was written with the library.
        seed: Seed of the order of samples, and of random numbers such as dropout.
        total_steps: The last step of the learning rate schedule, which ``linear`` and ``cosine`` need.
        threads: Number of threads. Default: all cores, but at most the number of threads for which memory was planned.
        infers: Whether to allocate memory for :meth:`infer`.
        device: Number of the GPU, for libraries compiled for ``cuda``.
        memory: A writable, contiguous array of at least ``memory_bytes(...)`` bytes that the trainer uses in place of memory of
            its own.

    Raises:
        TrainerError: If the trainer cannot be created, such as for weights of another model.

    Example::

        >>> trainer = mtc.Trainer(library)
        >>> trainer.fit({"x": images, "labels": labels}, epochs=3)
        >>> trainer.evaluate({"x": test_images, "labels": test_labels}).accuracy
    """

    def __init__(
        self,
        library: Library | str | os.PathLike[str],
        *,
        weights: str | os.PathLike[str] | None = None,
        seed: int = 0,
        total_steps: int = 0,
        threads: int = 0,
        infers: bool = True,
        device: int | None = None,
        memory: NDArray[Any] | None = None,
    ) -> None:
        path = library.path if isinstance(library, Library) else Path(library)
        self._functions = _library.load(path)
        self._self = ctypes.c_void_p()
        self._memory = memory  # The library uses it as long as the trainer exists.
        self._warnings: list[str] = []
        received = self._warnings
        self._warn = _library.WARN(lambda _, text: received.append(text.decode()))
        options = _library.Options(
            weights=os.fsencode(weights) if weights is not None else None,
            seed=seed,
            total_steps=total_steps,
            threads=threads,
            uses=_library.INFER if infers else 0,
            device=str(device).encode() if device is not None else None,
            memory=memory.ctypes.data if memory is not None else None,
            memory_bytes=memory.nbytes if memory is not None else 0,
            warn=self._warn,
        )
        try:
            self._call("create", ctypes.byref(options), ctypes.byref(self._self), has_self=False)
        except TrainerError:
            self.close()
            raise
        of = self._functions
        self.batch: int = of["batch"]()
        self.batches_per_update: int = of["batches_per_update"]()
        self.inputs = [self._describe(of["input"](i)) for i in range(of["input_count"]())]
        self.outputs = [self._describe(of["output"](i)) for i in range(of["output_count"]())]
        self.labels = {info.name for i, info in enumerate(self.inputs) if of["input_is_label"](i)}
        self.weights = [self._describe(of["weight"](self._self, i)) for i in range(of["weight_count"](self._self))]

    def close(self) -> None:
        """Releases the trainer's memory. Further calls fail."""
        if self._self:
            self._functions["destroy"](self._self)
        self._self = ctypes.c_void_p()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_self", None):
            self.close()

    @property
    def step_count(self) -> int:
        """Number of updates so far."""
        return int(self._functions["steps"](self._self))

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next update. Assign a rate to override the schedule, ``None`` to restore it."""
        return float(self._functions["learning_rate"](self._self))

    @learning_rate.setter
    def learning_rate(self, rate: float | None) -> None:
        if rate is not None and rate < 0:
            raise ValueError(f"learning rate {rate}: expected 0 or more, or None")
        self._call("set_learning_rate", -1.0 if rate is None else float(rate))

    def step(self, batch: Arrays) -> Step:
        """Trains on a batch.

        Args:
            batch: An array for each input, of the input's shape. Labels of a language model may be omitted: they are the next
                tokens.
        """
        result = _library.Step()
        pointers, kept = self._pointers(batch)
        self._call("train", pointers, ctypes.byref(result))
        del kept
        return Step(
            step=result.step,
            updated=bool(result.updated),
            loss=result.loss,
            learning_rate=result.learning_rate,
            gradient_norm=_optional(result.gradient_norm),
            loss_scale=_optional(result.loss_scale),
            skipped=bool(result.skipped),
        )

    def fit(
        self,
        data: Arrays,
        *,
        epochs: int = 1,
        steps: int | None = None,
        validation: Arrays | None = None,
        shuffle: bool = True,
        callback: Callable[[Step], None] | None = None,
    ) -> History:
        """Trains on a data set. The order of samples is that of a compiled program with the same seed.

        Args:
            data: An array for each input with the samples along its first axis.

        Keyword Args:
            epochs: Number of passes over the data. The last batch of an epoch is completed by samples of the next one.
            steps: Number of updates, in place of ``epochs``.
            validation: Data to evaluate after each epoch, and at the end.
            shuffle: Whether to shuffle the samples of each epoch.
            callback: Is called after each update. An exception that it raises ends the training.
        """
        count = self._sample_count(data)
        per_update = self.batch * self.batches_per_update
        total = steps if steps is not None else -(-epochs * count // per_update)
        per_epoch = max(1, -(-count // per_update))
        rows = np.empty(self.batch, np.int64)
        history = History([], [])
        for number in range(1, total + 1):
            for _ in range(self.batches_per_update):
                self._call("choose_samples", count, int(shuffle), rows.ctypes.data)
                result = self.step(self._rows(data, rows))
            history.steps.append(result)
            if callback:
                callback(result)
            if validation is not None and (number % per_epoch == 0 or number == total):
                history.evaluations.append(self.evaluate(validation))
        return history

    def evaluate(self, data: Arrays) -> Evaluation:
        """Evaluates a data set in inference mode. The weights do not change."""
        count = self._sample_count(data)
        for first in range(0, count, self.batch):
            rows = np.minimum(np.arange(first, first + self.batch), count - 1)
            pointers, kept = self._pointers(self._rows(data, rows))
            self._call("evaluate", pointers, min(self.batch, count - first))
            del kept
        names = [self._functions["metric_name"](i).decode() for i in range(self._functions["metric_count"]())]
        values = np.empty(len(names))
        self._call("finish_evaluation", values.ctypes.data)
        return Evaluation(samples=count, metrics=dict(zip(names, values.tolist(), strict=True)))

    def infer(self, batch: Arrays) -> dict[str, NDArray[Any]]:
        """Returns the outputs of a batch in inference mode. Labels are not needed."""
        results = {info.name: np.empty(info.shape, info.dtype) for info in self.outputs}
        outputs = (ctypes.c_void_p * len(self.outputs))(*(array.ctypes.data for array in results.values()))
        pointers, kept = self._pointers(batch)
        self._call("infer", pointers, outputs)
        del kept
        return results

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Returns the weights under the names and in the layouts of the module's ``state_dict()``."""
        return {info.name: self.read_weight(info.name) for info in self.weights}

    def load_state_dict(self, weights: Mapping[str, Any]) -> None:
        """Replaces weights. Tensors of PyTorch are accepted too.

        Raises:
            KeyError: If the model does not have a weight of this name.
        """
        known = {info.name for info in self.weights}
        unknown = [name for name in weights if name not in known and not name.endswith("num_batches_tracked")]
        if unknown:
            raise KeyError(f"the model does not have the weights {', '.join(unknown)}")
        for name, value in weights.items():
            if name in known and not name.endswith("num_batches_tracked"):
                self.write_weight(name, value)

    def read_weight(self, name: str) -> NDArray[Any]:
        """Returns a copy of a weight."""
        info = self._weight(name)
        value = np.empty(info.shape, info.dtype)
        self._call("read_weight", name.encode(), value.ctypes.data, value.nbytes)
        return value

    def write_weight(self, name: str, value: Any) -> None:
        """Replaces a weight."""
        info = self._weight(name)
        array = np.ascontiguousarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
        if array.shape != info.shape:
            raise ValueError(f"weight {name!r}: expected shape {info.shape}, got {array.shape}")
        array = np.ascontiguousarray(array, info.dtype)
        self._call("write_weight", name.encode(), array.ctypes.data, array.nbytes)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes a checkpoint, from which a trainer or a program of the same compilation can resume."""
        self._call("save", os.fsencode(folder))

    def load(self, folder: str | os.PathLike[str]) -> None:
        """Loads a checkpoint of a trainer or a program."""
        self._call("load", os.fsencode(folder))

    def export_weights(self, file: str | os.PathLike[str]) -> None:
        """Writes the weights as a ``state_dict`` (``.safetensors``)."""
        self._call("export_weights", os.fsencode(file))

    def export_onnx(self, file: str | os.PathLike[str]) -> None:
        """Writes the model with its trained weights, in inference form."""
        self._call("export_onnx", os.fsencode(file))

    @staticmethod
    def _describe(tensor: _library.Tensor) -> TensorInfo:
        shape = tuple(tensor.dims[i] for i in range(tensor.rank))
        return TensorInfo(tensor.name.decode(), shape, _library.DTYPES[tensor.type])

    def _call(self, name: str, *arguments: Any, has_self: bool = True) -> None:
        if has_self and not self._self:
            raise TrainerError("the trainer is closed")
        status = self._functions[name](*((self._self,) if has_self else ()), *arguments)
        for text in self._warnings:
            warnings.warn(text.removeprefix("warning: "), stacklevel=3)
        self._warnings.clear()
        if status:
            raise TrainerError(self._functions["message"](self._self).decode())

    def _weight(self, name: str) -> TensorInfo:
        for info in self.weights:
            if info.name == name:
                return info
        raise KeyError(f"the model has no weight {name!r}")

    def _sample_count(self, data: Arrays) -> int:
        """Returns the number of samples of a data set, which is equal for all arrays."""
        self._check_names(data)
        counts = {name: len(array) for name, array in data.items()}
        if not any(counts.values()):
            raise ValueError("the data has no samples")
        if len(set(counts.values())) != 1:
            raise ValueError(f"arrays have different numbers of samples: {counts}")
        return next(iter(counts.values()))

    @staticmethod
    def _rows(data: Arrays, rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Returns the samples of a batch, as a view if they are consecutive."""
        first = int(rows[0])
        if np.array_equal(rows, np.arange(first, first + len(rows))):
            return {name: array[first : first + len(rows)] for name, array in data.items()}
        return {name: array[rows] for name, array in data.items()}

    def _check_names(self, batch: Arrays) -> None:
        names = {info.name for info in self.inputs}
        if unknown := [name for name in batch if name not in names]:
            raise ValueError(f"unknown inputs {', '.join(unknown)}; expected {', '.join(sorted(names))}")

    def _pointers(self, batch: Arrays) -> tuple[Any, list[NDArray[Any]]]:
        """Returns pointers to the arrays of a batch, and the arrays that they point to."""
        self._check_names(batch)
        kept = []
        pointers = (ctypes.c_void_p * len(self.inputs))()
        for i, info in enumerate(self.inputs):
            if info.name not in batch:
                continue
            array = np.asarray(batch[info.name])
            if array.shape != info.shape:
                raise ValueError(f"input {info.name!r}: expected shape {info.shape}, got {array.shape}")
            if array.dtype != info.dtype and not np.can_cast(array.dtype, info.dtype, "safe"):
                raise ValueError(f"input {info.name!r}: expected {info.dtype}, got {array.dtype}; convert it with astype")
            kept.append(np.ascontiguousarray(array, info.dtype))
            pointers[i] = kept[-1].ctypes.data
        return pointers, kept


def memory_bytes(library: Library | str | os.PathLike[str], *, infers: bool = True) -> int:
    """Returns the bytes that a :class:`Trainer` allocates, all of them when it is created."""
    path = library.path if isinstance(library, Library) else Path(library)
    return int(_library.load(path)["memory_bytes"](_library.INFER if infers else 0))
