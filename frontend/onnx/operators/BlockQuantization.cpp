//===- BlockQuantization.cpp - Weights in 2, 4 or 8 bits, of onnxruntime ----------------------===//
//
// MatMulNBits and GatherBlockQuantized read weights that are quantized by blocks of their columns:
// an element is (code - zero point) * scale. Codes of 2 and 4 bits are packed into bytes, the low
// bits first. MatMulBnb4 reads matrices as bitsandbytes quantizes them: blocks of the flat matrix
// whose codes select values of a table, the upper four bits of a byte first. Programs store the
// packed codes; each use of the weights unpacks them.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Blocks.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/KeyMask.h"
#include "frontend/onnx/operators/support/MatMul.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Returns the number of bits of a code.
FailureOr<int64_t> readBits(NodeView &node) {
  int64_t bits = node.integer("bits", 4);
  if (node.failed())
    return failure();
  if (bits != 2 && bits != 4 && bits != 8)
    return node.failure("attribute bits = " + Twine(bits) + ", expected 2, 4 or 8");
  return bits;
}

FailureOr<int64_t> readBlock(NodeView &node, std::optional<int64_t> byDefault) {
  int64_t block = node.integer("block_size", byDefault);
  if (node.failed())
    return failure();
  if (block < 16 || !llvm::isPowerOf2_64(block))
    return node.failure("attribute block_size = " + Twine(block) +
                        ", expected a power of 2 of at least 16");
  return block;
}

LogicalResult checkExtents(NodeView &node, int64_t rows, int64_t depth) {
  if (rows < 1 || depth < 1)
    return node.failure("attributes N = " + Twine(rows) + " and K = " + Twine(depth) +
                        ", expected at least 1");
  return success();
}

/// The zero point of unsigned codes if the node has none: the middle of their range.
double middleOf(int64_t bits) { return std::ldexp(1.0, static_cast<int>(bits) - 1); }

//===--- MatMulNBits --------------------------------------------------------------------------===//

/// The weights of MatMulNBits, a matrix [rows, depth].
struct PackedMatrix {
  int64_t rows, depth, bits, block;

  int64_t blocks() const { return ceilDivide(depth, block); }
  int64_t paddedDepth() const { return blocks() * block; }
  Extents codesShape() const { return {rows, blocks(), block * bits / 8}; }
  Extents scalesShape() const { return {rows, blocks()}; }
  Extents packedZerosShape() const { return {rows, ceilDivide(blocks() * bits, 8)}; }

  static FailureOr<PackedMatrix> read(NodeView &node) {
    int64_t rows = node.integer("N"), depth = node.integer("K");
    FailureOr<int64_t> bits = readBits(node), block = readBlock(node, std::nullopt);
    if (node.failed() || failed(bits) || failed(block) || failed(checkExtents(node, rows, depth)))
      return failure();
    return PackedMatrix{rows, depth, *bits, *block};
  }
};

/// Checks that operand `i` has this shape, or is omitted or flat: files before onnxruntime 1.22
/// have flat scales and zero points.
bool hasShapeOrIsFlat(Inference &node, size_t i, ArrayRef<int64_t> shape) {
  return (node.has(i) && node.shape(i) == ArrayRef<int64_t>({elementCount(shape)})) ||
         node.hasShape(i, shape);
}

