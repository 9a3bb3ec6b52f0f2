# RUN: %python %s %t
"""Metrics of classes, scores and sequences equal reference implementations in NumPy, whose results are those of scikit-learn 1.9
(roc_auc_score, average_precision_score, confusion_matrix, precision_recall_fscore_support)."""

import json

import numpy as np
import onnx
from launcher import launcher
from onnx import TensorProto, helper, numpy_helper
from program import MTC, Program, own_folder, run

folder = own_folder()
random = np.random.default_rng(0)
ROWS, BATCH = 203, 16


def compiled(name, shape, *flags):
    """Compiles a model that adds a parameter to its input, in a folder of its own."""
    own = folder / name
    own.mkdir()
    axes = ["batch", *shape]
    graph = helper.make_graph([helper.make_node("Add", ["x", "p"], ["y"])], name,
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, axes)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, axes)],
                              [numpy_helper.from_array(np.zeros(shape, np.float32), "p")])  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), own / "model.onnx")
    run([MTC, "compile", "model.onnx", "--dim", f"batch={BATCH}", "--train", "p", *flags, "-o", "train"], own)
    return own / "train"


def evaluated(program, *flags):
    """Returns the metrics, those of each class, and the printed report."""
    file = folder / "evaluation.jsonl"
    printed = program.run("--evaluate", "--metrics", file, *flags).stdout
    first, *classes = map(json.loads, file.read_text().splitlines())
    return first, classes, printed


def auc(labels, scores):
    """The fraction of pairs of a positive and a negative target in the right order; ties count by half."""
    positive, negative = scores[labels == 1][:, None], scores[labels == 0][None]
    return ((positive > negative) + 0.5 * (positive == negative)).mean()


def average_precision(labels, scores):
    total = 0.0
    for score in np.unique(scores):
        is_found = scores >= score
        total += (labels[scores == score] == 1).sum() / labels.sum() * labels[is_found].mean()
    return total


def calibration_error(confidence, is_correct):
    bins = np.clip(np.ceil(confidence * 15) - 1, 0, 14)
    return sum(abs(is_correct[bins == b].sum() - confidence[bins == b].sum()) for b in range(15)) / len(confidence)


def softmax(logits):
    exponentials = np.exp(logits - logits.max(-1, keepdims=True), dtype=np.float32)
    return exponentials / exponentials.sum(-1, keepdims=True)


def close(found, expected):
    assert abs(found - expected) < 2e-6, (found, expected)


# Five classes, of which one does not occur among the labels.
logits = random.normal(0, 1, (ROWS, 5)).astype(np.float32)
labels = random.choice([0, 1, 2, 4], ROWS)
logits[np.arange(ROWS), labels] += 1
ignored = labels.copy()
ignored[::10] = -100
five = Program(compiled("five", [5], "--loss", "cross-entropy"), {"x": logits, "labels": ignored})
metrics, classes, printed = evaluated(five)
counted = ignored >= 0
probabilities, known = softmax(logits)[counted], labels[counted]
predicted = logits[counted].argmax(1)
confusion = np.zeros((5, 5), int)
np.add.at(confusion, (known, predicted), 1)
assert [row["predictions"] for row in classes] == confusion.tolist(), classes
for c, row in enumerate(classes):
    hits = confusion[c, c]
    close(row["precision"], hits / max(1, confusion[:, c].sum()))
    close(row["recall"], hits / max(1, confusion[c].sum()))
    assert row["targets"] == confusion[c].sum() and row["class"] == str(c)
of_classes = [c for c in range(5) if (known == c).any()]
close(metrics["macro_auc"], np.mean([auc(known == c, probabilities[:, c]) for c in of_classes]))
close(metrics["macro_average_precision"], np.mean([average_precision(known == c, probabilities[:, c]) for c in of_classes]))
close(metrics["ece"], calibration_error(probabilities.max(1).astype(float), predicted == known))
table = printed.splitlines()[-6:]
assert table[0].split() == ["class", "precision", "recall", "f1", "targets"] and [line.split()[0] for line in table[1:]] == list("01234"), printed

# Ranks add the same numbers.
one = Program(compiled("one", [5], "--loss", "cross-entropy", "--accumulate", 2), {"x": logits, "labels": ignored})
two = Program(compiled("two", [5], "--loss", "cross-entropy", "--ranks", 2), {"x": logits, "labels": ignored}, runner=launcher(2))
assert evaluated(one) == evaluated(two) == (metrics, classes, printed)

