//===- QuantizationOps.cpp - Blockwise quantization -------------------------------------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/attributes/QuantizationTable.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Shape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mtc;

namespace {

/// The blocks of codes: the rows of two-dimensional codes, or successive codes of a flat tensor.
struct CodeBlocks {
  CodeBlocks(QuantizationMap map, RankedTensorType codes)
      : areRows(codes.getRank() == 2), elements(codes.getNumElements()),
        block(areRows ? codes.getDimSize(1) : getQuantizationTable(map).block) {}

  int64_t count() const { return block ? (elements + block - 1) / block : 0; }
  bool areComplete() const { return block && elements % block == 0; }

  bool areRows;
  int64_t elements, block;
};

} // namespace

/// Verifies quantize_c1: there is one code for each element, and one scale for each block.
static LogicalResult verifyBlocks(Operation *op, QuantizationMap map, RankedTensorType elements,
                                  RankedTensorType codes, RankedTensorType scales) {
  const CodeBlocks blocks(map, codes);
  const int64_t count = elements.getNumElements();
  const int64_t expected =
      blocks.areRows ? blocks.count() : getQuantizationTable(map).blocksOf(count);
  if (count == 0 || blocks.elements != count || scales.getNumElements() != expected)
    return op->emitOpError() << "has " << blocks.elements << " codes and "
                             << scales.getNumElements() << " scales for " << count
                             << " elements, expected a code for each and " << expected
                             << " scales (quantize_c1)";
  return success();
}

LogicalResult DequantizeBlocksOp::verify() {
  return verifyBlocks(*this, getMap(), getResult().getType(), getCodes().getType(),
                      getScales().getType());
}

LogicalResult QuantizeBlocksOp::verify() {
  return verifyBlocks(*this, getMap(), getInput().getType(), getCodes().getType(),
                      getScales().getType());
}

/// Verifies pack_c1: the map has four bits; blocks are complete, and there is a byte for two codes.
static LogicalResult verifyPacking(Operation *op, QuantizationMap map, RankedTensorType codes,
                                   RankedTensorType bytes) {
  const CodeBlocks blocks(map, codes);
  SmallVector<int64_t> expected(codes.getShape());
  expected.back() /= 2;
  if (getQuantizationTable(map).bits != 4 || !blocks.areComplete() || blocks.block % 2 != 0 ||
      ArrayRef<int64_t>(expected) != bytes.getShape())
    return op->emitOpError() << "packs " << blocks.elements << " codes in "
                             << bytes.getNumElements()
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
  BlockKernel(OpBuilder &builder, Operation *op, QuantizationMap map, const CodeBlocks &blocks,
              ArrayRef<int64_t> reduced = {})
      : KernelBuilder(builder, op, spaceOf(blocks), reduced, iterationsOf(blocks)),
        table(getQuantizationTable(map)), element(dim(0) * space()[1] + dim(1)), block(dim(0)),
        b(body()), lookedUp(addConstant(table.asTensor(builder.getContext()))) {
    if (blocks.areRows)
      code = {dim(0), dim(1)};
    else
      code = {element};
  }

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
  AffineExpr element, block;    ///< indices of an iteration's element and of its scale
  SmallVector<AffineExpr> code; ///< indices of an iteration's code

private:
  Value searchTree(Value scaled);
  Value searchNearLines(Value x, Value scaled);
  /// If there is a single incomplete block, the row has the length of that block.
  static SmallVector<int64_t> spaceOf(const CodeBlocks &blocks) {
    return {blocks.count(), std::min(blocks.block, blocks.elements)};
  }
  static std::optional<int64_t> iterationsOf(const CodeBlocks &blocks) {
    return blocks.elements > blocks.block && !blocks.areComplete() ? std::optional(blocks.elements)
                                                                   : std::nullopt;
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
  BlockKernel kernel(builder, *this, getMap(), CodeBlocks(getMap(), getCodes().getType()));
  Value value = kernel.dequantize(kernel.load(0, kernel.code), kernel.load(1, kernel.block));
  return kernel.yield(value, {{kernel.element}});
}

FusibleShape QuantizeBlocksOp::getFusibleShape() { return FusibleShape::RowReduction; }

Operation *QuantizeBlocksOp::buildKernel(OpBuilder &builder) {
  BlockKernel kernel(builder, *this, getMap(), CodeBlocks(getMap(), getCodes().getType()), 1);
  Value x = kernel.load(0, kernel.element);
  Value scale = kernel.scaleOf(x);
  return kernel.yield({kernel.quantize(x, scale), scale}, {kernel.code, {kernel.block}});
}

namespace {

/// A kernel over the bytes of packed codes: blocks, and parts and bytes of a block.
struct PackedBlocks {
  PackedBlocks(QuantizationMap map, RankedTensorType codes)
      : blocks(map, codes), half(blocks.block / 2) {}

  /// Returns the indices of an element of a block of this length.
  SmallVector<AffineExpr> at(AffineExpr block, int64_t length, AffineExpr number) const {
    if (blocks.areRows)
      return {block, number};
    return {block * length + number};
  }

  CodeBlocks blocks;
  int64_t half;
};

} // namespace

FusibleShape PackCodesOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *PackCodesOp::buildKernel(OpBuilder &builder) {
  const PackedBlocks packed(getMap(), getCodes().getType());
  const int64_t half = packed.half;
  KernelBuilder kernel(builder, *this, {packed.blocks.count(), half});
  ImplicitLocOpBuilder &b = kernel.body();
  auto codeAt = [&](int64_t offset) {
    return kernel.load(0, packed.at(kernel.dim(0), 2 * half, kernel.dim(1) + offset));
  };
  Value shift = scalarConstant(b, getLoc(), b.getI8Type(), 4);
  Value upper = arith::ShLIOp::create(b, codeAt(0), shift);
  Value byte = arith::OrIOp::create(b, upper, codeAt(half));
  return kernel.yield(byte, {packed.at(kernel.dim(0), half, kernel.dim(1))});
}

FusibleShape UnpackCodesOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *UnpackCodesOp::buildKernel(OpBuilder &builder) {
  const PackedBlocks packed(getMap(), getCodes().getType());
  const int64_t half = packed.half;
  KernelBuilder kernel(builder, *this, {packed.blocks.count(), 2, half});
  ImplicitLocOpBuilder &b = kernel.body();
  auto constant = [&](double value) { return scalarConstant(b, getLoc(), b.getI8Type(), value); };
  Value byte = kernel.load(0, packed.at(kernel.dim(0), half, kernel.dim(2)));
  Value isLower = kernel.require({}, arith::CmpIPredicate::sge, kernel.dim(1), 1);
  Value upper = arith::ShRUIOp::create(b, byte, constant(4));
  Value code =
      arith::SelectOp::create(b, isLower, arith::AndIOp::create(b, byte, constant(15)), upper);
  return kernel.yield(code,
                      {packed.at(kernel.dim(0), 2 * half, kernel.dim(1) * half + kernel.dim(2))});
}