/// Operands: A [.., depth], codes, scales, zero points, groups of columns, bias [rows].
LogicalResult inferMatMulNBits(Inference &node) {
  FailureOr<PackedMatrix> matrix = PackedMatrix::read(node);
  if (failed(matrix) || !node.hasRank(0, 1) ||
      failed(refuseAttribute(node, "weight_prepacked", 0,
                             "the layout is that of a GPU's kernels. Quantize the model without "
                             "prepacking")))
    return failure();
  node.integer("accuracy_level", 0); // The type in which onnxruntime may round A.
  auto [rows, depth, bits, block] = *matrix;
  Extents shape(node.shape(0));
  if (shape.back() != depth)
    return node.failure(Twine(node.operandName(0)) + " has shape " + shapeText(shape) +
                        ", expected " + Twine(depth) + " columns");
  shape.back() = rows;
  if (!node.hasShape(1, matrix->codesShape()) ||
      !hasShapeOrIsFlat(node, 2, matrix->scalesShape()) || !node.hasShape(5, rows))
    return failure();
  if (node.has(3)) {
    bool isPacked = !isa<FloatType>(node.elementType(3));
    if (!isPacked && !node.sameElementType(0, 3))
      return failure();
    if (!hasShapeOrIsFlat(node, 3, isPacked ? matrix->packedZerosShape() : matrix->scalesShape()))
      return failure();
  }
  if (node.has(4) && node.shape(4) != ArrayRef<int64_t>({matrix->paddedDepth()}) &&
      !node.hasShape(4, depth))
    return failure();
  return node.result(0, node.elementType(0), shape);
}

/// Moves the columns of x [.., depth] to the order in which `unpackPlanes` returns those of codes:
/// each group of `group` columns is sorted by the position of the code in its byte.
Value inOrderOfPlanes(TensorBuilder &b, Value x, int64_t group, int64_t perByte) {
  SmallVector<int64_t> shape(shapeOf(x)), parts(ArrayRef<int64_t>(shape).drop_back());
  int64_t rank = typeOf(x).getRank();
  parts.append({shape.back() / group, group / perByte, perByte});
  SmallVector<int64_t> order = axesFrom(0, rank + 2);
  std::swap(order[rank], order[rank + 1]);
  return b.reshape(b.transpose(b.reshape(x, parts), order), shape);
}

/// Pads the columns of x to whole blocks, and orders them as `unpackPlanes` orders the columns of
/// the codes.
Value orderedLikeCodes(TensorBuilder &b, Value x, const PackedMatrix &matrix) {
  SmallVector<int64_t> padding(shapeOf(x).size(), 0), none = padding;
  padding.back() = matrix.paddedDepth() - matrix.depth;
  if (padding.back() > 0)
    x = b.pad(x, none, padding, none);
  return matrix.bits == 8 ? x : inOrderOfPlanes(b, x, matrix.block, 8 / matrix.bits);
}

/// Multiplies by the transposed weights and adds the bias. The order of the columns does not matter
/// if both operands have the same one, so codes are unpacked in the order that vectors require,
/// unless the columns have groups.
LogicalResult convertMatMulNBits(Conversion &node) {
  FailureOr<PackedMatrix> read = PackedMatrix::read(node);
  if (failed(read))
    return failure();
  TensorBuilder &b = node.b;
  const PackedMatrix &matrix = *read;
  auto [rows, depth, bits, block] = matrix;
  bool hasGroups = node.has(4);
  Extents perBlock = matrix.scalesShape(), shape{rows, hasGroups ? depth : matrix.paddedDepth()};
  Type element = node.elementType(0), wide = computeType(b, element);
  Value x = node.value(0), codes = b.reshape(node.value(1), matrix.codesShape());
  if (hasGroups) {
    codes = unpackBits(b, b.reshape(codes, {rows, matrix.paddedDepth() * bits / 8}), bits, depth);
  } else {
    codes = b.reshape(unpackPlanes(b, codes, 2, bits), shape);
    x = orderedLikeCodes(b, x, matrix);
  }
  // Extends scales or zero points to all columns, by blocks or by the node's groups.
  auto spread = [&](Value each) {
    if (!hasGroups)
      return spreadBlocks(b, each, 1, block, shape);
    return b.gather(each, b.slice(node.value(4), {0}, {depth}, {1}), 1, 0);
  };
  Value zero;
  if (!node.has(3))
    zero = b.splat(RankedTensorType::get(shape, wide), middleOf(bits));
  else if (isa<FloatType>(node.elementType(3)))
    zero = spread(b.cast(b.reshape(node.value(3), perBlock), wide));
  else
    zero = spread(b.cast(
        unpackBits(b, b.reshape(node.value(3), matrix.packedZerosShape()), bits, matrix.blocks()),
        wide));
  Value scale = spread(b.cast(b.reshape(node.value(2), perBlock), wide));
  Value weights = b.cast(b.mul(b.sub(b.cast(codes, wide), zero), scale), element);
  Value y = matMul(b, x, b.transpose(weights, {1, 0}), node.resultShape());
  return node.result(0, node.has(5) ? b.add(y, node.broadcastValue(5, node.resultShape())) : y);
}

