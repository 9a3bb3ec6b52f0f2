# RUN: %python %s %t
"""Programs read folders of JPEG and PNG images: with the bits of Pillow and torchvision, independent of threads, kills and ranks, with classes named
by the folders, and with one message for each invalid file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from launcher import launcher
from models import EXAMPLES
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from program import MTC, Program, own_folder, read_metrics, run
from safetensors import safe_open

PACKAGE = Path(__file__).resolve().parent.parent.parent.parent / "python"
folder = own_folder()
SIDE, CLASSES, BATCH = 20, 10, 32


def compiled(name, channels, *more, shape=None):
    shape = shape or [channels, SIDE, SIDE]
    elements = int(np.prod(shape))
    graph = helper.make_graph(
        [helper.make_node("Flatten", ["image"], ["flat"]), helper.make_node("Gemm", ["flat", "weight", "bias"], ["y"])],
        "photos",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", *shape])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CLASSES])],
        [numpy_helper.from_array(np.zeros((elements, CLASSES), np.float32), "weight"),
         numpy_helper.from_array(np.zeros(CLASSES, np.float32), "bias")],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / f"{name}.onnx")
    words = ("--dim", f"batch={BATCH}", "--loss", "cross-entropy", "--lr", 0.003, "--threads", 1)
    run([MTC, "compile", f"{name}.onnx", *words, *more, "-o", folder / name], folder)
    return folder / name


def program(path, *words, **keywords):
    result = Program(path, {}, **keywords)
    result.data_flags = list(words)
    return result


def converted(source, *words):
    """Returns the flags of the arrays that `python -m mtc.data` makes of a folder, which has the bits of Pillow and torchvision."""
    target = folder / f"{source}-{len(list(folder.iterdir()))}"
    command = [sys.executable, "-m", "mtc.data", source, "--size", SIDE, *words, "--quiet", "-o", target]
    subprocess.run(list(map(str, command)), cwd=folder, env={**os.environ, "PYTHONPATH": str(PACKAGE)}, check=True)
    return ["--data", f"image={target}/train/image.npy", "--data", f"labels={target}/train/labels.npy"]


# Digits as JPEG files of several sizes and kinds, a third of them in color.
x, labels = np.load(EXAMPLES / "digits/train_x.npy")[:600], np.load(EXAMPLES / "digits/train_labels.npy")[:600]
random = np.random.default_rng(0)
for i, (image, label) in enumerate(zip(np.round(x * 240).reshape(-1, 8, 8), labels, strict=True)):
    target = folder / f"photos/{label}/{i:04}.jpg"
    target.parent.mkdir(parents=True, exist_ok=True)
    picture = Image.fromarray(np.kron(image, np.ones(random.integers(3, 6, 2))).astype(np.uint8))
    if i % 3 == 0:
        tint = random.uniform(0.5, 1, 3)
        picture = Image.fromarray((np.asarray(picture)[..., None] * tint).astype(np.uint8))
    picture.save(target, quality=90, progressive=i % 5 == 0, subsampling=i % 3)
# Other forms of images, each as Pillow's convert("RGB") reads it.
color = Image.fromarray(random.integers(0, 256, (31, 27, 3), dtype=np.uint8))
alpha = color.copy()
alpha.putalpha(Image.fromarray(random.integers(0, 256, (31, 27), dtype=np.uint8)))
for name, picture in (("rgb.png", color), ("rgba.png", alpha), ("gray-alpha.png", alpha.convert("LA")), ("palette.png", color.quantize(16)),
                      ("bits.png", color.convert("1")), ("cmyk.jpg", color.convert("CMYK")), ("upper.JPEG", color)):  # fmt: skip
    picture.save(folder / "photos/7" / name)
color.quantize(8).save(folder / "photos/7/palette-alpha.png", transparency=3)
color.save(folder / "photos/7/turned.jpg", exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0")
(folder / "photos/7/inner").mkdir()
color.save(folder / "photos/7/inner/disguised.jpg", format="PNG")
(folder / "photos/notes.txt").write_text("not an image")
(folder / "photos/.hidden").mkdir()

gray, rgb, last = compiled("gray", 1), compiled("rgb", 3), compiled("last", 3, shape=[SIDE, SIDE, 3])
scale = ("--scale", "image=1/255")
for path, words, augment in (
    (gray, ("--grayscale",), ()),
    (rgb, (), ()),
    (rgb, ("--resize", 26), ("--augment", "image=resize:26")),
    (last, ("--channels-last",), ()),
):
    arrays = program(path, *converted("photos", *words)).exported("arrays", "--epochs", 2, *scale)
    assert program(path, "--data", "image=photos").exported("images", "--epochs", 2, *scale, *augment) == arrays, (path, words)

# Images become a classifier from the command line alone. The order of classes is that of their folders, and validation data may lack some.
photos = program(gray, "--data", "image=photos")
(folder / "validation").mkdir()
for name in ("3", "8"):
    os.symlink(folder / "photos" / name, folder / "validation" / name)
done = photos.run("--epochs", 10, *scale, "--validate", "image=validation", "--metrics", "run.jsonl", "--save", "saved")
assert "note: 10 classes, numbered in this order: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9" in done.stderr and "pixels" not in done.stderr, done.stderr
accuracies = [line["validation_accuracy"] for line in read_metrics(folder / "run.jsonl") if "validation_accuracy" in line]
assert accuracies[-1] > 0.9, accuracies
assert "pixels are 0 to 255, and --scale INPUT=1/255" in photos.run("--steps", 1).stderr
evaluated = program(gray, "--data", "image=validation").run("--evaluate", "--resume", "saved").stdout
assert float(evaluated.split("accuracy ")[1].split()[0]) == round(accuracies[-1], 6), (evaluated, accuracies[-1])
photos.run("--outputs", "outputs.safetensors", "--resume", "saved")
with safe_open(folder / "outputs.safetensors", "np") as outputs:
    assert json.loads(outputs.metadata()["classes"]) == [str(i) for i in range(10)] and outputs.get_tensor("y").shape == (len(labels) + 10, 10)
flat = program(gray, "--data", "image=photos/3")
assert flat.outputs("flat", "--resume", "saved")["y"].shape == (int((labels == 3).sum()), 10)
assert "--data labels=FILE is missing" in flat.run("--steps", 1, code=1).stderr
unnamed = program(gray, "--data", "photos").exported("unnamed", "--steps", 2)
assert unnamed == photos.exported("named", "--steps", 2), "the only input of images needs no name"
assert photos.run("--steps", 2, "--balance-classes").stdout

# A folder without a name is refused if several inputs accept images.
graph = helper.make_graph(
    [helper.make_node("Concat", ["left", "right"], ["both"], axis=3), helper.make_node("Flatten", ["both"], ["flat"]),
     helper.make_node("Gemm", ["flat", "weight"], ["y"])],
    "pair",
    [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 1, SIDE, SIDE]) for name in ("left", "right")],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", CLASSES])],
    [numpy_helper.from_array(np.zeros((2 * SIDE * SIDE, CLASSES), np.float32), "weight")],
)  # fmt: skip
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), folder / "pair.onnx")
run([MTC, "compile", "pair.onnx", "--dim", f"batch={BATCH}", "--loss", "cross-entropy", "-o", folder / "pair"], folder)
message = program(folder / "pair", "--data", "photos").run("--steps", 1, code=1).stderr
assert "--data photos: several inputs accept images: left, right; expected one of them, such as left=photos" in message, message

# Threads, kills, ranks, and other seeds.
augment = (*scale, "--augment", "image=resize:24,crop:2,flip,brightness:0.2,contrast:0.2,saturation:0.2,hue:0.1", "--seed", 3)
colors = program(rgb, "--data", "image=photos")
whole = colors.exported("whole", "--epochs", 3, *augment)
for threads in (1, 3):
    assert colors.exported("threads", "--epochs", 3, *augment, "--read-threads", threads) == whole, threads
colors.run("--steps", 11, *augment, "--save", "first")
assert colors.exported("resumed", "--epochs", 3, "--resume", "first") == whole
colors.run_with_kills("--epochs", 40, *augment, kills=2, after=(0.1, 0.3))
assert colors.exported("killed", "--resume", "checkpoint") == colors.exported("long", "--epochs", 40, *augment)
assert colors.exported("other", "--epochs", 3, *augment[:-1], 4) != whole
cropped = ("--augment", "image=resized-crop:0.3,flip")
assert colors.exported("cropped", "--epochs", 2, *scale, *cropped) != colors.exported("centered", "--epochs", 2, *scale)
one = program(compiled("one-rank", 3, "--accumulate", 2), "--data", "image=photos")
two = program(compiled("two-ranks", 3, "--ranks", 2), "--data", "image=photos", runner=launcher(2))
assert one.exported("one", "--epochs", 1, *augment) == two.exported("two", "--epochs", 1, *augment)

# Only programs that may read images contain the decoders.
run([MTC, "compile", EXAMPLES / "digits/digits.onnx", "--dim", "batch=8", "-o", folder / "digits"], folder)
marks = [b"Premature end of JPEG file" in path.read_bytes() for path in (gray, folder / "digits")]
assert marks == [True, False], marks


# Errors name the file.
def refused(name, content=None):
    """Returns the message about a folder whose class 3 has one more file."""
    copy = folder / f"bad-{name}"
    copy.mkdir(exist_ok=True)
    for i in range(10):
        if i != 3 or content is None:
            os.symlink(folder / f"photos/{i}", copy / f"{i}")
    if content is not None:
        (copy / "3").mkdir()
        (copy / "3" / name).write_bytes(content)
    return program(gray, "--data", f"image={copy.name}").run("--epochs", 1, code=1).stderr


def bytes_of(name):
    return (folder / "photos" / name).read_bytes()


jpeg, png = bytes_of("7/upper.JPEG"), bytes_of("7/rgb.png")
for name, content, expected in (
    ("truncated.jpg", jpeg[: len(jpeg) // 2], "Premature end of JPEG file; expected a complete image"),
    ("truncated.png", png[: len(png) // 2], "the file ends early"),
    ("damaged.png", png[:60] + b"xxxx" + png[64:], "IDAT: "),
    ("empty.jpg", b"", "is empty"),
    ("text.jpg", b"text", "is neither JPEG nor PNG"),
):
    message = refused(name, content)
    assert f"bad-{name}/3/{name}: cannot be decoded: " in message and expected in message, message
assert "bad-a.webp/3/a.webp: has a format that programs do not read; expected .jpg or .png" in refused("a.webp", b"")
assert "bad-a.txt/3: has no .jpg or .png images" in refused("a.txt", b"")
(folder / "bad-more/eleven").mkdir(parents=True)
color.save(folder / "bad-more/eleven/a.png")
assert "has 11 classes; the loss takes 0 to 9" in refused("more")
(folder / "validation/eleven").mkdir()
message = photos.run("--steps", 1, "--validate", "image=validation", code=1).stderr
assert "validation/eleven: is no class of the training data, whose classes are 0, 1, 2" in message, message
