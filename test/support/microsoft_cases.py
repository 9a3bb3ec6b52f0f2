"""Nodes with onnxruntime's operators and their operands, which test/e2e/models/microsoft.py trains and record_microsoft.py runs."""

from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper, numpy_helper


@dataclass
class Operand:
    """The operand is trained unless it has integers or is `constant`."""

    array: np.ndarray
    constant: bool = False


@dataclass
class MicrosoftCase:
    name: str
    operator: str
    operands: list[Operand | None]
    attributes: dict = field(default_factory=dict)
    outputs: list[bool] = field(default_factory=lambda: [True])  # whether each result has a name
    domain: str = "com.microsoft"
    runs: bool = True  # whether onnxruntime supports it on the CPU
    integers: dict[int, int] = field(default_factory=dict)  # element types of non-floating-point results

    def operand_names(self) -> list[str]:
        return [f"{self.name}.{i}" if operand else "" for i, operand in enumerate(self.operands)]

    def output_names(self) -> list[str]:
        return [f"{self.name}.y{i}" if named else "" for i, named in enumerate(self.outputs)]

    def output_infos(self, dtype) -> list:
        types = [self.integers.get(i, element(dtype)) for i in range(len(self.outputs))]
        return [helper.make_tensor_value_info(name, type, None) for name, type in zip(self.output_names(), types) if name]

    def nodes_and_initializers(self, dtype) -> tuple[list, list]:
        nodes, initializers = [], []
        for name, operand in zip(self.operand_names(), self.operands):
            if operand is None:
                continue
            array = operand.array.astype(dtype) if operand.array.dtype.kind == "f" else operand.array
            if operand.constant:
                nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
            else:
                initializers.append(numpy_helper.from_array(array, name))
        nodes.append(helper.make_node(self.operator, self.operand_names(), self.output_names(), self.name, domain=self.domain,
                                      **self.attributes))  # fmt: skip
        return nodes, initializers


