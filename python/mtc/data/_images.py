"""Images: folders with a subfolder for each class, and columns of encoded images."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtc.data import _arrays
from mtc.data._options import Options
from mtc.data._outputs import Output
from mtc.data._packages import require
from mtc.data._sources import Source
from mtc.data._writers import NpyWriter
from mtc.errors import DataError

EXTENSIONS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".ppm", ".webp", ".tif", ".tiff")
BATCH = 128  # images that are decoded before they are written


class ImageSource(Source):
    """A folder with a subfolder for each class, as torchvision's ImageFolder reads it: rows of a path and a class."""

    def __init__(self, folder: Path, classes: Sequence[str]) -> None:
        self._arrow = require("pyarrow", f"{folder}: a folder of images")
        found = [(path, name) for name in classes for path in sorted((folder / name).rglob("*"), key=_order) if path.suffix.lower() in EXTENSIONS]
        super().__init__([folder])
        self._paths, self._classes = [str(path) for path, _ in found], [name for _, name in found]
        self.rows = len(found)
        self.classes = {"class": list(classes)}
        self.schema = self._arrow.schema([("image", self._arrow.string()), ("class", self._arrow.string())])

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Any, float | None]]:
        for at in range(0, len(self._paths), BATCH):
            end = min(at + BATCH, len(self._paths))
            batch = self._arrow.record_batch([self._paths[at:end], self._classes[at:end]], schema=self.schema)
            yield batch.select(list(columns)), end / len(self._paths)


def _order(path: Path) -> tuple[str, str]:
    """Returns the key of torchvision's order: by folder, then by name."""
    return str(path.parent), path.name


def open_image_folder(folder: Path) -> ImageSource | None:
    """Opens a folder of images; None if none of its subfolders has images. Hidden subfolders are ignored.

    Raises:
        DataError: If only some subfolders have images: without the others, classes would have other numbers than in torchvision and in programs.
    """
    names = sorted(each.name for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))
    classes = [name for name in names if any(path.suffix.lower() in EXTENSIONS for path in (folder / name).rglob("*"))]
    if not classes:
        return None
    if missing := sorted(set(names) - set(classes)):
        raise DataError(f"{folder / missing[0]}: has no images; expected images of the class '{missing[0]}', or no such folder")
    return ImageSource(folder, classes)


def is_image(kind: Any) -> bool:
    """Returns whether a type has encoded images: bytes, or bytes and a path as in the package datasets."""
    t = _arrays.types()
    if t.is_struct(kind):
        return "bytes" in {kind.field(i).name for i in range(kind.num_fields)}
    return bool(t.is_binary(kind) or t.is_large_binary(kind))


class Images(Output):
    """Images as uint8 of one size: the shorter side is resized, and the center is cropped, as torchvision's Resize and CenterCrop do."""

    def __init__(self, name: str, column: str, options: Options) -> None:
        super().__init__(name, [column])
        self.dtype = np.dtype("uint8")
        self._pillow = require("PIL.Image", f"column '{column}': images")
        self._options = options
        self._size = options.size
        self._sizes: set[tuple[int, int]] = set()  # width and height of up to two images of different sizes
        self._workers = ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0)))

    def _open(self, value: Any) -> Any:
        """Opens an image, without decoding it."""
        content = value.get("bytes") or value.get("path") if isinstance(value, dict) else value
        return self._pillow.open(io.BytesIO(content) if isinstance(content, bytes) else content)

    def _size_of(self, value: Any) -> tuple[int, int] | None:
        """Returns width and height; None if the image is missing or its header is damaged."""
        try:
            with self._open(value) as image:
                return image.size  # type: ignore[no-any-return]
        except (OSError, AttributeError, ValueError, self._pillow.DecompressionBombError):
            return None

    def missing(self, batch: Any) -> dict[str, NDArray[np.bool_]]:
        sizes = list(self._workers.map(self._size_of, batch.column(self.columns[0]).to_pylist()))
        for size in sizes:
            if size is not None and len(self._sizes) < 2:
                self._sizes.add(size)
        return {self.columns[0]: np.array([size is None for size in sizes], bool)}

    def finish_scan(self) -> None:
        if self._size is not None:
            return
        if len(self._sizes) != 1:
            some = " and ".join(f"{width}x{height}" for width, height in sorted(self._sizes))
            raise DataError(f"column '{self.columns[0]}': has images of several sizes, such as {some}; "
                            "expected --size N, the model's input")  # fmt: skip
        width, height = self._sizes.pop()
        self._size = height, width

    def _decode(self, value: Any) -> NDArray[np.uint8]:
        """Returns an image as [height, width, channels]."""
        assert self._size is not None
        height, width = self._size
        try:
            with self._open(value) as image:
                image = image.convert("L" if self._options.is_grayscale else "RGB")
        except (OSError, ValueError, SyntaxError) as error:
            where = value.get("path") if isinstance(value, dict) else value if isinstance(value, str) else "an image"
            raise DataError(f"{where}: cannot be decoded: {error}; expected a complete image, or a folder without the file") from None
        if image.size != (width, height):
            image = image.resize(self._resized(*image.size), self._pillow.Resampling.BILINEAR)
            left, top = int(round((image.width - width) / 2.0)), int(round((image.height - height) / 2.0))
            image = image.crop((left, top, left + width, top + height))
        return np.asarray(image).reshape(height, width, -1)

    def _resized(self, width: int, height: int) -> tuple[int, int]:
        """Returns the width and height to which an image is resized, with the rounding of torchvision. They cover the crop."""
        assert self._size is not None
        short = min(width, height)
        needed = max(-(-self._size[1] * short // width), -(-self._size[0] * short // height))
        target = max(self._options.resize or min(self._size), needed)
        long = int(target * max(width, height) / short)
        resized = (target, long) if width <= height else (long, target)
        return max(resized[0], self._size[1]), max(resized[1], self._size[0])

    def open(self, folder: Path, rows: int) -> NpyWriter:
        assert self._size is not None
        channels = 1 if self._options.is_grayscale else 3
        shape = (*self._size, channels) if self._options.is_channels_last else (channels, *self._size)
        return NpyWriter(folder / self.file(), self.dtype, shape)

    def write(self, writer: NpyWriter, batch: Any, keep: NDArray[np.bool_]) -> None:
        values = batch.column(self.columns[0])
        for at in range(0, len(keep), BATCH):
            chosen = [value for value, is_kept in zip(values[at : at + BATCH].to_pylist(), keep[at : at + BATCH], strict=True) if is_kept]
            if chosen:
                images = np.stack(list(self._workers.map(self._decode, chosen)))
                writer.write(images if self._options.is_channels_last else images.transpose(0, 3, 1, 2))
