"""Exports models of transformers from their configuration, without weights."""

from __future__ import annotations

import difflib
import json
import math
import warnings
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import CONFIG_MAPPING, PreTrainedConfig, PreTrainedModel

from mtc import facts
from mtc._export_options import TASKS, TEXT, Options, Task
from mtc._weightless import empty_weights
from mtc.errors import ExportError
from mtc.exporter import export as export_module

EXAMPLE = {"batch": 2, "sequence": 16, "target": 8, "choices": 3}  # sizes of the example inputs
FLAGS = {"batch": 1, "sequence": 512, "target": 128, "choices": 4}  # sizes in the suggested command
POSITIONS = ("start_positions", "end_positions")
TOKENS = (*TEXT, "token_type_ids", "position_ids", "decoder_input_ids", "decoder_attention_mask")


def export(options: Options) -> str:
    """Writes the file, and returns a summary of several lines.

    Raises:
        ExportError: If the configuration or an option is invalid, or if the model cannot be exported.
    """
    if not options.output.absolute().parent.is_dir():
        raise ExportError(f"'{options.output.absolute().parent}': no such folder")
    config = _configuration(options)
    task = options.task or _task_of(config, options.hf)
    model = _model(config, TASKS[task], options, task)
    inputs, axes = _inputs(config, TASKS[task], options)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
        found = export_module(
            model,
            inputs,
            options.output,
            dynamic_axes={name: {axis: dim for axis, dim in dims.items() if axis} for name, dims in axes.items()},
            dynamic_batch="batch" not in options.sizes,
            train=options.train,
            progress=False if options.quiet else None,
        )
    return _summary(model, found, inputs, axes, task, options)


def _configuration(options: Options) -> PreTrainedConfig:
    """Reads the configuration, and applies the settings of the command line."""
    path = options.hf / "config.json" if options.hf.is_dir() else options.hf
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        where = f"'{options.hf}': the folder has no config.json" if options.hf.is_dir() else f"'{path}': no such file or folder"
        raise ExportError(f"{where}. For a model of the Hub, download its config.json.") from None
    except (OSError, ValueError) as error:
        raise ExportError(f"'{path}': expected a JSON file: {error}") from None
    kind = content.get("model_type") if isinstance(content, dict) else None
    if not isinstance(kind, str):
        raise ExportError(f"'{path}': no model_type; expected a configuration of transformers, such as {{\"model_type\": \"llama\", ...}}")
    if kind not in CONFIG_MAPPING:
        close = difflib.get_close_matches(kind, [*CONFIG_MAPPING.keys()], 1)
        remedy = f"; did you mean '{close[0]}'?" if close else "."
        if "auto_map" in content:
            remedy = ". Its code is not a part of transformers: create the module in `with mtc.empty_weights():`, and call mtc.export."
        raise ExportError(f"'{path}': model_type '{kind}' is unknown to transformers {transformers.__version__}{remedy}")
    if content.get("quantization_config") and "quantization_config" not in options.settings:
        raise ExportError(
            f"'{path}': quantization_config: the weights are quantized. Use the configuration of the original model, or pass "
            "--set quantization_config=null."
        )
    if options.labels:
        content |= {"num_labels": options.labels, "id2label": None, "label2id": None}
    for key, value in options.settings.items():
        _set(content, CONFIG_MAPPING[kind](), key, value)
    try:
        config = CONFIG_MAPPING[kind].from_dict({key: value for key, value in content.items() if value is not None})
    except Exception as error:
        raise ExportError(f"'{path}': transformers rejects the configuration: {error}") from error
    for each in (config, config.get_text_config()):
        if hasattr(each, "use_cache"):
            each.use_cache = False
    return config


def _set(content: dict[str, Any], default: Any, key: str, value: Any) -> None:
    """Replaces a value of a configuration, which may be inside of another one."""
    name, dot, rest = key.partition(".")
    if not hasattr(default, name):
        known = [each for each in vars(default) if not each.startswith("_")]
        close = difflib.get_close_matches(name, known, 1)
        raise ExportError(f"--set {key}: {type(default).__name__} has no '{name}'" + (f"; did you mean '{close[0]}'?" if close else "."))
    if not dot:
        content[name] = value
    else:
        _set(content.setdefault(name, {}), getattr(default, name), rest, value)


def _supported(config: PreTrainedConfig) -> dict[str, str]:
    """Returns the names of the classes of a configuration by task."""
    autos = {name: getattr(transformers, task.auto)._model_mapping for name, task in TASKS.items()}
    return {name: auto[type(config)].__name__ for name, auto in autos.items() if type(config) in auto}