def cases() -> list[MicrosoftCase]:
    random = np.random.default_rng(7)
    normal = lambda *shape: Operand(random.normal(0, 0.7, shape).astype(np.float32).astype(np.float64))  # noqa: E731
    i32 = lambda values: Operand(np.array(values, np.int32))  # noqa: E731
    made = []

    def add(name: str, operator: str, operands: list, outputs=(True,), runs: bool = True, domain: str = "com.microsoft", integers=None,
            **attributes):  # fmt: skip
        made.append(MicrosoftCase(name, operator, operands, attributes, list(outputs), domain, runs, integers or {}))

    add("gelu", "Gelu", [normal(3, 5)])
    add("quick_gelu", "QuickGelu", [normal(3, 5)])
    add("quick_gelu_alpha", "QuickGelu", [normal(3, 5)], alpha=0.8)
    add("bias_gelu", "BiasGelu", [normal(3, 5), normal(5)])
    add("fast_gelu", "FastGelu", [normal(3, 5)])
    add("fast_gelu_bias", "FastGelu", [normal(3, 5), normal(5)])
    add("bias_add", "BiasAdd", [normal(2, 3, 4), normal(4), normal(2, 3, 4)], runs=False)
    add("bias_split_gelu", "BiasSplitGelu", [normal(2, 3, 4), normal(4)], runs=False)
    add("matmul", "FusedMatMul", [normal(2, 4, 3), normal(5, 4)], alpha=0.5, transA=1, transB=1)
    add("matmul_batch", "FusedMatMul", [normal(3, 2, 4), normal(5, 2, 4)], transBatchA=1, transBatchB=1, transB=1)
    add("gemm", "FusedGemm", [normal(3, 4), normal(3, 5), normal(5)], transA=1, alpha=0.7, beta=0.5,
        activation="LeakyRelu", activation_alpha=0.2)  # fmt: skip
    add("gemm_sigmoid", "FusedGemm", [normal(3, 4), normal(4, 5)], activation="Sigmoid")
    add("conv", "FusedConv", [normal(2, 2, 5, 4), normal(4, 1, 3, 2), normal(4), normal(2, 4, 5, 3)], group=2, pads=[1, 0, 1, 0],
        activation="Tanh")  # fmt: skip
    add("conv_clip", "FusedConv", [normal(1, 2, 4, 4), normal(3, 2, 2, 2)], activation="Clip", activation_params=[-0.3, 0.9])
    add("conv_last", "NhwcFusedConv", [normal(2, 5, 4, 2), normal(4, 1, 3, 2), normal(4), normal(2, 5, 3, 4)], group=2,
        pads=[1, 0, 1, 0], activation="Sigmoid", runs=False)  # fmt: skip
    add("conv_plain", "NhwcConv", [normal(2, 5, 4, 3), normal(4, 3, 2, 2), normal(4)], strides=[2, 1], runs=False)
    add("simplified", "SimplifiedLayerNormalization", [normal(2, 3, 6), normal(6)], domain="", epsilon=1e-3, axis=-1)
    add("layer", "LayerNormalization", [normal(2, 3, 6), normal(6), normal(6)], domain="", epsilon=1e-3, axis=-1)
    add("skip_layer", "SkipLayerNormalization", [normal(2, 3, 6), normal(2, 3, 6), normal(6), normal(6), normal(6)],
        [True, False, False, True])  # fmt: skip
    add("skip_rows", "SkipLayerNormalization", [normal(2, 3, 6), normal(3, 6), normal(6)], epsilon=1e-3)
    add("skip_simplified", "SkipSimplifiedLayerNormalization", [normal(2, 3, 6), normal(2, 3, 6), normal(6), normal(6)],
        [True, False, False, True], epsilon=1e-3)  # fmt: skip
    add("embedding", "EmbedLayerNormalization", [i32([[1, 4, 2], [0, 1, 5]]), i32([[0, 0, 1], [1, 1, 0]]), normal(6, 4), normal(5, 4),
        normal(2, 4), normal(4), normal(4), i32([[1, 1, 0], [1, 1, 1]])], [True, True, True], integers={1: TensorProto.INT32}, epsilon=1e-3)  # fmt: skip
    add("embedding_positions", "EmbedLayerNormalization", [i32([[1, 4, 2], [0, 1, 5]]), None, normal(6, 4), normal(5, 4), None, normal(4),
        normal(4), None, i32([[4, 2, 0]])], epsilon=1e-3, mask_index_type=0)  # fmt: skip
    projection = lambda: [normal(2, 4, 5), normal(5, 18), normal(18)]  # noqa: E731
    add("attention", "Attention", projection(), [True, True], num_heads=3, unidirectional=1)
    add("attention_lengths", "Attention", [*projection(), i32([4, 2])], num_heads=3)
    add("attention_bounds", "Attention", [*projection(), i32([4, 3, 1, 0])], num_heads=3, mask_filter_value=-3.0)
    add("attention_keys", "Attention", [*projection(), i32([[1, 1, 1, 0], [0, 1, 1, 1]])], num_heads=3, scale=0.3)
    # No key is visible to the first query of the second entry.
    add("attention_no_keys", "Attention", [*projection(), i32([[1, 1, 1, 0], [0, 1, 1, 1]])], num_heads=3, unidirectional=1)
    add("attention_queries", "Attention", [*projection(), Operand(np.tri(4, dtype=np.int32)[None].repeat(2, 0)), None, normal(1, 3, 4, 4)],
        num_heads=3)  # fmt: skip
    add("attention_widths", "Attention", [normal(2, 4, 5), normal(5, 21)], num_heads=3, qkv_hidden_sizes=[6, 6, 9])
    add("heads", "MultiHeadAttention", [normal(2, 3, 6), normal(2, 5, 6), normal(2, 5, 9), normal(21)], num_heads=3)
    add("heads_masked", "MultiHeadAttention", [normal(2, 3, 6), normal(2, 5, 6), normal(2, 5, 6), None, i32([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]]),
        normal(2, 1, 3, 5)], num_heads=3)  # fmt: skip
    add("heads_split", "MultiHeadAttention", [normal(2, 3, 6), normal(2, 3, 5, 2), normal(2, 3, 5, 2)], num_heads=3)
    add("heads_packed", "MultiHeadAttention", [normal(2, 4, 3, 3, 2)], num_heads=3, unidirectional=1, runs=False)
    add("heads_packed_keys", "MultiHeadAttention", [normal(2, 4, 6), normal(2, 5, 3, 2, 2)], num_heads=3, runs=False)
    lengths = [i32([4, 4]), Operand(np.array(5, np.int32))]
    tables = lambda: [normal(7, 8), normal(7, 8)]  # noqa: E731
    add("groups", "GroupQueryAttention", [normal(2, 5, 32), normal(2, 5, 16), normal(2, 5, 16), None, None, *lengths], [True, True, True],
        num_heads=4, kv_num_heads=2)  # fmt: skip
    add("groups_packed", "GroupQueryAttention", [normal(2, 5, 64), None, None, None, None, *lengths, *tables()], num_heads=2, kv_num_heads=1,
        do_rotary=1, rotary_interleaved=1, local_window_size=2, scale=0.4)  # fmt: skip
    add("groups_rotary", "GroupQueryAttention", [normal(2, 5, 64), normal(2, 5, 32), normal(2, 5, 32), None, None, *lengths, *tables(),
        Operand(np.tile(np.arange(1, 6), (2, 1))), normal(1, 4, 5, 5)], num_heads=4, kv_num_heads=2, do_rotary=1, softcap=2.0)  # fmt: skip
    add("rotary", "RotaryEmbedding", [normal(2, 3, 12), Operand(np.array([[0, 1, 2], [2, 5, 1]])), normal(7, 2), normal(7, 2)], num_heads=2,
        rotary_embedding_dim=4)  # fmt: skip
    add("rotary_offset", "RotaryEmbedding", [normal(2, 3, 4, 6), Operand(np.array([2])), normal(7, 3), normal(7, 3)], interleaved=1)
    bits = lambda low, high, shape, kind=np.uint8: Operand(random.integers(low, high, shape).astype(kind))  # noqa: E731
    scales = lambda *shape, size=0.1: Operand(random.uniform(size, 2 * size, shape).astype(np.float32).astype(np.float64))  # noqa: E731
    codes = lambda *shape: bits(0, 256, shape)  # noqa: E731
    # 35 columns are two blocks of 16, and 3 columns of a third block.
    add("nbits", "MatMulNBits", [normal(2, 3, 35), codes(5, 3, 8), scales(5, 3)], K=35, N=5, bits=4, block_size=16, accuracy_level=1)
    add("nbits_2", "MatMulNBits", [normal(3, 35), codes(5, 3, 4), scales(5, 3), codes(5, 1), None, normal(5)], K=35, N=5, bits=2, block_size=16)
    small = Operand(normal(3, 64).array / 16)
    add("nbits_8", "MatMulNBits", [small, codes(4, 2, 32), scales(8, size=0.004), codes(8)], K=64, N=4, bits=8, block_size=32)
    add("nbits_zeros", "MatMulNBits", [normal(35), codes(5, 3, 8), scales(5, 3), codes(5, 2)], K=35, N=5, block_size=16)
    add("nbits_floats", "MatMulNBits", [normal(3, 35), codes(5, 3, 8), scales(5, 3), Operand(random.uniform(0, 15, (5, 3)).astype(np.float32).astype(np.float64))],
        K=35, N=5, bits=4, block_size=16)  # fmt: skip
    add("nbits_groups", "MatMulNBits", [normal(3, 35), codes(5, 3, 8), scales(5, 3), None, bits(0, 3, 35, np.int32)], K=35, N=5, bits=4,
        block_size=16)  # fmt: skip
    add("nf4", "MatMulBnb4", [normal(2, 3, 35), codes(88), scales(11, size=0.5)], K=35, N=5, block_size=16, quant_type=1)
    add("fp4", "MatMulBnb4", [normal(3, 32), codes(64), scales(4, size=0.5)], K=32, N=4, block_size=32, quant_type=0)
    rows = Operand(np.array([[1, 5], [-1, 0]]))
    add("table", "GatherBlockQuantized", [codes(6, 18), rows, scales(6, 3), codes(6, 2)], bits=4, block_size=16, quantize_axis=-1)
    add("table_2", "GatherBlockQuantized", [codes(6, 8), rows, scales(6, 2)], bits=2, block_size=16, quantize_axis=1)
    add("table_8", "GatherBlockQuantized", [codes(6, 35), i32([4]), scales(6, 3, size=0.004)], bits=8, block_size=16, quantize_axis=-1)
    add("table_int4", "GatherBlockQuantized", [bits(-8, 8, (35, 6), ml_dtypes.int4), rows, scales(3, 6), bits(-8, 8, (3, 6), ml_dtypes.int4)],
        block_size=16, quantize_axis=0, gather_axis=1)  # fmt: skip
    add("table_elements", "GatherBlockQuantized", [bits(0, 16, (35, 3), ml_dtypes.uint4), i32([20, 1]), scales(3, 3)], block_size=16,
        quantize_axis=0, gather_axis=0)  # fmt: skip
    add("table_float8", "GatherBlockQuantized", [Operand(random.normal(0, 1, (6, 20)).astype(ml_dtypes.float8_e4m3fn)), rows, scales(1, 1)],
        block_size=0, quantize_axis=-1)  # fmt: skip
    add("dequantize", "DequantizeLinear", [bits(0, 60, (2, 3), np.uint16), scales(3), bits(0, 60, 3, np.uint16)], axis=1)
    add("dequantize_int4", "DequantizeLinear", [bits(-8, 8, (3, 5), ml_dtypes.int4), scales(1)])
    fixed = lambda operand: Operand(operand.array, constant=True)  # noqa: E731
    add("quantize", "QuantizeLinear", [fixed(normal(4, 3)), fixed(scales(3)), bits(-9, 9, 3, np.int16)], axis=-1,
        integers={0: TensorProto.INT16})  # fmt: skip
    return made


def imports() -> list:
    return [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]


def element(dtype) -> int:
    return TensorProto.DOUBLE if dtype == np.float64 else TensorProto.FLOAT
