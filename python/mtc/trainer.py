"""``mtc.Trainer``: training with a compiled library, on arrays, data sets and iterables of batches."""

from __future__ import annotations

import ctypes
import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mtc import _library
from mtc._batches import iterable_of, samples_of
from mtc._fit import Fit, FitOptions
from mtc._inputs import Batch, Inputs, Shape, concatenated, to_array
from mtc._metrics import Metric, Metrics
from mtc._prefetch import prefetched
from mtc._results import Evaluation, History, Step, TensorInfo
from mtc.compiler import Library
from mtc.errors import TrainerError


def _optional(value: float) -> float | None:
    return None if math.isnan(value) else value


class Trainer:
    """A training run of a compiled library: weights, optimizer state and step.

    Contiguous arrays with an input's type and shape are passed to the library without a copy.
    Trainers are independent of each other; a trainer may be used by one thread at a time.

    A **batch** is a mapping of inputs to arrays, a tuple of the inputs in order, or the only input. Arrays are those of numpy, tensors of
    PyTorch, or lists. Numbers are converted to the input's type: integers exactly, floats to the nearest value. A batch may have fewer
    samples than the compiled batch; the loss is then the mean over the samples that are there, as in PyTorch. Sequences may be shorter than the
    compiled ones if the model has an input ``attention_mask``, whose zeros then mark the rest. Rows of different lengths are lists, such as
    ``{"input_ids": [[5, 8, 2], [7, 1]], "labels": [0, 1]}``; their mask, and labels that are the next tokens, may be omitted.

    **Data** is one of

    - a mapping, tuple or array as for a batch, with all samples;
    - a data set of samples: of PyTorch, of Hugging Face's ``datasets``, or another object with ``__len__`` and ``__getitem__``;
      Samples may differ in length;
    - an iterable of batches, such as a ``DataLoader``, a list or a generator;
    - a function of the epoch (from 0) that returns an iterable of batches.

    Args:
        library: The result of :func:`mtc.compile`, or the path of a library that ``mtc compile --emit library`` wrote.

    Keyword Args:
        weights: File of the initial weights (``.safetensors``), such as a ``state_dict`` of the module. Default: the file that
            was written with the library.
        seed: Seed of the order of samples, and of random numbers such as dropout.
        total_steps: The last step of the learning rate schedules ``linear`` and ``cosine``. Default: the last step of the first
            :meth:`fit`.
        threads: Number of threads. Default: all cores, but at most the number of threads for which memory was planned.
        infers: Whether to allocate memory for :meth:`infer` and :meth:`predict`.
        device: Number of the GPU, for libraries compiled for ``cuda``.
        memory: A writable, contiguous array of at least ``memory_bytes(...)`` bytes that the trainer uses in place of memory of
            its own.

    Raises:
        TrainerError: If the trainer cannot be created, such as for weights of another model.

    Example::

        >>> trainer = mtc.Trainer(library)
        >>> trainer.fit(DataLoader(dataset, batch_size=32, shuffle=True), epochs=3, validation=test_loader)
        >>> trainer.evaluate(test_loader).accuracy
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
        shapes = range(of["shape_count"]())
        numbers = range(of["input_count"]())
        inputs = [[self._describe(of["shape_input"](shape, i)) for i in numbers] for shape in shapes]
        self._outputs = [[self._describe(of["shape_output"](shape, i)) for i in range(of["output_count"]())] for shape in shapes]
        self._batches: list[int] = [of["shape_batch"](shape) for shape in shapes]
        self.inputs, self.outputs = inputs[-1], self._outputs[-1]
        self.batch = max(self._batches)
        self.batches_per_update: int = of["batches_per_update"]()
        self.trains_smaller_batches = bool(of["trains_smaller_batches"]())
        self.labels = {info.name for i, info in enumerate(self.inputs) if of["input_is_label"](i)}
        self.metric_names = [of["metric_name"](i).decode() for i in range(of["metric_count"]())]
        self.weights = [self._describe(of["weight"](self._self, i)) for i in range(of["weight_count"](self._self))]
        self.stops = False
        shared = {info.name for i, info in enumerate(self.inputs) if of["input_is_shared"](i)}
        self._padding: dict[str, int] = {info.name: of["input_padding"](i) for i, info in enumerate(self.inputs)}
        self._inputs = Inputs(
            [Shape(of_shape, shared, size, self._padding) for of_shape, size in zip(inputs, self._batches, strict=True)],
            shared,
            {info.name: self.inputs[of["input_next_of"](i)].name for i, info in enumerate(self.inputs) if of["input_next_of"](i) >= 0},
        )
        self._selected = len(shapes) - 1

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
        """The learning rate of the next update. Assign a rate to override the schedule, ``None`` to restore it. Not a number before
        :meth:`fit` has set the last step of a schedule that depends on it."""
        return float(self._functions["learning_rate"](self._self))

    @learning_rate.setter
    def learning_rate(self, rate: float | None) -> None:
        if rate is not None and rate < 0:
            raise ValueError(f"learning rate {rate}: expected 0 or more, or None")
        self._call("set_learning_rate", -1.0 if rate is None else float(rate))

    @property
    def settings(self) -> dict[str, float]:
        """The numbers that the library computes with and that :meth:`set` changes, by name: hyperparameters of the optimizer, limits of gradients,
        label smoothing and the dropout rate. They are part of checkpoints."""
        of = self._functions
        values = {}
        for name in (of["setting"](i).name for i in range(of["setting_count"]())):
            value = ctypes.c_double()
            self._call("get_setting", name, ctypes.byref(value))
            values[name.decode().replace("-", "_")] = value.value
        return values

    def set(self, **settings: float) -> None:
        """Changes :attr:`settings` for later batches: ``trainer.set(weight_decay=0.1, beta2=0.99)``.

        Raises:
            TrainerError: If the library does not compute with a setting, or a value is invalid.
        """
        for name, value in settings.items():
            self._call("set_setting", name.replace("_", "-").encode(), float(value))

    def step(self, batch: Any) -> Step:
        """Trains on a batch. Labels of a language model may be omitted: they are the next tokens.

        Raises:
            ValueError: If the batch does not have the inputs' shapes and types.
            TrainerError: If an input is missing, has an invalid value, or the loss needs whole batches.
        """
        return self._train(self._inputs.convert(batch))

    def fit(
        self,
        data: Any,
        *,
        epochs: int = 1,
        steps: int | None = None,
        shuffle: bool = True,
        last_batch: str | None = None,
        bucket_by: str | None = None,
        prefetch: int = 2,
        learning_rate: Callable[[int], float] | None = None,
        validation: Any = None,
        validate_every: int | None = None,
        metrics: Mapping[str, Metric] | None = None,
        save: str | os.PathLike[str] | None = None,
        save_every: int | None = None,
        resume: bool = False,
        keep_best: str | None = None,
        best_mode: str | None = None,
        early_stop: int | None = None,
        metrics_file: str | os.PathLike[str] | None = None,
        tensorboard: str | os.PathLike[str] | None = None,
        report: str | os.PathLike[str] | None = None,
        progress: bool | None = None,
        on_step: Callable[[Step], object] | None = None,
        on_validation: Callable[[Evaluation], object] | None = None,
        on_checkpoint: Callable[[Path], object] | None = None,
    ) -> History:
        """Trains on data.

        Samples of arrays and data sets are read in the order of a compiled program with the same seed. Batches of an iterable are used as
        they come. With ``accumulate``, an update at the end of an epoch has the batches that are left.

        Args:
            data: The training data. See :class:`Trainer`.

        Keyword Args:
            epochs: Number of passes over the data.
            steps: Number of updates, in place of ``epochs``.
            shuffle: Whether to shuffle the samples of arrays and data sets in each epoch.
            last_batch: Samples of arrays and data sets at the end of an epoch that do not fill a batch: ``"wrap"`` adds samples of the next
                epoch, ``"drop"`` leaves them out, ``"mask"`` trains on a smaller batch. Default: ``"mask"`` if the library has a shape of this
                size, otherwise ``"wrap"``.
            bucket_by: ``"length"``: the batches of arrays and data sets have samples of similar lengths, each batch in the smallest shape of the
                library that holds them; ``"none"``: samples of all lengths share batches. Default: ``"length"`` with ``shuffle`` if the
                samples need several shapes.
            prefetch: Number of batches that a thread reads and converts ahead of their use; 0: none.
            learning_rate: Returns the learning rate of an update, numbered from 1, in place of the compiled schedule.
            validation: Data to evaluate after each epoch, and at the end.
            validate_every: Number of updates between validations, in place of epochs.
            metrics: Metrics of validations by name, as for :meth:`evaluate`.
            save: Folder of checkpoints. One is saved at the end, and at Ctrl-C.
            save_every: Number of updates between checkpoints.
            resume: Continues the checkpoint in ``save``, if there is one. ``epochs`` and ``steps`` then count from the beginning, so that
                the same call completes an interrupted training. Batches of an iterable that were used before are skipped.
            keep_best: Metric whose best validation is saved in the folder ``best`` of ``save``, and that ``early_stop`` compares.
            best_mode: ``"max"`` if higher values of a metric of ``metrics`` are better, otherwise ``"min"``.
            early_stop: Number of validations without an improvement after which training ends.
            metrics_file: File of JSON lines with the metrics of each update and validation.
            tensorboard: Folder of event files for TensorBoard.
            report: File of a page with charts and tables (``.html``).
            progress: Whether to show progress. Default: in terminals and notebooks.
            on_step: Is called after each update. An exception ends the training; ``trainer.stops = True`` ends it without an error.
            on_validation: Is called after each validation.
            on_checkpoint: Is called with the folder of each saved checkpoint.

        Raises:
            ValueError: If arguments or data do not fit.
            TrainerError: If a call of the library fails, or the loss is not finite.
        """
        options = FitOptions(
            epochs, steps, shuffle, last_batch, bucket_by, prefetch, learning_rate, validation, validate_every, metrics or {}, save, save_every,
            resume, keep_best, best_mode, early_stop, metrics_file, tensorboard, report, progress, on_step, on_validation, on_checkpoint,
        )  # fmt: skip
        return Fit(self, data, samples_of(data, self._inputs), options).run()

    def evaluate(self, data: Any, *, metrics: Mapping[str, Metric] | None = None) -> Evaluation:
        """Evaluates data in inference mode. The weights do not change.

        Args:
            data: The data. See :class:`Trainer`.

        Keyword Args:
            metrics: Further metrics by name: functions of the outputs and labels of all samples, such as
                ``lambda logits, labels: f1_score(labels, logits.argmax(-1), average="macro")``, or objects with
                ``update(outputs, labels)``, ``compute()`` and ``reset()``, such as those of torchmetrics. Outputs are a dictionary if the
                model has several, and labels one of all inputs unless there is one input of labels.
        """
        samples, own = self._evaluate(data, Metrics(metrics or {}, self.labels, self._padding))
        values = np.empty(len(self.metric_names))
        self._call("finish_evaluation", values.ctypes.data)
        return Evaluation(samples, dict(zip(self.metric_names, values.tolist(), strict=True)) | own, self.step_count)

    def predict(self, data: Any) -> dict[str, NDArray[Any]]:
        """Returns the outputs of all samples in inference mode. Labels are not needed.

        Args:
            data: The data. See :class:`Trainer`.
        """
        for info in self.outputs:
            if info.shape[:1] != (self._batches[-1],):
                raise ValueError(f"output {info.name!r} of shape {info.shape} has no batch axis; infer returns the outputs of a batch")
        return concatenated([self._infer(batch) for batch in self._converted(data)], {})

    def infer(self, batch: Any) -> dict[str, NDArray[Any]]:
        """Returns the outputs of a batch in inference mode. Labels are not needed."""
        return self._infer(self._inputs.convert(batch))

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
        array = np.ascontiguousarray(to_array(value))
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
        """Writes the weights: ``FILE.safetensors`` is a ``state_dict``, and any other name a folder for ``from_pretrained``.

        The folder has the names and types of the weights that the trainer started from, and copies of their configuration and tokenizer.
        """
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

    def _pointers(self, arrays: Mapping[str, NDArray[Any]]) -> Any:
        """Returns pointers to the arrays of a batch, which must outlive them."""
        return (ctypes.c_void_p * len(self.inputs))(
            *(arrays[info.name].ctypes.data if info.name in arrays else None for info in self.inputs)
        )

    def _train(self, batch: Batch) -> Step:
        result = _library.Step()
        self._select(batch.shape)
        self._call("train", self._pointers(batch.arrays), batch.samples, ctypes.byref(result))
        return Step(
            step=result.step,
            updated=bool(result.updated),
            loss=result.loss,
            learning_rate=result.learning_rate,
            gradient_norm=_optional(result.gradient_norm),
            loss_scale=_optional(result.loss_scale),
            skipped=bool(result.skipped),
        )

    def _select(self, shape: int) -> None:
        """Selects the shape of the next batch."""
        if shape != self._selected:
            self._call("select_shape", shape)
            self._selected = shape

    def _converted(self, data: Any) -> Iterator[Batch]:
        """Yields the batches of data in order. The last ones may be smaller."""
        samples = samples_of(data, self._inputs)
        values = iter(samples.batches(self._inputs.batch_of(samples.longest(self._inputs))[0]) if samples else iterable_of(data, 0))
        end = object()

        def take() -> Batch | None:
            value = next(values, end)
            return None if value is end else self._inputs.convert(value, copy=samples is None)

        count = 0
        for batch in prefetched(iter(lambda: take, None), depth=2):
            if batch is None:
                break
            count += 1
            yield batch
        if count == 0:
            raise ValueError("the data has no samples; a generator can be read once")

    def _evaluate(self, data: Any, metrics: Metrics) -> tuple[int, dict[str, float]]:
        """Evaluates all batches. Returns the number of samples and the user's metrics."""
        count = 0
        for batch in self._converted(data):
            self._select(batch.shape)
            self._call("evaluate", self._pointers(batch.arrays), batch.samples)
            count += batch.samples
            if metrics:
                metrics.add(self._infer(batch), batch.arrays)
        return count, metrics.values()

    def _validate(self, data: Any, metrics: Mapping[str, Metric]) -> Evaluation:
        """Evaluates data as a validation of the run."""
        samples, own = self._evaluate(data, Metrics(metrics, self.labels, self._padding))
        values, is_best = np.empty(len(self.metric_names)), ctypes.c_int32()
        named = (_library.Metric * len(own))(*(_library.Metric(name.encode(), value) for name, value in own.items()))
        self._call("finish_validation", named, len(own), values.ctypes.data, ctypes.byref(is_best))
        found = dict(zip(self.metric_names, values.tolist(), strict=True)) | own
        return Evaluation(samples, found, self.step_count, bool(is_best.value))

    def _stops_early(self) -> bool:
        return bool(self._functions["run_stops_early"](self._self))

    def _infer(self, batch: Batch) -> dict[str, NDArray[Any]]:
        self._select(batch.shape)
        size = self._batches[batch.shape]

        def rows(info: TensorInfo) -> tuple[int, ...]:
            return (batch.samples, *info.shape[1:]) if info.shape[:1] == (size,) else info.shape

        results = {info.name: np.empty(rows(info), info.dtype) for info in self._outputs[batch.shape]}
        outputs = (ctypes.c_void_p * len(self.outputs))(*(array.ctypes.data for array in results.values()))
        self._call("infer", self._pointers(batch.arrays), batch.samples, outputs)
        return results


def memory_bytes(library: Library | str | os.PathLike[str], *, infers: bool = True) -> int:
    """Returns the bytes that a :class:`Trainer` allocates, all of them when it is created."""
    path = library.path if isinstance(library, Library) else Path(library)
    return int(_library.load(path)["memory_bytes"](_library.INFER if infers else 0))