def _task_of(config: PreTrainedConfig, path: Path) -> str:
    architecture = (config.architectures or [""])[0]
    supported = _supported(config)
    for name, model in supported.items():
        if model == architecture:
            return name
    raise ExportError(
        f"'{path}': {f'architecture {architecture!r} belongs to no task' if architecture else 'no architectures'}; pass --task: "
        f"{', '.join(supported) or 'none of the tasks supports this model'}"
    )


def _model(config: PreTrainedConfig, task: Task, options: Options, name: str) -> PreTrainedModel:
    auto = getattr(transformers, task.auto)
    if type(config) not in auto._model_mapping:
        raise ExportError(
            f"task '{name}': transformers has no such model of type '{config.model_type}'; expected one of: "
            f"{', '.join(_supported(config)) or 'no task supports it'}"
        )
    choices = {"experts_implementation": "batched_mm"} if auto._model_mapping[type(config)]._can_set_experts_implementation() else {}
    try:
        with empty_weights():
            return auto.from_config(config, dtype=getattr(torch, options.dtype), **choices)
    except Exception as error:
        raise ExportError(f"'{options.hf}': transformers cannot create the model: {error}") from error


def _inputs(config: PreTrainedConfig, task: Task, options: Options) -> tuple[dict[str, torch.Tensor], dict[str, dict[int, str]]]:
    """Returns example inputs, and the names of their symbolic dimensions."""
    inputs: dict[str, torch.Tensor] = {}
    axes: dict[str, dict[int, str]] = {}
    image = getattr(config, "image_size", None) or 224
    height, width = image if isinstance(image, list | tuple) else (image, image)
    longest = getattr(config.get_text_config(), "max_position_embeddings", None) or EXAMPLE["sequence"]
    sizes = EXAMPLE | {"channels": getattr(config, "num_channels", 3), "height": height, "width": width}
    sizes["sequence"] = min(sizes["sequence"], longest)
    used = set()
    for name in options.inputs or task.inputs:
        dims = _dimensions(name, task)
        used |= {*dims}
        shape = [options.sizes.get(dim, sizes[dim]) for dim in dims]
        inputs[name] = torch.zeros(shape, dtype=torch.float32 if name == "pixel_values" else torch.int64)
        axes[name] = {axis: dim for axis, dim in enumerate(dims) if dim in EXAMPLE and dim not in options.sizes}
    if unknown := [name for name in options.sizes if name not in used]:
        raise ExportError(f"--dim {unknown[0]}: no input has such a dimension; expected one of: {', '.join(sorted(used))}")
    return inputs, axes


def _dimensions(name: str, task: Task) -> tuple[str, ...]:
    if name == "labels" and task.labels:
        return task.labels
    if name in POSITIONS and not task.labels:
        return ("batch",)
    if name == "pixel_values" and "pixel_values" in task.inputs:
        return "batch", "channels", "height", "width"
    if name in TOKENS and "input_ids" in task.inputs:
        choices = ("choices",) if task.auto == "AutoModelForMultipleChoice" else ()
        return "batch", *choices, "target" if name.startswith("decoder_") else "sequence"
    expected = dict.fromkeys((*task.inputs, *(TOKENS if "input_ids" in task.inputs else ()), *(("labels",) if task.labels else ())))
    raise ExportError(f"--inputs: unknown input '{name}'; expected some of: {', '.join(expected)}")


def _summary(
    model: PreTrainedModel,
    found: facts.ModuleFacts,
    inputs: dict[str, torch.Tensor],
    axes: dict[str, dict[int, str]],
    task: str,
    options: Options,
) -> str:
    count = sum(math.prod(parameter.shape) for parameter in found.parameters)
    shown = [
        f"{name} [{', '.join(axes[name].get(axis, str(size)) for axis, size in enumerate(tensor.shape))}]"
        for name, tensor in inputs.items()
    ]
    dims = dict.fromkeys(dim for named in axes.values() for dim in named.values())
    loss = "output" if {"labels", *POSITIONS} & {*inputs} else TASKS[task].loss
    if task == "sequence-classification" and model.config.num_labels == 1:
        loss = "mse"
    has_weights = options.hf.is_dir() and any(options.hf.glob("*.safetensors"))
    weights = f"--weights {options.hf if has_weights else 'DIR'}"
    command = ["mtc compile", str(options.output), weights, *(f"--dim {dim}={FLAGS[dim]}" for dim in dims), f"--loss {loss} -o train"]
    return "\n".join(
        (
            f"{options.output}: {type(model).__name__}, {count:,} parameters in {len(found.parameters)} tensors, without weights",
            f"inputs: {', '.join(shown)}",
            f"next: {' '.join(command)}",
            "      ./train --data ...",
        )
    )
