# RUN: %python %s %t
"""`mtc.Trainer` on rows of different lengths: those of lists, data sets and batches give the bits of a program on a file of ragged rows."""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from models import EXAMPLES
from program import MTC, Program, losses, read_metrics
from ragged_models import ROWS, classes, compiled, folder, lengths, mask, next_tokens, padded

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
import mtc  # noqa: E402

os.environ["MTC"] = MTC
warnings.simplefilter("error")
SIZES = {"batch": [8, 4, 4], "sequence": [4, 8, 16]}
texts = [padded[row, :length] for row, length in enumerate(lengths)]
SETTINGS = {"classes": {"loss": "cross-entropy", "labels": classes}, "tokens": {"loss": "causal-lm", "labels": None}}


class Samples:
    """A data set whose samples differ in length, as those of PyTorch."""

    def __init__(self, labels: np.ndarray | None):
        self.labels = labels

    def __len__(self):
        return ROWS

    def __getitem__(self, row: int):
        return (texts[row],) if self.labels is None else {"input_ids": texts[row], "labels": np.array(self.labels[row])}


def fails(*words: str):
    """Checks that the call raises a ValueError or TrainerError with these words."""

    def of(function, *arguments, **options):
        try:
            function(*arguments, **options)
        except (ValueError, mtc.TrainerError) as found:
            assert all(word in str(found) for word in words), found
            return
        raise AssertionError(f"expected an error with {words}")

    return of


