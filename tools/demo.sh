#!/usr/bin/env bash
# Trains models from a clean clone: digits to an accuracy of at least 97 % on the test images, digits in two processes, and a small GPT-2 on
# text. The script installs missing packages, builds the compiler, and writes only to build/demo. The exit code is 1 if the loss of a model
# does not decrease enough.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/setup.sh
mtc=$PWD/build/release/bin/mtc
out=build/demo
rm -rf "$out"
mkdir -p "$out"
cmake --preset release >"$out/configure.log" 2>&1 || {
  cat "$out/configure.log"
  exit 1
}
cmake --build --preset release --target mtc

say() { printf '\n== %s\n' "$*"; }
show() {
  echo "\$ $*"
  "$@"
}
# Prints the losses of a metrics file at about ten steps. Fails unless the mean of the last tenth is below $2 times the first loss.
losses() {
  python3 - "$1" "$2" <<'PYTHON'
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
print("step", *(f"{records[k]['step']:>7}" for k in range(0, len(records), -(-len(records) // 10))))
print("loss", *(f"{records[k]['loss']:7.3f}" for k in range(0, len(records), -(-len(records) // 10))))
last = records[-max(1, len(records) // 10):]
mean = sum(r["loss"] for r in last) / len(last)
print(f"from {records[0]['loss']:.3f} to {mean:.3f} (mean of the last {len(last)} of {len(records)} steps)")
sys.exit(0 if mean < float(sys.argv[2]) * records[0]["loss"] else "demo.sh: the loss did not fall enough")
PYTHON
}

say "digits: compile"
show "$mtc" compile examples/digits/digits.onnx --dim batch=32 --loss cross-entropy --optimizer adamw --lr 2e-3 -o "$out/digits"
say "digits: train"
digits=examples/digits
show "$out/digits" --data x=$digits/train_x.npy --data labels=$digits/train_labels.npy --epochs 30 \
  --metrics "$out/digits.jsonl" --save "$out/digits.saved" --export "$out/digits-trained.onnx" --quiet
losses "$out/digits.jsonl" 0.1
say "digits: evaluate on the images held out"
show "$out/digits" --data x=$digits/test_x.npy --data labels=$digits/test_labels.npy --resume "$out/digits.saved" \
  --evaluate | tee "$out/digits.txt"
accuracy=$(sed -n 's/.*accuracy[^0-9]*\([0-9.]*\).*/\1/p' "$out/digits.txt" | tail -n 1)
python3 -c "import sys; sys.exit(not float('${accuracy:-0}') >= 0.97)" || {
  echo "demo.sh: accuracy '${accuracy}' on the held-out images; at least 0.97 is expected" >&2
  exit 1
}

say "digits: train in two processes that divide parameters, gradients and optimizer state"
if ((EUID == 0)); then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # as in a container
fi
show "$mtc" compile examples/digits/digits.onnx --dim batch=16 --loss cross-entropy --optimizer adamw --lr 2e-3 \
  --ranks 2 --shard parameters -o "$out/divided"
show mpirun --oversubscribe -n 2 "$out/divided" --data x=$digits/train_x.npy --data labels=$digits/train_labels.npy --epochs 5 \
  --metrics "$out/divided.jsonl" --save "$out/divided.saved" --quiet
losses "$out/divided.jsonl" 0.3

say "GPT-2: compile"
show "$mtc" compile examples/gpt2/gpt2.onnx --dim batch=8 --dim sequence=128 --loss causal-lm --optimizer adamw --lr 2e-3 \
  -o "$out/gpt2"
say "GPT-2: train"
show "$out/gpt2" --data input_ids=examples/gpt2/train.bin --steps 600 --metrics "$out/gpt2.jsonl" --save "$out/gpt2.saved" --quiet
losses "$out/gpt2.jsonl" 0.5
say "GPT-2: evaluate on the text held out"
show "$out/gpt2" --data input_ids=examples/gpt2/test.bin --resume "$out/gpt2.saved" --evaluate

say "done: trained weights in $out/digits.saved, $out/gpt2.saved and $out/digits-trained.onnx"
