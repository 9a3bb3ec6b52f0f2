#!/usr/bin/env python3
"""Compares step times and memory that `mtc plan` predicts for up to 4 096 GPUs with published measurements.

    bench/scaling.py                                # all rows
    bench/scaling.py --rows "175B|Llama-3 8B"       # rows whose name matches
    bench/scaling.py --json > scaling.json

The models are decoders of the published sizes, without weights. `mtc plan` plans each row for its GPU, number of ranks and `--shard`.
Models with many layers are planned with two small numbers of layers and extrapolated linearly ("extrapolated").

The published programs are those of Megatron-LM with DeepSpeed, torchtitan and nanotron, and the predicted program is that of mtc. The
first column `error` compares the two without any adjustment. The column `scaled` multiplies the compute time of all rows of a machine by
one factor, with which its reference row (*) takes as long as published. In the reference row, with few GPUs, transfers hardly matter:
the second column `error` shows how well the predictions follow the number of GPUs and the size of the model.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Machine:
    """A cluster of equal GPUs in nodes of 8. `inside` is the connection within a node, `between` a GPU's share of the network between
    nodes."""

    name: str
    target: str
    inside: tuple[float, float]  # latency in us, bandwidth in GB/s
    between: tuple[float, float]

    def network(self, factor: float) -> str:
        """Returns the network for `mtc plan`, `factor` times as fast. NCCL sends up to 8 messages concurrently."""
        inside, between = (f"{latency / factor}us,{bandwidth * factor}GB/s,8" for latency, bandwidth in (self.inside, self.between))
        return f"{between}; nodes of 8: {inside}"


# The latencies of a message are those of NCCL's tables for the protocol Simple. The bandwidths are 80 % of NVLink's and 90 % of the line
# rate of the network. A100: NVLink 3, 300 GB/s; 200 Gbit/s for each GPU. H100: NVLink 4, 450 GB/s; 400 Gbit/s for each GPU.
SELENE = Machine("Selene (A100)", "cuda:sm_80", (3.4, 240), (14, 22.5))
GRAND_TETON = Machine("Grand Teton (H100, 500 W)", "cuda:sm_90", (3.4, 360), (14, 45))
HUGGING_FACE = Machine("Hugging Face (H100)", "cuda:sm_90", (3.4, 360), (14, 45))


@dataclass(frozen=True)
class Model:
    name: str
    layers: int
    width: int
    heads: int
    vocabulary: int
    length: int  # tokens per sample
    hidden: int = 0  # 0 for GPT, whose MLP has 4 x width; otherwise Llama's
    groups: int = 0  # number of key and value heads
    is_tied: bool = False  # the output layer is the embedding; always for GPT


def gpt(name: str, layers: int, width: int, heads: int) -> Model:
    return Model(name, layers, width, heads, 51200, 2048)


GPT_1B7, GPT_175B, GPT_530B = gpt("GPT 1.7B", 24, 2304, 24), gpt("GPT 175B", 96, 12288, 96), gpt("GPT 530B", 105, 20480, 128)
LLAMA_8B = Model("Llama-3 8B", 32, 4096, 32, 128256, 8192, hidden=14336, groups=8)
LLAMA_1B = Model("Llama 1.2B", 16, 2048, 32, 49152, 4096, hidden=8192, groups=8)


@dataclass(frozen=True)
class Row:
    source: str
    model: Model
    machine: Machine
    gpus: int
    samples: int  # per GPU and step
    shard: str
    published: float = 0  # 0 if nothing was published
    unit: str = "tok/s"  # per GPU, or in TFLOP/s
    gib: float = 0  # published memory
    is_reference: bool = False

    @property
    def name(self) -> str:
        return f"{self.source} {self.model.name} {self.shard} {self.gpus}"


def megatron(model: Model, gpus: int, samples: int, teraflops: float, shard: str = "parameters", is_reference: bool = False) -> Row:
    return Row("Megatron", model, SELENE, gpus, samples, shard, teraflops, "TF/s", is_reference=is_reference)


def torchtitan(gpus: int, tokens: float = 0, gib: float = 0, is_reference: bool = False) -> Row:
    return Row("torchtitan", LLAMA_8B, GRAND_TETON, gpus, 2, "parameters", tokens, gib=gib, is_reference=is_reference)


def nanotron(gpus: int, tokens: float, is_reference: bool = False) -> Row:
    return Row("nanotron", LLAMA_1B, HUGGING_FACE, gpus, 2, "none", tokens, is_reference=is_reference)


# Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", SC21, tables 1 (first row) and 2;
# torchtitan, benchmarks/llama3_h100_202412_torchtitan.md, tables 1 and 3, with torch.compile; Hugging Face, "The Ultra-Scale Playbook",
# data parallelism. The Playbook does not state the sizes of the model and the samples of a GPU; these are assumptions.
ROWS = [
    megatron(GPT_1B7, 32, 16, 137, shard="none", is_reference=True),
    megatron(GPT_175B, 384, 4, 144),
    megatron(GPT_175B, 768, 2, 88),
    megatron(GPT_175B, 1536, 1, 44),
    megatron(GPT_530B, 640, 4, 138),
    megatron(GPT_530B, 1120, 2, 98),
    megatron(GPT_530B, 2240, 1, 48),
    torchtitan(8, 6667, 77.0, is_reference=True),
    torchtitan(128, 6514, 62.0),
    torchtitan(512),
    torchtitan(4096),
    nanotron(8, 40150, is_reference=True),
    nanotron(16, 37610),
    nanotron(32, 35368),
    nanotron(64, 31112),
    nanotron(128, 26446),
    nanotron(256, 15700),
]  # fmt: skip


class Decoder:
    """Writes a decoder as ONNX. The file refers to weights that do not exist, so `mtc plan` needs `--init`."""

    def __init__(self, model: Model, layers: int, samples: int):
        self.model, self.samples = model, samples
        self.nodes, self.parameters, self.constants = [], [], []
        x = self.add("Gather", self.parameter("embedding", model.vocabulary, model.width), "tokens", axis=0)
        if not model.hidden:
            x = self.add("Add", x, self.parameter("positions", model.length, model.width))
        else:
            half = model.width // model.heads // 2
            angles = np.outer(np.arange(model.length), 500000.0 ** (-np.arange(half) / half))
            self.rotations = [self.constant(name, table(angles)) for name, table in (("cosines", np.cos), ("sines", np.sin))]
            self.positions = self.constant("positions", np.tile(np.arange(model.length), (samples, 1)))
        for layer in range(layers):
            x = self.layer(x, f"layer{layer}")
        x = self.norm(x, "norm")
        is_tied = model.is_tied or not model.hidden
        head = self.add("Transpose", "embedding", perm=[1, 0]) if is_tied else self.parameter("head", model.width, model.vocabulary)
        self.output = self.add("MatMul", x, head)

    def add(self, kind: str, *inputs: str, outputs: int = 1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, f"{kind}_{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, name: str, values: np.ndarray) -> str:
        values = values.astype(np.float32) if values.dtype == np.float64 else values
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def parameter(self, name: str, *shape: int) -> str:
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="absent.weights")
        self.parameters.append(tensor)
        return name

    def linear(self, x: str, name: str, inputs: int, outputs: int) -> str:
        product = self.add("MatMul", x, self.parameter(f"{name}.weight", inputs, outputs))
        return product if self.model.hidden else self.add("Add", product, self.parameter(f"{name}.bias", outputs))

    def norm(self, x: str, name: str) -> str:
        scale = self.parameter(f"{name}.scale", self.model.width)
        if self.model.hidden:
            return self.add("RMSNormalization", x, scale)
        return self.add("LayerNormalization", x, scale, self.parameter(f"{name}.shift", self.model.width))

    def layer(self, x: str, name: str) -> str:
        model = self.model
        groups = model.groups or model.heads
        keys = groups * model.width // model.heads
        y = self.norm(x, f"{name}.norm1")
        parts = [self.linear(y, f"{name}.{each}", model.width, size) for each, size in zip("qkv", (model.width, keys, keys))]
        if model.hidden:
            for i, heads in enumerate((model.heads, groups)):
                parts[i] = self.add("RotaryEmbedding", parts[i], *self.rotations, self.positions, num_heads=heads)
        y = self.add("Attention", *parts, q_num_heads=model.heads, kv_num_heads=groups, is_causal=1)
        x = self.add("Add", x, self.linear(y, f"{name}.output", model.width, model.width))
        y = self.norm(x, f"{name}.norm2")
        hidden = model.hidden or 4 * model.width
        up = self.linear(y, f"{name}.up", model.width, hidden)
        if model.hidden:
            gate = self.linear(y, f"{name}.gate", model.width, hidden)
            up = self.add("Mul", up, self.add("Mul", gate, self.add("Sigmoid", gate)))
        else:
            up = self.add("Gelu", up, approximate="tanh")
        return self.add("Add", x, self.linear(up, f"{name}.down", hidden, model.width))

    def save(self, path: Path) -> None:
        shape = [self.samples, self.model.length]
        ends = [helper.make_tensor_value_info("tokens", TensorProto.INT64, shape),
                helper.make_tensor_value_info(self.output, TensorProto.FLOAT, [*shape, self.model.vocabulary])]  # fmt: skip
        graph = helper.make_graph(self.nodes, path.stem, ends[:1], ends[1:], self.constants + self.parameters)
        path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11).SerializeToString())


@dataclass
class Prediction:
    """The predicted time and memory of a step on each rank."""

    step_seconds: float
    transfer_seconds: float  # of all transfers
    exposed_seconds: float  # not hidden by computation
    peak_bytes: float
    sent_bytes: float

    @classmethod
    def of_plan(cls, plan: dict, factor: float) -> "Prediction":
        """Reads the output of `mtc plan --json`, with all times multiplied by a factor."""
        traffic = plan["ranks"]["traffic"].values()
        computing = sum(each["seconds"] for kind, each in plan["step_kinds"].items() if kind != "transfer")
        return cls(
            factor * plan["step_seconds"],
            factor * sum(each["seconds"] for each in traffic),
            factor * (plan["step_seconds"] - computing),
            plan["peak_bytes"],
            sum(max(each["sent_bytes"]) for each in traffic),
        )

    def extrapolate(self, deeper: "Prediction", layers: float) -> "Prediction":
        """Adds `layers` times the difference to `deeper`."""
        return Prediction(*(a + (b - a) * layers for a, b in zip(vars(self).values(), vars(deeper).values())))


class Planner:
    def __init__(self, mtc: Path, folder: Path, depths: tuple[int, int], whole: int):
        self.mtc, self.folder, self.depths, self.whole = mtc, folder, depths, whole

    def is_whole(self, model: Model) -> bool:
        return model.layers <= self.whole

    @cache  # noqa: B019  there is one planner per process
    def plan(self, row: Row, layers: int, factor: float) -> Prediction:
        path = self.folder / f"{re.sub(r'[^0-9A-Za-z]+', '-', row.name)}-{layers}.onnx"
        Decoder(row.model, layers, row.samples).save(path)
        command = [self.mtc, "plan", path, "--loss", "causal-lm", "--optimizer", "adamw", "--precision", "bf16", "--init", "normal:0.02",
                   "--target", row.machine.target, "--ranks", row.gpus, "--shard", row.shard, "--network", row.machine.network(factor), "--json"]  # fmt: skip
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"scaling.py: {row.name}: {result.stderr}")
        return Prediction.of_plan(json.loads(result.stdout), factor)

    def predict(self, row: Row, factor: float = 1) -> Prediction:
        """Predicts a step whose computation takes `factor` times as long as in mtc's cost model: `factor` times the time of a step with a
        network that is faster by the same factor."""
        if self.is_whole(row.model):
            return self.plan(row, row.model.layers, factor)
        first, second = self.depths
        layers = (row.model.layers - first) / (second - first)
        return self.plan(row, first, factor).extrapolate(self.plan(row, second, factor), layers)


def work(row: Row) -> float:
    """Returns tokens, or 10^12 operations, per GPU and step. Megatron's operations include recomputation."""
    if row.unit == "tok/s":
        return row.samples * row.model.length
    model = row.model
    terms = 1 + model.length / (6 * model.width) + model.vocabulary / (16 * model.layers * model.width)
    return 96e-12 * row.samples * model.length * model.layers * model.width**2 * terms