for model, settings in SETTINGS.items():
    options = {"loss": settings["loss"], "optimizer": "sgd", "lr": 0.5}
    lists = {"input_ids": [text.tolist() for text in texts]}
    if settings["labels"] is not None:
        lists["labels"] = settings["labels"].tolist()
    library = mtc.compile(folder / f"{model}.onnx", folder / f"{model}-library", dims=SIZES, **options)
    flags = [part for name, value in options.items() for part in (f"--{name}", value)]
    program = Program(compiled(f"{model}-program", model, "4,8,16", *flags, batch="8,4,4"), {})
    program.data_flags = ["--data", "input_ids=ids.safetensors"]
    if model == "classes":
        program.data_flags += ["--data", "labels=classes.npy"]

    def trained_by_program(name: str, *program_flags) -> tuple[list[float], list[float]]:
        """Returns the losses of training and validation."""
        validation = [part for part in program.data_flags if part != "--data"]
        again = [part for flag in validation for part in ("--validate", flag)]
        program.run("--epochs", 3, "--metrics", f"{name}.jsonl", *again, *program_flags)
        lines = read_metrics(folder / f"{name}.jsonl")
        return losses([line for line in lines if "loss" in line]), [line["validation_loss"] for line in lines if "validation_loss" in line]

    # Grouped by length, and in the order of the data.
    grouped = trained_by_program(f"{model}-grouped")
    mixed = trained_by_program(f"{model}-mixed", "--bucket-by", "none")
    ordered = trained_by_program(f"{model}-ordered", "--no-shuffle")
    assert len({len(found[0]) for found in (grouped, mixed)}) == 2 and ordered[0] != mixed[0]
    for data in (lists, Samples(settings["labels"])):
        for wanted, chosen in ((grouped, {}), (mixed, {"bucket_by": "none"}), (ordered, {"shuffle": False})):
            history = mtc.Trainer(library).fit(data, epochs=3, validation=data, **chosen)
            assert history.losses.tolist() == wanted[0], (chosen, history.losses, wanted[0])
            found = [evaluation.loss for evaluation in history.evaluations]
            assert np.allclose(found, wanted[1], rtol=1e-6), (chosen, found, wanted[1])

    # A resumed training, in the middle of an epoch, and accumulation over batches of different lengths.
    whole, part = mtc.Trainer(library), mtc.Trainer(library)
    wanted = whole.fit(lists, epochs=3).losses.tolist()
    part.fit(lists, steps=len(wanted) // 2, save=folder / f"{model}-saved")
    resumed = mtc.Trainer(library)
    assert resumed.fit(lists, epochs=3, save=folder / f"{model}-saved", resume=True).losses.tolist() == wanted[len(wanted) // 2 :]
    assert all(np.array_equal(value, resumed.read_weight(name)) for name, value in whole.state_dict().items())
    # Other data than that of the checkpoint is refused, as by a program. A new call without resume trains on it.
    part = mtc.Trainer(library)
    part.fit(lists, steps=len(wanted) // 2, save=folder / f"{model}-part")
    other = {name: column[: ROWS // 2] for name, column in lists.items()}
    equal = dict(lists, input_ids=[[1, 2, 3]] * ROWS)
    resumed = mtc.Trainer(library)
    fails(f"an epoch of the checkpoint's run had {len(wanted) // 3} steps, and has ", "give the data of the checkpoint's run")(
        resumed.fit, other, epochs=3, save=folder / f"{model}-part", resume=True
    )
    fails("had batches of samples of similar lengths, and has none with this data")(
        resumed.fit, equal, epochs=3, save=folder / f"{model}-part", resume=True
    )
    fails("had batches of samples of similar lengths, and has none with this data")(
        resumed.fit, lists, epochs=3, save=folder / f"{model}-part", resume=True, bucket_by="none"
    )
    assert len(resumed.fit(other, epochs=1).losses) < len(wanted) // 3
    accumulating = mtc.compile(folder / f"{model}.onnx", folder / f"{model}-accumulating", dims=SIZES, accumulate=2, **options)
    history = mtc.Trainer(accumulating).fit(lists, epochs=2)
    assert len(history.losses) < len(wanted) and np.isfinite(history.losses).all()

    # Batches of lists, padded to the smallest shape that holds them, are those of padded arrays.
    rows = np.flatnonzero(lengths <= 4)[:3]
    batch = {name: [column[row] for row in rows] for name, column in lists.items()}
    arrays = {"input_ids": padded[rows, :4]} | ({"attention_mask": mask[rows, :4]} if model == "classes" else {})
    arrays["labels"] = next_tokens[rows, :4] if settings["labels"] is None else classes[rows]
    assert mtc.Trainer(library).step(batch).loss == mtc.Trainer(library).step(arrays).loss
    outputs = mtc.Trainer(library).predict(lists)["logits"]
    assert outputs.shape[0] == ROWS and np.array_equal(outputs[rows[0], ...].shape, outputs.shape[1:])
    single = mtc.compile(folder / f"{model}.onnx", folder / f"{model}-single", dims={"batch": 4, "sequence": 16}, **options)
    assert np.allclose(mtc.Trainer(single).evaluate(lists).loss, mtc.Trainer(library).evaluate(lists).loss, rtol=1e-6)

    # Narrow types, as those of converted data, also where the next tokens are ignored.
    narrow = dict(lists, input_ids=[text.astype(np.uint16) for text in texts])
    assert mtc.Trainer(library).fit(narrow, epochs=1).losses.tolist() == wanted[: len(wanted) // 3]

    # Errors.
    trainer = mtc.Trainer(library)
    long = dict(lists, input_ids=[list(range(1, 18)), *lists["input_ids"][1:]])
    fails("row 0 has 17 values", "'input_ids'", "truncate rows")(trainer.fit, long)
    fails("a row of 17 values", "compiled for 16", "truncate rows")(trainer.step, {name: column[:2] for name, column in long.items()})
    fails("rows of the shapes", "differ in length only")(trainer.fit, dict(lists, input_ids=[[[1, 2]], *lists["input_ids"][1:]]))
    fails("different numbers of samples")(trainer.fit, dict(lists, input_ids=lists["input_ids"][1:], labels=list(range(ROWS))))
    fails("last_batch='wrap'", "bucket_by='none'")(trainer.fit, lists, last_batch="wrap")
    fails("bucket_by='size'", "'length' or 'none'")(trainer.fit, lists, bucket_by="size")
    fails("bucket_by='length'", "one length")(mtc.Trainer(single).fit, lists, bucket_by="length")

# Features have one length: rows of several lengths are no sequences of a model without shapes for them.
digits = mtc.compile(EXAMPLES / "digits/digits.onnx", folder / "digits", dims={"batch": 4})
fails("'x'", "rows of 63 to 64 values", "one length")(mtc.Trainer(digits).step, {"x": [[0.0] * 63, [0.0] * 64], "labels": [0, 1]})