//===--- MatMulBnb4 ---------------------------------------------------------------------------===//

/// The values of FP4 and NF4 codes, from code 0 on, as in bitsandbytes.
constexpr double fp4Values[] = {
    0.0,  5.208333333e-03,  0.66666667,  1.0,  0.33333333,  0.5,  0.16666667,  0.25,
    -0.0, -5.208333333e-03, -0.66666667, -1.0, -0.33333333, -0.5, -0.16666667, -0.25};
constexpr double nf4Values[] = {-1.0,
                                -0.6961928009986877,
                                -0.5250730514526367,
                                -0.39491748809814453,
                                -0.28444138169288635,
                                -0.18477343022823334,
                                -0.09105003625154495,
                                0.0,
                                0.07958029955625534,
                                0.16093020141124725,
                                0.24611230194568634,
                                0.33791524171829224,
                                0.44070982933044434,
                                0.5626170039176941,
                                0.7229568362236023,
                                1.0};

/// The weights of MatMulBnb4, a matrix [rows, depth].
struct TableMatrix {
  int64_t rows, depth, block;
  bool isNF4;

  int64_t elements() const { return rows * depth; }
  int64_t bytes() const { return ceilDivide(elements(), 2); }
  int64_t blocks() const { return ceilDivide(elements(), block); }

  static FailureOr<TableMatrix> read(NodeView &node) {
    int64_t rows = node.integer("N"), depth = node.integer("K"), type = node.integer("quant_type");
    FailureOr<int64_t> block = readBlock(node, std::nullopt);
    if (node.failed() || failed(block) || failed(checkExtents(node, rows, depth)))
      return failure();
    if (type != 0 && type != 1)
      return node.failure("attribute quant_type = " + Twine(type) +
                          ", expected 0 for FP4 or 1 for NF4");
    return TableMatrix{rows, depth, *block, type == 1};
  }
};

/// Operands: A [.., depth], codes, maxima of the blocks.
LogicalResult inferMatMulBnb4(Inference &node) {
  FailureOr<TableMatrix> matrix = TableMatrix::read(node);
  if (failed(matrix) || !node.hasRank(0, 1) ||
      failed(refuseAttribute(node, "transB", 1,
                             "onnxruntime only multiplies by the transposed "
                             "matrix")))
    return failure();
  node.integer("training_mode", 0); // Whether onnxruntime keeps data for its own gradients.
  Extents shape(node.shape(0));
  if (shape.back() != matrix->depth)
    return node.failure(Twine(node.operandName(0)) + " has shape " + shapeText(shape) +
                        ", expected " + Twine(matrix->depth) + " columns");
  shape.back() = matrix->rows;
  if (!node.hasShape(1, matrix->bytes()) || !node.hasShape(2, matrix->blocks()))
    return failure();
  return node.result(0, node.elementType(0), shape);
}

/// Returns the values of codes, computed by a tree of selections by their bits. The tree vectorizes
/// and is cheap enough to be repeated in the backward pass, so that the weights need not be saved.
Value valuesOf(TensorBuilder &b, Value codes, ArrayRef<double> table, Type element) {
  auto type = RankedTensorType::get(shapeOf(codes), element);
  SmallVector<Value> values;
  for (double value : table)
    values.push_back(b.splat(type, value));
  for (int64_t bit = 1; values.size() > 1; bit *= 2) {
    Value mask = b.splat(codes, static_cast<double>(bit));
    Value isSet = b.compare(Predicate::Eq, b.logicalAnd(codes, mask), mask);
    for (size_t i = 0; i < values.size() / 2; ++i)
      values[i] = b.select(isSet, values[2 * i + 1], values[2 * i]);
    values.truncate(values.size() / 2);
  }
  return values.front();
}