def compare(row: Row, predicted: Prediction, scaled: Prediction, is_whole: bool) -> dict:
    figures = {}
    for name, each in (("predicted", predicted), ("scaled", scaled)):
        throughput = work(row) / each.step_seconds
        figures[name] = {
            "throughput": throughput,
            "error_percent": 100 * (throughput / row.published - 1) if row.published else None,
            "step_seconds": each.step_seconds,
            "transfer_seconds": each.transfer_seconds,
            "exposed_seconds": each.exposed_seconds,
        }
    return {
        "name": row.name,
        "unit": row.unit,
        "published": row.published or None,
        **figures,
        "sent_bytes": predicted.sent_bytes,
        "published_gib": row.gib or None,
        "predicted_gib": predicted.peak_bytes / 2**30,
        "is_extrapolated": not is_whole,
        "is_reference": row.is_reference,
    }


def find_factor(rows: list[Row], machine: Machine, planner: Planner) -> float:
    """Returns the factor of the compute time with which the machine's reference row takes as long as published."""
    reference = next(row for row in rows if row.machine == machine and row.is_reference)
    predicted = planner.predict(reference)
    return (work(reference) / reference.published - predicted.exposed_seconds) / (predicted.step_seconds - predicted.exposed_seconds)


CAUSES = """
Known causes of the differences:
- The ranks of mtc send shards to each other directly, so that a node receives a shard once for each of its GPUs. NCCL's rings (torchtitan,
  nanotron) receive it once for each node. From 16 GPUs on, mtc is therefore predicted to be slower, and with 4 096 GPUs, latencies of
  messages to all others dominate.
- mtc exchanges gradients in f32. With `none`, it gathers their sums in the update, where no computation hides the transfer.
- The model has no congestion of shared links and no stragglers: it does not predict the fall of nanotron from 128 to 256 GPUs.
- Megatron's steps recompute activations (1/3 more operations, which the factor contains). mtc's plans do not, and most of those of 175B and
  530B need more than the 80 GB of these GPUs. DeepSpeed sends 6 bytes for each parameter and mtc 8, so that the small unadjusted errors of
  these rows are partly chance.
- The GPUs of torchtitan have 500 W and 2.4 TB/s, less than the H100 of the cost model.
""".strip()


