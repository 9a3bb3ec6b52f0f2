//===- QuantizationOps.cpp - Blockwise quantization -------------------------------------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/attributes/QuantizationTable.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mtc;

/// Verifies quantize_c1: there is one code for each element, and one scale for each block.
static LogicalResult verifyBlocks(Operation *op, QuantizationMap map, Value elements, Value codes,
                                  Value scales) {
  auto count = [](Value value) { return cast<RankedTensorType>(value.getType()).getDimSize(0); };
  int64_t blocks = getQuantizationTable(map).blocksOf(count(elements));
  if (count(elements) == 0 || count(codes) != count(elements) || count(scales) != blocks)
    return op->emitOpError() << "has " << count(codes) << " codes and " << count(scales)
                             << " scales for " << count(elements) << " elements, expected a code "
                             << "for each and " << blocks << " scales (quantize_c1)";
  return success();
}

LogicalResult DequantizeBlocksOp::verify() {
  return verifyBlocks(*this, getMap(), getResult(), getCodes(), getScales());
}

LogicalResult QuantizeBlocksOp::verify() {
  return verifyBlocks(*this, getMap(), getInput(), getCodes(), getScales());
}

/// Verifies pack_c1: the map has four bits; blocks are complete, and there is a byte for two codes.
static LogicalResult verifyPacking(Operation *op, QuantizationMap map, RankedTensorType codes,
                                   RankedTensorType bytes) {
  const QuantizationTable &table = getQuantizationTable(map);
  int64_t count = codes.getDimSize(0);
  if (table.bits != 4 || count % table.block != 0 || bytes.getDimSize(0) * 2 != count)
    return op->emitOpError() << "packs " << count << " codes in " << bytes.getDimSize(0)
                             << " bytes, expected two codes of four bits in each, in whole blocks "
                                "of the map (pack_c1)";
  return success();
}

LogicalResult PackCodesOp::verify() {
  return verifyPacking(*this, getMap(), getCodes().getType(), getBytes().getType());
}

LogicalResult UnpackCodesOp::verify() {
  return verifyPacking(*this, getMap(), getCodes().getType(), getBytes().getType());
}

namespace {

/// A kernel whose iteration space has a row for each block.
class BlockKernel : public KernelBuilder {
public:
  BlockKernel(OpBuilder &builder, Operation *op, QuantizationMap map, int64_t elements,
              ArrayRef<int64_t> reduced = {})
      : KernelBuilder(builder, op, spaceOf(map, elements), reduced, iterationsOf(map, elements)),
        table(getQuantizationTable(map)), element(dim(0) * space()[1] + dim(1)), block(dim(0)),
        b(body()), lookedUp(addConstant(table.asTensor(builder.getContext()))) {}

  /// Loads the entry of the table at an unsigned index of any width plus `offset`.
  Value lookUp(Value number, int64_t offset) {
    Value index = arith::ExtUIOp::create(b, b.getI64Type(), number);
    return load(lookedUp, {symbol(0) + offset}, index);
  }

  Value integer(int64_t value) {
    return scalarConstant(b, b.getLoc(), b.getI32Type(), static_cast<double>(value));
  }
  Value number(float value) { return scalarConstant(b, b.getLoc(), b.getF32Type(), value); }
  Value bitsOf(Value x) { return arith::BitcastOp::create(b, b.getI32Type(), x); }
  Value numberOf(Value bits) { return arith::BitcastOp::create(b, b.getF32Type(), bits); }

  Value dequantize(Value code, Value scale) {
    return arith::MulFOp::create(b, lookUp(code, 0), scale);
  }
  Value scaleOf(Value x);
  Value quantize(Value x, Value scale);

  const QuantizationTable &table;
  AffineExpr element, block; ///< indices of an iteration's element and of its scale

private:
  Value searchTree(Value scaled);
  Value searchNearLines(Value x, Value scaled);
  /// If there is a single incomplete block, the row has the length of that block.
  static SmallVector<int64_t> spaceOf(QuantizationMap map, int64_t elements) {
    const QuantizationTable &table = getQuantizationTable(map);
    return {table.blocksOf(elements), std::min(table.block, elements)};
  }
  static std::optional<int64_t> iterationsOf(QuantizationMap map, int64_t elements) {
    int64_t block = getQuantizationTable(map).block;
    return elements > block && elements % block != 0 ? std::optional(elements) : std::nullopt;
  }

  ImplicitLocOpBuilder &b;
  unsigned lookedUp;
};

} // namespace

/// The order of magnitudes is that of their bits.
Value BlockKernel::scaleOf(Value x) {
  Value magnitude = arith::AndIOp::create(b, bitsOf(x), integer(INT32_MAX));
  Value largest = numberOf(reduce(ReductionKind::Max, magnitude));
  return table.storesMinScale
             ? arith::MaximumFOp::create(b, largest, number(table.minScale)).getResult()
             : largest;
}

Value BlockKernel::quantize(Value x, Value scale) {
  if (!table.storesMinScale)
    scale = arith::MaximumFOp::create(b, scale, number(table.minScale));
  Value scaled =
      table.multiplies
          ? arith::MulFOp::create(b, x, arith::DivFOp::create(b, number(1), scale)).getResult()
          : arith::DivFOp::create(b, x, scale).getResult();
  return table.lines.empty() ? searchTree(scaled) : searchNearLines(x, scaled);
}