/// Multiplies by the transposed weights. If rows have whole blocks, the columns of both operands
/// are in the order that vectors require; see `convertMatMulNBits`.
LogicalResult convertMatMulBnb4(Conversion &node) {
  FailureOr<TableMatrix> read = TableMatrix::read(node);
  if (failed(read))
    return failure();
  TensorBuilder &b = node.b;
  const TableMatrix &matrix = *read;
  auto [rows, depth, block, isNF4] = matrix;
  Type element = node.elementType(0), wide = computeType(b, element);
  bool isWhole = depth % block == 0;
  // Exchanges the halves of each byte, so that the first code is in the low bits.
  Value x = node.value(0), packed = node.value(1), four = b.splat(packed, 4.0);
  packed = b.logicalOr(ShiftRightOp::create(b, packed, four), ShiftLeftOp::create(b, packed, four));
  Value maxima = b.cast(node.value(2), wide), codes;
  if (isWhole) {
    Extents shape{rows, depth / block, block};
    codes = unpackPlanes(b, b.reshape(packed, {rows, depth / block, block / 2}), 2, 4);
    maxima = b.broadcast(b.reshape(maxima, {rows, depth / block}), {2}, shape);
    x = inOrderOfPlanes(b, x, block, 2);
  } else {
    Extents shape{1, matrix.elements()};
    codes = unpackBits(b, b.reshape(packed, {1, matrix.bytes()}), 4, matrix.elements());
    maxima = spreadBlocks(b, b.reshape(maxima, {1, matrix.blocks()}), 1, block, shape);
  }
  Value weights = b.mul(valuesOf(b, codes, isNF4 ? nf4Values : fp4Values, wide), maxima);
  weights = b.cast(b.reshape(weights, {rows, depth}), element);
  return node.result(0, matMul(b, x, b.transpose(weights, {1, 0}), node.resultShape()));
}

//===--- GatherBlockQuantized -----------------------------------------------------------------===//

/// The table of GatherBlockQuantized, of shape `shape` without packing.
struct QuantizedTable {
  Extents shape;
  int64_t bits, block, axis, gathered;
  bool isPacked; ///< Codes of 2 or 4 bits are packed along the last axis.

  Extents scalesShape() const {
    Extents scales = shape;
    scales[axis] = ceilDivide(scales[axis], block);
    return scales;
  }

  /// Packs the last axis.
  Extents packed(Extents unpacked) const {
    if (isPacked)
      unpacked.back() = ceilDivide(unpacked.back() * bits, 8);
    return unpacked;
  }

  static FailureOr<QuantizedTable> read(NodeView &node) {
    if (!node.hasRank(0, 1))
      return failure();
    int64_t rank = node.rank(0);
    FailureOr<int64_t> bits = readBits(node);
    int64_t axis = node.axis("quantize_axis", 1, rank),
            gathered = node.axis("gather_axis", 0, rank);
    if (node.failed() || failed(bits))
      return failure();
    bool isFloat = isa<FloatType>(node.elementType(0));
    bool isPacked = node.elementType(0).getIntOrFloatBitWidth() == 8 && !isFloat;
    QuantizedTable table{Extents(node.shape(0)), *bits, 0, axis, gathered, isPacked};
    if (isFloat && node.integer("block_size", 128) == 0) {
      table.block = std::max<int64_t>(table.shape[axis], 1); // One block.
    } else {
      FailureOr<int64_t> block = readBlock(node, 128);
      if (failed(block))
        return failure();
      table.block = *block;
    }
    if (!isPacked)
      return table;
    if (axis != rank - 1 || gathered != 0)
      return node.failure("attributes quantize_axis and gather_axis are " + Twine(axis) + " and " +
                          Twine(gathered) + ", expected the last axis and 0 for bytes");
    table.shape.back() *= 8 / *bits;
    return table;
  }
};