def print_table(results: list[dict], factors: dict[str, float]) -> None:
    def percent(value: float | None) -> str:
        return "" if value is None else f"{value:+.0f} %"

    print("| row | published | predicted | error | scaled | error | exposed | GiB, published | GiB, predicted |")
    print("|---|---|---|---|---|---|---|---|---|")
    for each in results:
        predicted, scaled = each["predicted"], each["scaled"]
        notes = "*" * each["is_reference"] + ", extrapolated" * each["is_extrapolated"]
        cells = [
            each["name"] + notes,
            f"{each['published']:.0f} {each['unit']}" if each["published"] else "–",
            f"{predicted['throughput']:.0f}",
            percent(predicted["error_percent"]),
            f"{scaled['throughput']:.0f}",
            percent(scaled["error_percent"]),
            f"{100 * scaled['exposed_seconds'] / scaled['step_seconds']:.0f} %",
            str(each["published_gib"] or "–"),
            f"{each['predicted_gib']:.1f}",
        ]
        print(f"| {' | '.join(cells)} |")
    for name, factor in factors.items():
        print(f"{name}: {factor:.2f} x the compute time of the cost model")
    print(CAUSES)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mtc", type=Path, default=HERE.parent / "build/release/bin/mtc", help="the compiler")
    parser.add_argument("--rows", default="", help="only rows whose name matches this regular expression")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--whole", type=int, default=32, help="maximum number of layers to plan without extrapolation (default: 32)")
    parser.add_argument("--depths", default="4,8", help="numbers of layers to extrapolate from (default: 4,8)")
    parser.add_argument("--jobs", type=int, default=2, help="plans to compute in parallel (default: 2)")
    options = parser.parse_args()
    try:
        selected = [row for row in ROWS if re.search(options.rows, row.name)]
        first, second = (int(number) for number in options.depths.split(","))
    except (re.error, ValueError) as error:
        parser.error(str(error))
    if not 0 < first < second:
        parser.error(f"--depths {options.depths}: expected two ascending positive numbers, such as 4,8")
    if not selected:
        parser.error(f"--rows {options.rows}: no row matches; expected some of: {', '.join(row.name for row in ROWS)}")
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(options.jobs) as pool:
        planner = Planner(options.mtc, Path(temporary), (first, second), options.whole)
        machines = [machine for machine in (SELENE, GRAND_TETON, HUGGING_FACE) if any(row.machine == machine for row in selected)]
        factors = {machine.name: find_factor(ROWS, machine, planner) for machine in machines}
        predicted = list(pool.map(planner.predict, selected))
        scaled = list(pool.map(lambda row: planner.predict(row, factors[row.machine.name]), selected))
    results = [compare(row, *each, planner.is_whole(row.model)) for row, *each in zip(selected, predicted, scaled)]
    if options.json:
        print(json.dumps({"factors": factors, "rows": results}, indent=2))
    else:
        print_table(results, factors)


if __name__ == "__main__":
    main()
