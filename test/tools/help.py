# RUN: %python %s %t
"""Help fits a screen; the full help, completion scripts and the manual page contain every flag of one table."""

import re
import shutil
import subprocess

from models import DIGITS
from program import MTC, compile_example, own_folder

LINES, WIDTH, SUMMARY = 50, 100, 70
COMMANDS = ("inspect", "plan", "compile", "grad", "sweep")
folder = own_folder()


def output(*command) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, cwd=folder).stdout


def flags_of(text: str) -> list[str]:
    return re.findall(r"^  (--?[a-z0-9-]+)", text, re.MULTILINE)


def check(page: str, full: str) -> set[str]:
    """Returns the flags of a help page, which must fit a screen, and of the full help, which must contain them and more."""
    assert page.count("\n") <= LINES, page
    assert all(len(line) <= WIDTH for line in page.splitlines()), page
    for summary in re.findall(r"^  --?[a-z0-9-]+(?:\[?[ =]\S+)?  +(.*)$", full, re.MULTILINE):
        phrase = summary.split(" (default: ")[0]
        assert len(phrase) <= SUMMARY and phrase[0].isupper() and not phrase.endswith("."), summary
    shown, every = flags_of(page), flags_of(full)
    assert len(set(every)) == len(every) and set(shown) < set(every), (shown, every)
    return set(every)


flags = {command: check(output(MTC, command, "--help"), output(MTC, command, "--help-all")) for command in COMMANDS}
assert {"--dim", "--json", "--help", "--help-all"} < flags["inspect"] < flags["plan"], flags["inspect"]
assert len(flags["compile"]) > 60 and {"-o", "--emit"} < flags["compile"] - flags["plan"], flags["compile"]
main = output(MTC, "--help")
assert main == output(MTC, "-h") and main.count("\n") <= LINES and all(f"  {command} " in main for command in COMMANDS), main
for command in ("completion", "man", "operators"):  # These commands only print, and have no other flags.
    text = output(MTC, command, "--help")
    assert text.startswith(f"Usage: mtc {command}") and text == output(MTC, command, "-h"), text
program = compile_example(DIGITS, folder, "sgd", 8)
check(output(program.path, "--help"), output(program.path, "--help-all"))

# The choices come from the compiler's own records.
full = output(MTC, "compile", "--help-all")
for word in "cross-entropy", "adafactor", "muon", "tf32", "one-cycle", "mtc-fuse-kernels", "match-rms-adamw", "lion 0.9":
    assert word in full, word

# Commands, flags, choices and file names are completed.
bash = folder / "mtc.bash"
bash.write_text(output(MTC, "completion", "bash"))


def completed(*words: str) -> list[str]:
    typed = " ".join(f"'{word}'" for word in words)
    script = f"source {bash}; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _mtc; echo ${{COMPREPLY[@]}}"
    return output("bash", "-c", script).split()


(folder / "model.onnx").touch()
assert completed("mtc", "comp") == ["compile", "completion"]
assert completed("mtc", "plan", "--loss") == ["--loss", "--loss-weights", "--loss-scale", "--loss-scale-window"]
assert completed("mtc", "plan", "--loss", "m") == ["mse"]
assert completed("mtc", "plan", "model") == ["model.onnx"]
assert set(completed("mtc", "compile", "-")) == flags["compile"]
for shell in "zsh", "fish":
    script = output(MTC, "completion", shell)
    assert all(re.search(rf"\b{command}\b", script) for command in ("completion", "man", "operators")), script
    for flag in flags["compile"]:
        assert re.search(rf"{flag}\b" if shell == "zsh" else rf"-[ls] {flag.lstrip('-')} ", script), (shell, flag)
    if shutil.which(shell):
        (folder / shell).write_text(script)
        output(shell, "-n", folder / shell)
wrong = subprocess.run([MTC, "completion", "tcsh"], capture_output=True, text=True)
assert wrong.returncode == 1 and "expected a shell: bash, zsh or fish" in wrong.stderr, wrong

# The manual page.
page = output(MTC, "man")
assert all(f".B mtc {command}\n" in page for command in (*COMMANDS, "completion", "man", "operators")), page
for flag in set.union(*flags.values()) - {"--help", "--help-all"}:
    assert f"\\fB{flag.replace('-', chr(92) + '-')}\\fR" in page, flag
if shutil.which("groff"):
    rendered = subprocess.run(["groff", "-Kutf8", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, check=True)
    assert rendered.stderr == "" and "compile an ONNX model" in rendered.stdout, rendered.stderr
