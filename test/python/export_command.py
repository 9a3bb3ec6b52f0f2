# RUN: %python %s
"""The command line of `python -m mtc.export`, without the parts that need PyTorch or transformers."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent.parent / "python"
FOLDER = Path(tempfile.mkdtemp())


def run(*words: str, code: int) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(PACKAGE), "COLUMNS": "120"}
    command = [sys.executable, "-m", "mtc.export", *words]
    done = subprocess.run(command, cwd=FOLDER, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done
    return done


help_text = run("--help", code=0).stdout
assert len(help_text.splitlines()) <= 40 and all(len(line) <= 120 for line in help_text.splitlines()), help_text
assert "causal-lm" in help_text and "--hf CONFIG" in help_text

(FOLDER / "config.json").write_text('{"model_type": "llama"}')
required = ("--hf", "config.json", "-o", "model.onnx")
for words, *expected in (
    (("-o", "model.onnx"), "--hf"),
    ((*required, "--task", "causal"), "'causal': unknown task", "causal-lm, masked-lm"),
    ((*required, "--labels", "none"), "expected a whole number of at least 1"),
    ((*required, "--dim", "batch"), "expected NAME=VALUE"),
    ((*required, "--dtype", "int8"), "float32", "bfloat16"),
):
    error = run(*words, code=2).stderr
    assert all(word in error for word in expected), error
if importlib.util.find_spec("torch") is None:
    error = run(*required, code=1).stderr
    assert error == "error: python -m mtc.export needs torch: pip install torch onnxscript transformers\n", error
assert [path.name for path in FOLDER.iterdir()] == ["config.json"]