# Two classes, and one label with a binary loss, have a positive class. Some scores are equal.
scores = (random.integers(-12, 12, ROWS) / 4).astype(np.float32)
positive = (random.random(ROWS) < 1 / (1 + np.exp(-scores))).astype(np.int64)
pair = np.stack([np.zeros(ROWS, np.float32), scores], 1)
for program in (Program(compiled("pair", [2], "--loss", "cross-entropy"), {"x": pair, "labels": positive}),
                Program(compiled("binary", [1], "--loss", "bce-with-logits"), {"x": scores[:, None], "labels": positive[:, None].astype(np.float32)})):  # fmt: skip
    metrics, classes, _ = evaluated(program)
    close(metrics["auc"], auc(positive, scores))
    close(metrics["average_precision"], average_precision(positive, scores))
    confidence = 1 / (1 + np.exp(-np.abs(scores.astype(float))))
    close(metrics["ece"], calibration_error(confidence, (scores > 0) == (positive == 1)))
    assert [row["predictions"] for row in classes] == [
        [int(((positive == label) & ((scores > 0) == guess)).sum()) for guess in (0, 1)] for label in (0, 1)
    ]

# Several labels of a sample.
several = (random.random((ROWS, 3)) < 0.3).astype(np.float32)
mixed = (several * 0.7 + random.normal(0, 1, (ROWS, 3))).astype(np.float32)
metrics, classes, _ = evaluated(Program(compiled("several", [3], "--loss", "bce-with-logits"), {"x": mixed, "labels": several}))
close(metrics["macro_auc"], np.mean([auc(several[:, c], mixed[:, c]) for c in range(3)]))
close(metrics["macro_average_precision"], np.mean([average_precision(several[:, c], mixed[:, c]) for c in range(3)]))
assert not classes


def distance(one, other):
    """The edit distance by its recursive definition."""
    table = {}

    def at(i, j):
        if min(i, j) == 0:
            return i + j
        if (i, j) not in table:
            table[i, j] = min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (one[i - 1] != other[j - 1]))
        return table[i, j]

    return at(len(one), len(other))


# The error rate of CTC: the best path without blanks and repetitions, against the labels.
FRAMES, LENGTH, CLASSES = 12, 5, 6
frames = random.normal(0, 2, (ROWS, FRAMES, CLASSES)).astype(np.float32)
sequences = random.integers(1, CLASSES, (ROWS, LENGTH))
for i, length in enumerate(random.integers(1, LENGTH + 1, ROWS)):
    sequences[i, length:] = -100
errors = 0
for row, target in zip(frames.argmax(2), sequences, strict=True):
    decoded = [c for c, before in zip(row, [0, *row[:-1]], strict=True) if c and c != before]
    errors += distance(decoded, [c for c in target if c >= 0])
speech = compiled("speech", [FRAMES, CLASSES], "--loss", "ctc", "--target-length", LENGTH, "--zero-infinity")
metrics, _, _ = evaluated(Program(speech, {"x": frames, "labels": sequences}))
close(metrics["label_error_rate"], errors / (sequences >= 0).sum())

# Any metric chooses the best checkpoint, and the report names it, with the confusion matrix of its validation.
validate = ("--validate", "x=x.npy", "--validate", "labels=labels.npy", "--save", "saved", "--report", "report.html")
stopped = five.run("--epochs", 2, *validate, "--keep-best", "macro_auc").stdout
assert "best validation macro_auc" in stopped, stopped
five.run("--epochs", 4, *validate, "--keep-best", "macro_auc", "--resume", "saved")
page = (five.folder / "report.html").read_text()
record = json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])
assert record["best_metric"] == "macro_auc" and "Best validation macro_auc" in page and "<td>best macro_auc</td>" in page
matrices = [np.reshape(each["confusion"], (5, 5)) for each in record["validations"] if "confusion" in each]
assert 1 <= len(matrices) <= 2 and all(matrix.sum() == counted.sum() for matrix in matrices) and len(record["validations"]) == 4
assert 'aria-label="Confusion matrix"' in page and "<title>4 predicted as 4: " in page and "F1 of each class" in page
message = five.run("--steps", 1, *validate, "--keep-best", "auc", code=1).stderr
assert "loss, accuracy, macro_precision, macro_recall, macro_f1, macro_auc, macro_average_precision, ece" in message, message
