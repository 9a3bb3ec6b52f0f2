"""What :class:`mtc.Trainer` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
        loss: The loss before the update, the mean over the samples of its batches.
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

    @property
    def metrics(self) -> dict[str, float]:
        """The numbers that the step has, under the names of ``--metrics`` and TensorBoard, for loggers."""
        named = {"loss": self.loss, "lr": self.learning_rate, "grad_norm": self.gradient_norm, "loss_scale": self.loss_scale}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True)
class Evaluation:
    """The metrics of a data set.

    Attributes:
        samples: Number of evaluated samples.
        metrics: Values by name, such as ``"loss"`` and ``"accuracy"``, as programs print them with ``--evaluate``, and those of the
            user's functions.
        step: Number of updates before the evaluation.
        is_best: Whether it is the best validation of a run so far.
    """

    samples: int
    metrics: dict[str, float]
    step: int = 0
    is_best: bool = False

    @property
    def loss(self) -> float:
        """The mean loss."""
        return self.metrics["loss"]

    @property
    def accuracy(self) -> float | None:
        """The fraction of correctly classified targets; ``None`` for losses that do not classify."""
        return self.metrics.get("accuracy")


@dataclass
class History:
    """The updates of :meth:`mtc.Trainer.fit` and its validations.

    Attributes:
        steps: One entry for each update.
        evaluations: One entry for each validation.
        stopped_early: Whether ``early_stop`` ended the training.
    """

    steps: list[Step] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    stopped_early: bool = False

    @property
    def losses(self) -> NDArray[np.float64]:
        """The loss of each update."""
        return np.array([step.loss for step in self.steps])

    @property
    def best(self) -> Evaluation | None:
        """The best validation; ``None`` if there was none."""
        return next((each for each in reversed(self.evaluations) if each.is_best), None)
