"""Callbacks of `mtc.Trainer.fit` that log to Weights & Biases and to MLflow: `trainer.fit(data, **wandb_callbacks(project="digits"))`."""

from collections.abc import Callable
from typing import Any


def _named(prefix: str, metrics: dict[str, float]) -> dict[str, float]:
    return {f"{prefix}/{name}": value for name, value in metrics.items()}


def wandb_callbacks(**options: Any) -> dict[str, Callable]:
    """Logs to a new run of Weights & Biases; `options` are those of `wandb.init`."""
    import wandb

    run = wandb.init(**options)
    return {
        "on_step": lambda step: run.log(_named("train", step.metrics), step=step.step),
        "on_validation": lambda found: run.log(_named("validation", found.metrics), step=found.step),
    }


def mlflow_callbacks() -> dict[str, Callable]:
    """Logs to the active run of MLflow, with each checkpoint as an artifact."""
    import mlflow

    return {
        "on_step": lambda step: mlflow.log_metrics(_named("train", step.metrics), step=step.step),
        "on_validation": lambda found: mlflow.log_metrics(_named("validation", found.metrics), step=found.step),
        "on_checkpoint": lambda folder: mlflow.log_artifacts(str(folder)),
    }
