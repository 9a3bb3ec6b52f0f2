# RUN: %python %s %t
"""`mtc compile --emit library`: C and C++ programs that link the library train bit-identically to mtc's own program."""

import re
import shutil

from models import EXAMPLES
from program import MTC, Program, own_folder, run
from safetensors.numpy import load_file

folder = own_folder()
DIGITS = EXAMPLES / "digits"
FLAGS = (DIGITS / "digits.onnx", "--dim", "batch=32", "--lr", "2e-3")
SYSTEM = ("-ldnnl", "-lgomp", "-lstdc++", "-lm", "-lpthread")


def weights(path) -> dict:
    return {name: value.tobytes() for name, value in load_file(path).items()}


def symbols(*flags) -> list[str]:
    return [line.split()[-1] for line in run(["nm", *flags], folder).stdout.splitlines() if len(line.split()) >= 2]


# The reference is a program that is compiled with the same flags.
run([MTC, "compile", *FLAGS, "-o", folder / "program"], folder)
program = Program(folder / "program", {})
data = ("--data", f"x={DIGITS}/train_x.npy", "--data", f"labels={DIGITS}/train_labels.npy")
reference = program.run(*data, "--no-shuffle", "--steps", 44, "--export-weights", folder / "program.safetensors")
program.run(*data, "--no-shuffle", "--steps", 44, "--threads", 1, "--export-weights", folder / "one.safetensors")
last = re.search(r"step 44/44  loss (\S+)", reference.stdout).group(1)

# The examples are built with CMake.
build = folder / "build"
run(["cmake", "-S", EXAMPLES / "embedding", "-B", build, f"-DMTC={MTC}", "-DCMAKE_BUILD_TYPE=Release"], folder)
run(["cmake", "--build", build], folder)
text = run([build / "train_c", DIGITS, 1, folder / "c.safetensors"], folder).stdout
assert re.search(r"step 44  loss (\S+)", text).group(1).startswith(last[:7]) and "accuracy" in text, (text, last)
assert weights(folder / "c.safetensors") == weights(folder / "program.safetensors")
text = run([build / "train_cpp", DIGITS, 1, folder / "cpp-"], folder).stdout
assert text.count("loss") == 2, text
for seed in (0, 1):  # The model draws no random numbers.
    assert weights(folder / f"cpp-{seed}.safetensors") == weights(folder / "one.safetensors"), seed

# The library exports the functions of its header and nothing else.
exported = symbols("-D", "--defined-only", build / "libdigits.so")
declared = set(re.findall(r"\b(digits_\w+)\(", (build / "digits.h").read_text()))
assert set(exported) == declared, (set(exported) ^ declared)
assert len(exported) >= 25, exported
# Unlike programs, the library does not contain the command-line parser.
for file, contains in (folder / "program", True), (build / "libdigits.so", False):
    assert any("N3CLI" in name for name in symbols(file)) == contains, file

# A program links two archives, of the same model and of another one.
run([MTC, "compile", *FLAGS, "--emit", "library", "-o", folder / "libdigits.a"], folder)
run([MTC, "compile", *FLAGS, "--optimizer", "sgd", "--emit", "library", "-o", folder / "libsecond-model.a"], folder)
assert {name for name in symbols("-g", "--defined-only", folder / "libdigits.a") if not name.endswith(":")} == declared
for source in ("train.c", "digits_data.h"):
    shutil.copy(EXAMPLES / "embedding" / source, folder)
run(["cc", "-I", folder, "train.c", "libdigits.a", *SYSTEM, "-o", "train_static"], folder)
run([folder / "train_static", DIGITS, 1, folder / "static.safetensors"], folder)
assert weights(folder / "static.safetensors") == weights(folder / "program.safetensors")
(folder / "both.c").write_text("""
#include "digits.h"
#include "second-model.h"
#include <stdio.h>
int main(void) {
  digits_trainer *first;
  second_model_trainer *second;
  if (digits_create(NULL, &first) || second_model_create(NULL, &second))
    return 1;
  printf("%s %s\\n", digits_name(), second_model_name());
  second_model_destroy(second);
  digits_destroy(first);
  return 0;
}
""")
run(["cc", "-Wall", "-Wextra", "-Werror", "-std=c99", "both.c", "libdigits.a", "libsecond-model.a", *SYSTEM, "-o", "both"],
    folder)  # fmt: skip
assert run([folder / "both"], folder).stdout == "digits digits\n"
run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", folder / "digits.h"], folder)

# A library replaces an older library, but no other file.
run([MTC, "compile", *FLAGS, "--emit", "library", "-o", folder / "libdigits.a"], folder)
(folder / "mine.h").write_text("int mine;\n")
refused = run([MTC, "compile", *FLAGS, "--emit", "library", "-o", folder / "mine"], folder, code=1)
assert "mine.h" in refused.stderr and not (folder / "libmine.so").exists(), refused.stderr
