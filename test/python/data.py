# RUN: %python %s %t
"""`python -m mtc.data` converts tables and text: values, splits, classes, missing values, statistics, lengths, streams; equal bytes for equal
inputs; memory that does not grow with the file; one message for each invalid input."""

import contextlib
import csv
import gzip
import io
import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from PIL import Image
from program import own_folder
from safetensors.numpy import load_file
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors

PACKAGE = Path(__file__).resolve().parent.parent.parent / "python"
sys.path.insert(0, str(PACKAGE))
import mtc.data  # noqa: E402
from mtc.data.__main__ import main  # noqa: E402
from mtc.data._split import random_keys  # noqa: E402

folder = own_folder()


def run(*words, code: int = 0) -> str:
    """Runs the command in this process and returns what it prints."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            found = main([str(word) for word in words])
        except SystemExit as error:
            found = error.code
    assert found == code, f"{words}\n{found}\n{out.getvalue()}\n{err.getvalue()}"
    return out.getvalue() if code == 0 else err.getvalue()


def convert(*words) -> dict[str, np.ndarray]:
    """Converts to the folder `out` and returns its arrays by PART/NAME."""
    run(*words, "-o", folder / "out", "--quiet")
    return arrays()


def arrays() -> dict[str, np.ndarray]:
    root = folder / "out"
    found = {str(f.relative_to(root).with_suffix("")): np.load(f) for f in root.rglob("*.npy")}
    return found | {str(f.relative_to(root).with_suffix("")): load_file(f) for f in root.rglob("*.safetensors")}


def refused(*words, expected: str) -> None:
    message = run(*words, "-o", folder / "refused", code=1)
    assert expected in message, f"{words}\nno '{expected}' in\n{message}"
    assert message.count("\n") == 1 and not (folder / "refused").exists() and not (folder / "refused.partial").exists(), message


def content(root: Path) -> dict[str, bytes]:
    return {str(f.relative_to(root)): f.read_bytes() for f in sorted(root.rglob("*")) if f.is_file()}


# A table in each format.
random = np.random.default_rng(0)
ROWS = 300
kinds = [("cat", "dog", "emu")[min(i % 5, 2)] for i in range(ROWS)]  # 60, 60 and 180
table = pa.table({
    "a": random.normal(3, 2, ROWS), "b": random.integers(0, 200, ROWS), "flag": random.random(ROWS) < 0.5, "kind": kinds,
    "ids": [random.integers(0, 50, i % 7).tolist() for i in range(ROWS)], "vector": random.normal(size=(ROWS, 4)).astype(np.float32).tolist(),
})  # fmt: skip
pa.parquet.write_table(table, folder / "t.parquet", row_group_size=64)
pa.feather.write_feather(table, folder / "t.feather")
with pa.OSFile(str(folder / "t.arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
    stream.write_table(table, max_chunksize=50)
(folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
flat = table.drop_columns(["ids", "vector"])
with (folder / "t.csv").open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(flat.column_names)
    writer.writerows([*row.values()] for row in flat.to_pylist())
(folder / "t.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes()))
for name in ("t.parquet", "t.feather", "t.arrow", "t.jsonl", "t.csv", "t.csv.gz"):
    found = convert(folder / name)
    assert found["train/a"].dtype == np.float32 and np.array_equal(found["train/a"], np.float32(table["a"].to_numpy())), name
    assert found["train/b"].dtype == np.uint8 and np.array_equal(found["train/b"], table["b"].to_numpy()), name
    assert found["train/kind"].tolist() == [("cat", "dog", "emu").index(kind) for kind in kinds], name
    if "csv" not in name:
        assert found["train/flag"].dtype == bool and found["train/vector"].shape == (ROWS, 4), name
        ragged = found["train/ids"]
        rows = [ragged["values"][a:b].tolist() for a, b in zip(ragged["offsets"][:-1], ragged["offsets"][1:], strict=True)]
        assert rows == table["ids"].to_pylist(), name

# Splits are stratified, complete, and depend on the seed alone.
words = (folder / "t.parquet", "--label", "kind", "--column", "x=a,b", "--validation", 0.25)
found = convert(*words)
assert np.bincount(found["validation/labels"]).tolist() == [15, 15, 45] and len(found["train/x"]) == 225
both = np.concatenate([found["train/x"], found["validation/x"]])
whole = np.stack([np.float32(table["a"].to_numpy()), table["b"].to_numpy()], 1).astype(np.float32)
assert np.array_equal(both[np.lexsort(both.T)], whole[np.lexsort(whole.T)])
first = content(folder / "out")
convert(*words)
assert content(folder / "out") == first, "equal inputs give other bytes"
convert(*words, "--seed", 1)
assert content(folder / "out") != first
classes = json.loads((folder / "out/classes.json").read_text())["labels"]
assert classes["classes"] == ["cat", "dog", "emu"] and classes["validation"] == [15, 15, 45], classes
assert [hex(key) for key in random_keys(2, 0)] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4"], "not SplitMix64"
assert "225 rows for training, 75 rows for validation (stratified by class)" in run(*words, "-o", folder / "out")

# The converted files in Python.
convert(folder / "t.parquet", "--validation", 0.25)
loaded = mtc.data.load(folder / "out", "validation")
rows = load_file(folder / "out/validation/ids.safetensors")
assert len(loaded["vector"]) == len(loaded["ids"]) == 75 and loaded["vector"].base is not None, "not mapped into memory"
assert np.array_equal(loaded["ids"].lengths, np.diff(rows["offsets"])) and np.array_equal(loaded["ids"][:75].padded(6, 0), loaded["ids"].padded(6, 0))
assert [row.tolist() for row in loaded["ids"][np.array([7, 3])].rows] == [
    rows["values"][rows["offsets"][row] : rows["offsets"][row + 1]].tolist() for row in (7, 3)
]
for wrong, expected in (((folder, "train"), "has no dataset.json"), ((folder / "out", "test"), "has no part 'test'; expected train or validation")):
    try:
        mtc.data.load(*wrong)
    except ValueError as error:
        assert expected in str(error), error
    else:
        raise AssertionError(f"{wrong} is read")

# The sizes of the parts are rows for every table, also one of texts.
Tokenizer(models.WordLevel({"?": 0}, unk_token="?")).save(str(folder / "any.json"))
pa.parquet.write_table(pa.table({"text": ["a", "b", "c d"]}), folder / "texts.parquet")
texts = (folder / "texts.parquet", "--text", "text", "--stream", "--tokenizer", folder / "any.json", "-o", folder / "out")
assert "out: 3 rows for training\n" in run(*texts)

try:
    mtc.data.load(folder / "out")
except ValueError as error:
    assert "input_ids is a stream of tokens" in str(error), error
else:
    raise AssertionError("a stream is read")

# Validation files have the classes and statistics of the training data.
pa.parquet.write_table(table.slice(0, 100), folder / "v.parquet")
found = convert(folder / "t.parquet", "--label", "kind", "--column", "x=a", "--normalize", "a", "--validation", folder / "v.parquet")
a = table["a"].to_numpy()
assert np.allclose(found["train/x"][:, 0], (a - a.mean()) / a.std(), atol=1e-6) and len(found["validation/x"]) == 100
assert np.array_equal(found["validation/x"], found["train/x"][:100])
statistics = json.loads((folder / "out/statistics.json").read_text())["x"]["a"]
assert np.isclose(statistics["mean"], a.mean()) and np.isclose(statistics["std"], a.std())
# With a split, statistics are those of the training part.
found = convert(folder / "t.parquet", "--column", "x=a", "--normalize", "*", "--validation", 0.5)
assert abs(found["train/x"].mean()) < 1e-5 < abs(found["validation/x"].mean()) and abs(found["train/x"].std() - 1) < 1e-5

# Targets of a regression are normalized only by name, and are never replaced.
found = convert(folder / "t.parquet", "--column", "x=b", "--normalize", "*", "--label", "y=a")
assert np.array_equal(found["train/y"], np.float32(a)) and abs(found["train/x"].mean()) < 1e-5
found = convert(folder / "t.parquet", "--column", "x=b", "--normalize", "a", "--label", "y=a")
assert abs(found["train/y"].mean()) < 1e-5 < abs(found["train/x"].mean())

# Missing values.
(folder / "m.csv").write_text("a,n,kind\n1.5,1,x\n,2,y\n2.5,,x\n3.5,4,\n")
refused(folder / "m.csv", expected="m.csv: column 'a' has 1 missing values of 4, the first one in row 1; expected --missing drop, mean or zero")
refused(folder / "m.csv", "--missing", "zero", "--label", "kind", expected="column 'kind' has 1 missing values of 4, which cannot be replaced")
refused(folder / "m.csv", "--missing", "mean", "--label", "a", "--skip", "kind", expected="column 'a' has 1 missing values of 4, which cannot be replaced")
assert convert(folder / "m.csv", "--missing", "drop")["train/a"].tolist() == [1.5]
found = convert(folder / "m.csv", "--missing", "mean", "--skip", "kind")
assert found["train/a"].tolist() == [1.5, 2.5, 2.5, 3.5] and np.allclose(found["train/n"], [1, 2, 7 / 3, 4])
found = convert(folder / "m.csv", "--missing", "zero", "--skip", "kind")
assert found["train/a"].tolist() == [1.5, 0, 2.5, 3.5] and found["train/n"].dtype == np.uint8
# Missing strings are a class; without missing strings in the training data, they are refused.
found = convert(folder / "m.csv", "--missing", "zero", "--column", "animal=kind")
assert list(found) == ["train/animal"] and found["train/animal"].tolist() == [0, 1, 0, 2], found
assert json.loads((folder / "out/classes.json").read_text())["animal"]["classes"] == ["x", "y", None]
report = run(folder / "m.csv", "--missing", "zero", "-o", folder / "out")
assert "(replaced by 0): a 1, n 1\nMissing values (a class of their own): kind 1\n" in report and "(missing)" in report, report
(folder / "whole.csv").write_text("a,n,kind\n1.5,1,x\n2,2,y\n")
refused(folder / "whole.csv", "--missing", "zero", "--validation", folder / "m.csv", expected="column 'kind': a missing value is no class of the training data; expected x, y")
# Numbers with a stray string, which cannot be joined.
(folder / "stray.csv").write_text("a,b\n1,2\n?,3\n")
refused(folder / "stray.csv", "--column", "x=a,b", expected="column 'a' has type string ('?' in row 1); expected numbers, which can be joined. --column a=a makes an input of classes")

# Types of CSV columns follow from all rows: the first block has only integers.
(folder / "late.csv").write_text("a,b,c\n" + "1,2,\n" * 2_000_000 + "1,2.5,7\n")
found = convert(folder / "late.csv", "--missing", "zero")
assert found["train/b"][-1] == 2.5 and found["train/c"][-1] == 7 and found["train/a"].dtype == np.uint8
(folder / "plain.csv").write_text("1;2\n3;4\n")
assert convert(folder / "plain.csv", "--no-header", "--delimiter", ";", "--column", "x=*")["train/x"].tolist() == [[1, 2], [3, 4]]

# Several files, and folders of the package datasets.
(folder / "many").mkdir()
for i in range(3):
    pa.parquet.write_table(table.slice(100 * i, 100), folder / f"many/{i}.parquet")
whole = convert(folder / "t.parquet")
for value in ("many", "many/*.parquet"):
    found = convert(folder / value)
    assert all(np.array_equal(found[key], whole[key]) for key in whole if not isinstance(whole[key], dict))
for split in ("train", "test"):
    saved = folder / "saved" / split
    saved.mkdir(parents=True)
    rows = pa.table({"label": [1, 0] if split == "test" else [0, 1, 2], "v": [1.0] * (2 if split == "test" else 3)})
    with pa.OSFile(str(saved / "data-00000-of-00001.arrow"), "wb") as file, pa.ipc.new_stream(file, rows.schema) as stream:
        stream.write_table(rows)
    (saved / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
    (saved / "dataset_info.json").write_text(json.dumps({"features": {"label": {"names": ["neg", "pos", "none"], "_type": "ClassLabel"}}}))
(folder / "saved/dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
found = convert(folder / "saved", "--label", "label", "--validation", f"{folder}/saved:test")
assert found["train/labels"].tolist() == [0, 1, 2] and found["validation/labels"].tolist() == [1, 0]
assert json.loads((folder / "out/classes.json").read_text())["labels"]["classes"] == ["neg", "pos", "none"]

# Text: padding, truncation with special tokens, pairs, ragged rows, streams.
vocabulary = {chr(i): i for i in range(128)} | {"[CLS]": 128, "[SEP]": 129, "[PAD]": 130, "<|end|>": 131}
tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="?"))
tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
tokenizer.add_special_tokens(["[CLS]", "[SEP]", "[PAD]", "<|end|>"])
tokenizer.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 128), ("[SEP]", 129)])  # fmt: skip
tokenizer.save(str(folder / "tokenizer.json"))
texts = pa.table({"text": ["ab", "abcdefgh", ""], "other": ["x", "y", "z"], "label": [1, 0, 1]})
pa.parquet.write_table(texts, folder / "text.parquet")
words = (folder / "text.parquet", "--tokenizer", folder / "tokenizer.json", "--text")
found = convert(*words, "text", "--length", 5, "--label", "label", "--skip", "other")
C, S, P = 128, 129, 130
assert found["train/input_ids"].tolist() == [[C, 97, 98, S, P], [C, 97, 98, 99, S], [C, S, P, P, P]], found
assert found["train/attention_mask"].sum(1).tolist() == [4, 5, 2] and found["train/labels"].tolist() == [1, 0, 1]
assert "Lengths of 'input_ids': minimum 2, median 4, 95 % 10, maximum 10, padded and truncated to 5" in run(
    *words, "text", "--length", 5, "--skip", "other", "-o", folder / "out")  # fmt: skip
found = convert(*words, "text,other", "--length", 7)
assert found["train/token_type_ids"].tolist()[0] == [0, 0, 0, 0, 1, 1, 0] and found["train/input_ids"].tolist()[0] == [C, 97, 98, S, 120, S, P]
found = convert(*words, "text", "--skip", "other")["train/input_ids"]
assert found["offsets"].tolist() == [0, 4, 14, 16] and found["values"][:4].tolist() == [C, 97, 98, S]
convert(*words, "text", "--stream", "--end-token", "<|end|>", "--skip", "other,label")
tokens = np.fromfile(folder / "out/train/input_ids-0000.bin", "<u2")
assert np.frombuffer(tokens[:512].tobytes(), "<i4")[:3].tolist() == [20240520, 1, 13]
assert tokens[512:].tolist() == [97, 98, 131, *range(97, 105), 131, 131]
(folder / "c.txt").write_text("one line\nanother\n" * 100)
convert(folder / "c.txt", "--tokenizer", folder / "tokenizer.json", "--end-token", "<|end|>", "--validation", 0.2)
train, validation = (np.fromfile(folder / f"out/{part}/input_ids-0000.bin", "<u2")[512:] for part in ("train", "validation"))
assert bytes(np.concatenate([train, validation[:-1]]).astype(np.uint8)).decode() == (folder / "c.txt").read_text() and validation[-1] == 131
assert 0.15 < len(validation) / (len(train) + len(validation)) < 0.25

# Folders of images: classes by subfolder, resized and cropped, and columns of encoded images.
for i, kind in enumerate(("rose", "daisy", "rose", "tulip")):
    (folder / "flowers" / kind).mkdir(parents=True, exist_ok=True)
    picture = Image.fromarray(random.integers(0, 256, (20 + i, 30, 3), dtype=np.uint8))
    picture.save(folder / "flowers" / kind / f"{i}.{'png' if i % 2 else 'jpg'}")
refused(folder / "flowers", expected="column 'image': has images of several sizes, such as 30x2")
found = convert(folder / "flowers", "--size", "16x12", "--resize", 18, "--column", "pixels=image")
assert found["train/pixels"].shape == (4, 3, 16, 12) and found["train/labels"].tolist() == [0, 1, 1, 2], found
picture = Image.open(folder / "flowers/daisy/1.png")
expected = np.asarray(picture.resize((int(18 * 30 / 21), 18), Image.Resampling.BILINEAR))[1:17, 6:18]
assert np.array_equal(found["train/pixels"][0].transpose(1, 2, 0), expected)
last = convert(folder / "flowers", "--size", "16x12", "--resize", 18, "--channels-last")["train/image"]
assert np.array_equal(last, found["train/pixels"].transpose(0, 2, 3, 1))
assert convert(folder / "flowers", "--size", 8, "--grayscale")["train/image"].shape == (4, 1, 8, 8)
assert convert(folder / "flowers", "--size", 40)["train/image"].shape == (4, 3, 40, 40)
encoded = [{"bytes": path.read_bytes(), "path": path.name} for path in sorted((folder / "flowers").rglob("*.*"))]
pa.parquet.write_table(pa.table({"img": encoded, "label": [0, 1, 1, 2]}), folder / "images.parquet")
found = convert(folder / "images.parquet", "--size", "16x12", "--resize", 18, "--label", "label", "--column", "pixels=img")
assert np.array_equal(found["train/pixels"].transpose(0, 2, 3, 1), last) and found["train/labels"].tolist() == [0, 1, 1, 2]
(folder / "flowers/.hidden").mkdir()
(folder / "flowers/violet").mkdir()
refused(folder / "flowers", "--size", 8, expected="flowers/violet: has no images; expected images of the class 'violet'")
(folder / "flowers/violet").rmdir()
(folder / "flowers/rose/9.png").write_bytes(b"no image")
refused(folder / "flowers", "--size", 8, expected="column 'image' has 1 missing values of 5, which cannot be replaced, the first one in row 3")
assert len(convert(folder / "flowers", "--size", 8, "--missing", "drop")["train/image"]) == 4
(folder / "flowers/rose/9.png").write_bytes((folder / "flowers/daisy/1.png").read_bytes()[:-900])
refused(folder / "flowers", "--size", 8, expected="rose/9.png: cannot be decoded: ")
refused(folder / "flowers", "--size", 8, "--column", "x=path", expected="no column matches 'path'; the columns are image, class")

# A file of 120 MB is converted in memory that does not grow with it.
writer = None
for group in range(30):
    rows = pa.table({f"p{i}": random.normal(size=10_000) for i in range(50)})
    writer = writer or pa.parquet.ParquetWriter(folder / "big.parquet", rows.schema, compression="none")
    writer.write_table(rows)
writer.close()
size = (folder / "big.parquet").stat().st_size


def peak(*words) -> int:
    """Returns the peak memory in bytes of a conversion in its own process."""
    command = [sys.executable, "-m", "mtc.data", *map(str, words), "-o", str(folder / "out"), "--quiet"]
    program = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")  # fmt: skip
    environment = {"PYTHONPATH": str(PACKAGE), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", program, *command], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return int(done.stdout) << 10


small, large = peak(folder / "t.parquet", "--column", "x=a"), peak(folder / "big.parquet", "--column", "x=p*", "--normalize", "p*")
assert size > 110 << 20 and large - small < 100 << 20 and np.load(folder / "out/train/x.npy").shape == (300_000, 50), (size, small, large)
assert resource.getrusage(resource.RUSAGE_SELF)

# Errors.
t = folder / "t.parquet"
refused(folder / "none.csv", expected="none.csv: no such file or folder")
refused(folder / "*.xyz", expected="no file matches this pattern")
refused(folder / "tokenizer.json", expected="tokenizer.json: has an unknown format; expected .csv")
refused(t, folder / "t.csv", expected="the inputs have several formats (csv, parquet); expected one table")
refused(folder / "t.csv", folder / "m.csv", expected="m.csv: has columns a, n, kind; expected those of")
refused(t, "--column", "x=q*", expected="--column x=q*: no column matches 'q*'; the columns are a, b, flag")
refused(t, "--column", "x=a,kind", expected="--column x: column 'kind' has type string ('cat' in row 0); expected numbers")
refused(t, "--label", "species", expected="--label: no column matches 'species'")
refused(t, "--text", "kind", expected="--text: needs the tokenizer of the model; expected --tokenizer tokenizer.json")
refused(t, "--tokenizer", folder / "no.json", expected="no.json: no such file")
refused(t, "--tokenizer", folder / "t.csv", expected="t.csv: is no tokenizer.json")
refused(*words[:3], "--end-token", "<eos>", "--text", "text", "--stream", expected="--end-token <eos>: is no token of")
refused(*words[:3], expected="2 columns of text (text, other); choose one with --text COLUMN")
refused(t, "--label", "ids", "--skip", "a", expected="--label ids: has type list<element: int64>; expected strings or numbers")
refused(t, "--normalize", "kind", expected="--normalize kind: matches no column of numbers")
refused(t, "--label", "a=kind", expected="'a': two outputs have this name")
refused(folder / "c.txt", expected="c.txt: text needs the tokenizer of the model")
refused(folder / "saved:dev", expected="has the splits train, test; choose one")
refused(t, "--label", "kind", "--validation", 0.001, expected="--validation 0.001: is no row of 300 in any class; expected a larger fraction")
pa.parquet.write_table(pa.table({"a": [1.0], "b": [1], "flag": [True], "kind": ["fox"]}), folder / "fox.parquet")
refused(t, "--label", "kind", "--column", "x=a", "--validation", folder / "fox.parquet", expected="'fox' is no class of the training data; expected cat")
refused(t, "--column", "x=vector", "--validation", folder / "fox.parquet", expected="column 'vector' has type")
pa.parquet.write_table(pa.table({"when": [pa.scalar(0, pa.timestamp("ms"))]}), folder / "when.parquet")
refused(folder / "when.parquet", expected="column 'when': has type timestamp[ms]; expected numbers, strings or lists. --skip when")
pa.parquet.write_table(pa.table({"l": [[[1], [2, 3]]]}), folder / "nested.parquet")
refused(folder / "nested.parquet", expected="lists inside its lists have 1 to 2 values; expected one length")
(folder / "broken.csv").write_text("a,b\n1,2\n3\n")
refused(folder / "broken.csv", expected="broken.csv: is no valid CSV file")
(folder / "broken.parquet").write_bytes(t.read_bytes()[:-9])
refused(folder / "broken.parquet", expected="broken.parquet: cannot be read")
(folder / "empty.csv").write_text("a,b\n")
refused(folder / "empty.csv", expected="empty.csv: has no rows")
(folder / "mine").mkdir()
(folder / "mine/notes").write_text("")
assert "exists and was not written by mtc.data" in run(t, "-o", folder / "mine", code=1)
assert "expected a fraction between 0 and 1" in run(t, "-o", folder / "x", "--validation", 2, code=2)
for module, name in (("pyarrow", "t.parquet"), ("tokenizers", "text.parquet")):
    hidden = {key: sys.modules[key] for key in list(sys.modules) if key == module or key.startswith(f"{module}.")}
    sys.modules.update(dict.fromkeys(hidden))
    refused(folder / name, "--tokenizer", folder / "tokenizer.json", "--text", "text", expected=f"needs the package {module}: pip install {module} (or mtc[data])")
    sys.modules.update(hidden)