/// Checks that the scales have one element per block. Those of 8-bit floats may broadcast along
/// other axes.
LogicalResult checkTableScales(Inference &node, const QuantizedTable &table) {
  Extents expected = table.scalesShape();
  if (!isa<FloatType>(node.elementType(0)))
    return success(node.hasShape(2, expected));
  bool fits = node.rank(2) == node.rank(0);
  for (int64_t axis = 0; fits && axis < node.rank(0); ++axis)
    fits = node.dim(2, axis) == expected[axis] || (node.dim(2, axis) == 1 && axis != table.axis);
  if (!fits)
    return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                        ", which does not broadcast to " + shapeText(expected));
  return success();
}

/// Operands: table, indices, scales, zero points.
LogicalResult inferGatherQuantized(Inference &node) {
  FailureOr<QuantizedTable> table = QuantizedTable::read(node);
  if (failed(table) || failed(checkTableScales(node, *table)))
    return failure();
  if (isa<FloatType>(node.elementType(0)) &&
      failed(refuseOperand(node, 3, "8-bit floats have no zero point")))
    return failure();
  if (!node.hasShape(3, table->packed(table->scalesShape())))
    return failure();
  Extents shape(ArrayRef<int64_t>(table->shape).take_front(table->gathered));
  llvm::append_range(shape, node.shape(1));
  llvm::append_range(shape, ArrayRef<int64_t>(table->shape).drop_front(table->gathered + 1));
  return node.result(0, node.elementType(2), shape);
}

/// Gathers codes, scales and zero points, so that only the gathered elements are dequantized.
/// Indices along the quantized axis address elements instead.
LogicalResult convertGatherQuantized(Conversion &node) {
  FailureOr<QuantizedTable> table = QuantizedTable::read(node);
  if (failed(table))
    return failure();
  TensorBuilder &b = node.b;
  bool isFloat = isa<FloatType>(node.elementType(0)), gathersFirst = table->gathered != table->axis;
  auto gather = [&](Value x) { return b.gather(x, node.value(1), table->gathered, 0); };
  auto part = [&](Value x) { return gathersFirst ? gather(x) : x; };
  Extents shape = gathersFirst ? Extents(node.resultShape()) : table->shape;
  int64_t axis = table->axis;
  if (gathersFirst && axis > table->gathered)
    axis += node.rank(1) - 1;
  Extents perBlock = shape;
  perBlock[axis] = ceilDivide(shape[axis], table->block);
  Type element = node.elementType(2), wide = computeType(b, element);
  int64_t bits = table->isPacked ? table->bits : 8;

  Value codes = b.cast(unpackBits(b, part(node.value(0)), bits, shape.back()), wide);
  Value scales = b.cast(node.value(2), wide);
  if (isFloat)
    scales = b.broadcastTo(scales, table->scalesShape());
  scales = spreadBlocks(b, part(scales), axis, table->block, shape);
  if (node.has(3)) {
    Value zeros = b.cast(unpackBits(b, part(node.value(3)), bits, perBlock.back()), wide);
    codes = b.sub(codes, spreadBlocks(b, zeros, axis, table->block, shape));
  } else if (table->isPacked) {
    codes = b.sub(codes, b.splat(codes, middleOf(bits)));
  }
  Value y = b.cast(b.mul(codes, scales), element);
  return node.result(0, gathersFirst ? y : gather(y));
}

} // namespace

void addBlockQuantizationOperators(Operators &operators) {
  operators.add(
      "com.microsoft::MatMulNBits", 1,
      {.infer = inferMatMulNBits,
       .convert = convertMatMulNBits,
       .roles = {{2, OperandRole::QuantizationScale}, {3, OperandRole::QuantizationScale}}});
  operators.add("com.microsoft::MatMulBnb4", 1,
                {.infer = inferMatMulBnb4,
                 .convert = convertMatMulBnb4,
                 .roles = {{2, OperandRole::QuantizationScale}}});
  operators.add("com.microsoft::GatherBlockQuantized", 1,
                {.infer = inferGatherQuantized,
                 .convert = convertGatherQuantized,
                 .roles = {{2, OperandRole::QuantizationScale}},
                 .acceptsPacked = true});
}

} // namespace mtc::onnx
