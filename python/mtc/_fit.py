"""The loop of :meth:`mtc.Trainer.fit`."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtc import _library
from mtc._bar import Bar
from mtc._batches import Samples, iterable_of
from mtc._inputs import Batch
from mtc._metrics import Metric
from mtc._order import Order, order_of
from mtc._prefetch import prefetched
from mtc._results import Evaluation, History, Step
from mtc.errors import TrainerError

if TYPE_CHECKING:
    from mtc.trainer import Trainer

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class FitOptions:
    """The arguments of :meth:`mtc.Trainer.fit`, which documents them."""

    epochs: int
    steps: int | None
    shuffle: bool
    last_batch: str | None
    bucket_by: str | None
    prefetch: int
    learning_rate: Callable[[int], float] | None
    validation: Any
    validate_every: int | None
    metrics: Mapping[str, Metric]
    save: PathLike | None
    save_every: int | None
    resume: bool
    keep_best: str | None
    best_mode: str | None
    early_stop: int | None
    metrics_file: PathLike | None
    tensorboard: PathLike | None
    report: PathLike | None
    progress: bool | None
    on_step: Callable[[Step], object] | None
    on_validation: Callable[[Evaluation], object] | None
    on_checkpoint: Callable[[Path], object] | None

    def check(self) -> None:
        """Raises an error with the missing argument."""
        for name in ("keep_best", "early_stop", "validate_every", "on_validation"):
            if getattr(self, name) and self.validation is None:
                raise ValueError(f"{name} needs data to validate: pass validation=")
        for name in ("save_every", "resume", "on_checkpoint"):
            if getattr(self, name) and self.save is None:
                raise ValueError(f"{name} needs a folder of checkpoints: pass save=, such as save='checkpoint'")
        for name in ("save_every", "validate_every", "early_stop", "steps", "epochs"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"{name}={value}: expected 1 or more")
        if self.last_batch not in (None, *_library.LAST_BATCHES):
            raise ValueError(f"last_batch={self.last_batch!r}: expected one of {', '.join(map(repr, _library.LAST_BATCHES))}")
        if self.bucket_by not in (None, "length", "none"):
            raise ValueError(f"bucket_by={self.bucket_by!r}: expected 'length' or 'none'")
        if self.best_mode not in (None, "min", "max"):
            raise ValueError(f"best_mode={self.best_mode!r}: expected 'min' or 'max'")
        if self.keep_best in self.metrics and not self.best_mode:
            raise ValueError(
                f"keep_best={self.keep_best!r}: pass best_mode='max' if higher values of this metric are better, otherwise best_mode='min'"
            )


def _bytes(path: PathLike | None) -> bytes | None:
    return None if path is None else os.fsencode(path)


class Fit:
    """One call of :meth:`mtc.Trainer.fit`.

    Args:
        samples: The data as a data set of samples; ``None`` if ``data`` is an iterable of batches.
    """

    def __init__(self, trainer: Trainer, data: Any, samples: Samples | None, options: FitOptions) -> None:
        options.check()
        self.trainer, self.data, self.samples, self.options = trainer, data, samples, options
        self.order: Order | None = None  # of samples
        self.history = History()
        self.per_update = trainer.batches_per_update
        self.trained = 0  # batches
        self.accumulated = 0  # batches since the last update
        self.skipped = 0  # updates of the checkpoint whose batches are still to be skipped
        self.validated = self.saved = -1  # steps

    def run(self) -> History:
        """Trains. Ends the run of the library in each case."""
        options, trainer = self.options, self.trainer
        if options.resume and (Path(options.save or "") / "manifest.json").exists():
            trainer._call("resume", _bytes(options.save))
        if self.samples:
            self.order = order_of(trainer, self.samples, options.shuffle, options.last_batch, options.bucket_by)
        self.begin = 0 if options.resume else trainer.step_count
        planned = self._planned_steps()
        self.last = self.begin + planned if planned else 0  # 0: unknown
        if options.resume and 0 < self.last <= trainer.step_count:
            return self.history
        bar = Bar(options.progress)
        self._begin_run(bar)
        outcome, reason = _library.FAILED, ""
        try:
            self._train_all()
            outcome = _library.STOPPED if trainer.stops else _library.COMPLETED
        except KeyboardInterrupt:
            outcome = _library.STOPPED
            with contextlib.suppress(TrainerError):  # in the middle of an update
                self._save()
            raise
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}"
            raise
        finally:
            with contextlib.ExitStack() as stack:
                stack.callback(bar.close)
                if options.learning_rate and outcome == _library.COMPLETED:
                    trainer.learning_rate = None
                with contextlib.suppress(TrainerError) if outcome == _library.FAILED else contextlib.nullcontext():
                    trainer._call("end_run", outcome, reason.encode())
        return self.history

    def _begin_run(self, bar: Bar) -> None:
        options, trainer = self.options, self.trainer
        trainer.stops = False
        known = trainer.metric_names
        if options.keep_best and options.keep_best not in (*known, *options.metrics):
            raise ValueError(f"keep_best={options.keep_best!r}: expected one of {', '.join([*known, *options.metrics])}")
        self._progress = _library.PROGRESS(lambda _, text, is_bar: bar.show(text.decode(), bool(is_bar)))
        chosen = _library.RunOptions(
            last_step=self.last,
            samples_per_epoch=self.samples.count if self.samples else 0,
            save=_bytes(options.save),
            keep_best=bool(options.keep_best and options.save is not None),
            best_metric=(options.keep_best or "loss").encode(),
            is_higher_better=options.best_mode == "max",
            early_stop=options.early_stop or 0,
            metrics=_bytes(options.metrics_file),
            tensorboard=_bytes(options.tensorboard),
            report=_bytes(options.report),
            progress=self._progress if bar.shown else _library.PROGRESS(),
            progress_columns=bar.columns,
        )
        trainer._call("begin_run", _library.ctypes.byref(chosen))

    def _planned_steps(self) -> int:
        """Returns the number of updates from the beginning; 0 if it is not known."""
        if self.options.steps is not None:
            return self.options.steps
        if self.order:
            return self.order.steps_of(self.options.epochs)
        length = self._length()
        if not length:
            return 0
        epochs = self.options.epochs
        return epochs * -(-length // self.per_update) if self.trainer.trains_smaller_batches else epochs * length // self.per_update

    def _length(self) -> int:
        """Returns the number of batches of an epoch; 0 if it is not known."""
        try:
            return len(self.data)
        except TypeError:
            return 0

    def _train_all(self) -> None:
        self.history.stopped_early = self.trainer._stops_early()  # if a checkpoint is resumed
        if self.history.stopped_early:
            return
        for batch in self._batches_of_samples() if self.order else self._batches_of_iterable():
            if batch is None:
                self._end_epoch()
            else:
                self._train(batch)
            if self.trainer.stops or self.history.stopped_early or (self.last and self.trainer.step_count == self.last):
                break
        if self.trainer.step_count > self.begin and not self.trainer.stops:
            self._validate()
        self._save()

    def _batches_of_samples(self) -> Iterator[Batch | None]:
        """Yields batches in the order of a program, and ``None`` at the end of each epoch."""
        options, trainer, samples, order = self.options, self.trainer, self.samples, self.order
        assert samples and order
        first = trainer.step_count

        def take(rows: Any, chosen: int, shape: int | None) -> Batch:
            batch = trainer._inputs.convert(samples.take(rows[: max(chosen, 1)]), shape=shape)
            return replace(batch, samples=chosen)

        def tasks() -> Iterator[Callable[[], Batch]]:
            for position in range((self.last - first) * self.per_update):
                ahead = position - self.trained
                yield partial(take, *order.choose(ahead))

        with contextlib.closing(prefetched(tasks(), options.prefetch)) as batches:
            for number, batch in enumerate(batches, 1):
                yield batch
                step, rest = divmod(number, self.per_update)
                if rest == 0 and order.ends_epoch(first + step - self.begin):
                    yield None

    def _batches_of_iterable(self) -> Iterator[Batch | None]:
        """Yields the batches of each epoch, and ``None`` at its end."""
        options, trainer = self.options, self.trainer
        end = object()
        done, length, first = trainer.step_count - self.begin, self._length(), 0
        self.skipped = done
        if length and (trainer.trains_smaller_batches or self.per_update == 1):
            first, self.skipped = divmod(done, -(-length // self.per_update))
        epochs = itertools.count(first) if options.steps is not None else range(first, options.epochs)
        for epoch in epochs:
            iterator = iter(iterable_of(self.data, epoch))

            def take(iterator: Iterator[Any] = iterator) -> Batch | None:
                value = next(iterator, end)
                return None if value is end else trainer._inputs.convert(value, copy=options.prefetch > 0)

            count = 0
            with contextlib.closing(prefetched(itertools.repeat(take), options.prefetch)) as batches:
                for batch in itertools.takewhile(lambda batch: batch is not None, batches):
                    count += 1
                    yield batch
            if count == 0:
                raise ValueError(
                    f"epoch {epoch + 1} has no batches; a generator can be read once: pass a function that returns a new one, such as "
                    "fit(lambda epoch: batches())"
                )
            yield None

    def _train(self, batch: Batch) -> None:
        if self.skipped:  # This batch was trained before the checkpoint.
            self.accumulated = (self.accumulated + 1) % self.per_update
            self.skipped -= self.accumulated == 0
            return
        trainer = self.trainer
        if self.options.learning_rate and self.accumulated == 0:
            trainer.learning_rate = float(self.options.learning_rate(trainer.step_count + 1))
        result = trainer._train(batch)
        self.trained += 1
        self.accumulated = 0 if result.updated else self.accumulated + 1
        self.last_trained = batch
        if result.updated:
            self._after_update(result)

    def _after_update(self, result: Step) -> None:
        options = self.options
        self.history.steps.append(result)
        if options.on_step:
            options.on_step(result)
        if options.validate_every and result.step % options.validate_every == 0:
            self._validate()
        if options.save_every and result.step % options.save_every == 0:
            self._save()

    def _end_epoch(self) -> None:
        """Completes an update whose batches the epoch has not filled, so that its loss is the mean over the samples that are there."""
        if self.accumulated and self.trainer.trains_smaller_batches:
            if self.skipped:
                self.skipped, self.accumulated = self.skipped - 1, 0
                return
            while self.accumulated:
                self._train(replace(self.last_trained, samples=0))
        if not self.skipped and not self.options.validate_every:
            self._validate()

    def _validate(self) -> None:
        trainer, options = self.trainer, self.options
        if options.validation is None or self.validated == trainer.step_count:
            return
        self.validated = trainer.step_count
        found = trainer._validate(options.validation, options.metrics)
        self.history.evaluations.append(found)
        if options.on_validation:
            options.on_validation(found)
        if found.is_best and options.keep_best and options.save is not None:
            self.saved = trainer.step_count  # The best checkpoint is the latest, too.
            self._notify(Path(options.save) / "best")
        self.history.stopped_early = trainer._stops_early()

    def _save(self) -> None:
        if self.options.save is None or self.saved == self.trainer.step_count:
            return
        self.trainer.save(self.options.save)
        self.saved = self.trainer.step_count
        self._notify(Path(self.options.save))

    def _notify(self, folder: Path) -> None:
        if self.options.on_checkpoint:
            self.options.on_checkpoint(folder)
