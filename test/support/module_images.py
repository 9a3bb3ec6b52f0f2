"""Tensor images for tests, as the text of an `onnx` stage and evaluated by numpy."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from program import MTC, run


@dataclass(frozen=True)
class Part:
    """A block of a variable, and the corresponding block of the image: slices of both, and the order of axes."""

    variable: tuple[slice, ...]
    image: tuple[slice, ...]
    order: tuple[int, ...]  # axis i of the image's block is this axis of the variable's block


@dataclass(frozen=True)
class Image:
    name: str
    shape: tuple[int, ...]
    parts: tuple[Part, ...] = ()  # empty: all elements in their order

    def of(self, value: np.ndarray, into: np.ndarray | None = None) -> np.ndarray:
        """Returns the image of a variable's value; if several variables share an image, it is added to `into`."""
        if not self.parts:
            return value.reshape(self.shape)
        made = np.zeros(self.shape, value.dtype) if into is None else into
        for part in self.parts:
            block = value[part.variable].transpose(part.order)
            made[part.image] = block.reshape(made[part.image].shape)
        return made

    def text(self, variable: tuple[int, ...]) -> str:
        """Returns the attribute for a variable of this shape."""

        def strides(shape):
            return [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]

        def start(slices, shape):
            return sum((s.start or 0) * stride for s, stride in zip(slices, strides(shape)))

        parts = []
        for part in self.parts:
            extents = np.empty(variable, np.bool_)[part.variable].transpose(part.order).shape
            of_variable = [strides(variable)[axis] for axis in part.order]
            # Axes of extent 1 that the image's block lacks may have any position.
            of_image = strides(self.shape)
            of_image = [1] * (len(extents) - len(of_image)) + of_image
            parts.append(
                f"<variable = {start(part.variable, variable)}, image = {start(part.image, self.shape)}, "
                f"extents = {list(extents)}, variable_strides = {of_variable}, image_strides = {of_image}>"
            )
        listed = f", parts = [{', '.join(parts)}]" if parts else ""
        return f'#mtc.tensor_image<"{self.name}", shape = {list(self.shape)}{listed}>'


def everything(rank: int) -> tuple[slice, ...]:
    return (slice(None),) * rank


def transposed(name: str, shape: tuple[int, ...]) -> Image:
    """Returns the image of a transposed matrix."""
    return Image(name, shape[::-1], (Part(everything(2), everything(2), (1, 0)),))


def stage_with(
    model: Path,
    folder: Path,
    flags: tuple,
    module: dict[str, list[Image]],
    file: dict[str, list[Image]] | None = None,
    buffers: str = "",
) -> Path:
    """Returns the model's `onnx` stage with these images of initializers, and `lines` at the start of its graph."""
    path = folder / f"{model.stem}.mlir"
    run([MTC, "compile", model, *flags, "--emit=onnx", "-o", path], folder)
    lines = path.read_text().splitlines()
    known = set()
    for number, line in enumerate(lines):
        found = re.search(r'onnx\.initializer "([^"]+)" \{(.*)\} : tensor<([\dx]*)x?\w+>', line)
        if not found:
            continue
        name, attributes = found[1], found[2]
        shape = tuple(int(extent) for extent in found[3].split("x") if extent)
        known.add(name)
        attributes = re.sub(r"module_images = \[\](, )?", "", attributes)
        for key, images in (("module_images", module), ("file_images", file or {})):
            if name in images:
                attributes += f", {key} = [{', '.join(image.text(shape) for image in images[name])}]"
        lines[number] = line[: found.start(2)] + attributes + line[found.end(2) :]
        if buffers:
            lines[number] = f"{buffers}\n{lines[number]}"
            buffers = ""
    assert known >= set(module) | set(file or {}), (known, module, file)
    path.write_text("\n".join(lines) + "\n")
    return path