/// A branch-free binary search: each step loads one bound and determines one bit of the code, the
/// sign of the difference between the bound and the number.
Value BlockKernel::searchTree(Value scaled) {
  auto codes = static_cast<int64_t>(table.values.size());
  Value node = integer(1);
  for (unsigned bit = 0; bit < table.bits; ++bit) {
    Value distance = arith::SubFOp::create(b, lookUp(node, codes), scaled);
    node = arith::AddIOp::create(b, arith::MulIOp::create(b, node, integer(2)),
                                 arith::ShRUIOp::create(b, bitsOf(distance), integer(31)));
  }
  Value code = arith::SubIOp::create(b, node, integer(codes));
  return arith::TruncIOp::create(b, b.getI8Type(), code);
}

/// Computes the index of the only bound that may be on either side of the number, and compares
/// them. In a signed map, bounds count from the middle one. The lines need not be exact, so that
/// targets may fuse their operations.
Value BlockKernel::searchNearLines(Value x, Value scaled) {
  bool isSigned = table.zeroOfSigned.has_value();
  Value magnitude = isSigned ? math::AbsFOp::create(b, scaled).getResult()
                             : numberOf(arith::MaxSIOp::create(b, bitsOf(scaled), integer(0)));
  auto fused = arith::FastMathFlags::contract;
  Value minimum; // The lines are positive, so their order is that of their bits.
  for (auto [slope, offset] : table.lines) {
    Value y = arith::AddFOp::create(b, arith::MulFOp::create(b, magnitude, number(slope), fused),
                                    number(offset), fused);
    minimum = minimum ? arith::MinSIOp::create(b, minimum, bitsOf(y)).getResult() : bitsOf(y);
  }
  Value position = numberOf(minimum);
  if (isSigned) {
    Value isNegative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, number(0));
    position = arith::AddFOp::create(
        b, number(static_cast<float>(*table.zeroOfSigned)),
        arith::SelectOp::create(b, isNegative, arith::NegFOp::create(b, position), position));
  }
  auto index = arith::TruncIOp::create(b, b.getI8Type(),
                                       arith::FPToSIOp::create(b, b.getI32Type(), position));
  index->setDiscardableAttr(toleranceAttribute, b.getF32FloatAttr(table.tolerance));
  Value isAbove = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, scaled,
                                        lookUp(index, static_cast<int64_t>(table.values.size())));
  return arith::AddIOp::create(b, index, arith::ExtUIOp::create(b, b.getI8Type(), isAbove));
}

FusibleShape DequantizeBlocksOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *DequantizeBlocksOp::buildKernel(OpBuilder &builder) {
  BlockKernel kernel(builder, *this, getMap(), getResult().getType().getDimSize(0));
  Value value = kernel.dequantize(kernel.load(0, kernel.element), kernel.load(1, kernel.block));
  return kernel.yield(value, {{kernel.element}});
}

FusibleShape QuantizeBlocksOp::getFusibleShape() { return FusibleShape::RowReduction; }

Operation *QuantizeBlocksOp::buildKernel(OpBuilder &builder) {
  BlockKernel kernel(builder, *this, getMap(), getInput().getType().getDimSize(0), 1);
  Value x = kernel.load(0, kernel.element);
  Value scale = kernel.scaleOf(x);
  return kernel.yield({kernel.quantize(x, scale), scale}, {{kernel.element}, {kernel.block}});
}

/// Returns the iteration space of packed codes: blocks, and bytes of a block.
static SmallVector<int64_t> packedSpace(QuantizationMap map, RankedTensorType bytes) {
  int64_t half = getQuantizationTable(map).block / 2;
  return {bytes.getDimSize(0) / half, half};
}

FusibleShape PackCodesOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *PackCodesOp::buildKernel(OpBuilder &builder) {
  KernelBuilder kernel(builder, *this, packedSpace(getMap(), getBytes().getType()));
  ImplicitLocOpBuilder &b = kernel.body();
  int64_t half = kernel.space()[1];
  AffineExpr place = kernel.dim(0) * (2 * half) + kernel.dim(1);
  Value shift = scalarConstant(b, getLoc(), b.getI8Type(), 4);
  Value upper = arith::ShLIOp::create(b, kernel.load(0, place), shift);
  Value byte = arith::OrIOp::create(b, upper, kernel.load(0, place + half));
  return kernel.yield(byte, {{kernel.dim(0) * half + kernel.dim(1)}});
}

FusibleShape UnpackCodesOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *UnpackCodesOp::buildKernel(OpBuilder &builder) {
  SmallVector<int64_t> bytes = packedSpace(getMap(), getBytes().getType());
  int64_t half = bytes[1];
  KernelBuilder kernel(builder, *this, {bytes[0], 2, half});
  ImplicitLocOpBuilder &b = kernel.body();
  auto constant = [&](double value) { return scalarConstant(b, getLoc(), b.getI8Type(), value); };
  Value byte = kernel.load(0, kernel.dim(0) * half + kernel.dim(2));
  Value isLower = kernel.require({}, arith::CmpIPredicate::sge, kernel.dim(1), 1);
  Value upper = arith::ShRUIOp::create(b, byte, constant(4));
  Value code =
      arith::SelectOp::create(b, isLower, arith::AndIOp::create(b, byte, constant(15)), upper);
  return kernel.yield(code, {{kernel.dim(0) * (2 * half) + kernel.dim(1) * half + kernel.dim(2)}});
}
