//===- RandomOps.cpp - Counter-based random bits ----------------------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Shape.h"

#include <array>
#include <limits>

using namespace mlir;
using namespace mtc;

void RandomBitsOp::build(OpBuilder &b, OperationState &state, Type type, Value seed, Value step,
                         uint64_t stream) {
  build(b, state, type, seed, step, stream, /*part=*/Value(), /*parts=*/1, /*run=*/1);
}

LogicalResult RandomBitsOp::verify() {
  Type scalar = RankedTensorType::get({}, IntegerType::get(getContext(), 64));
  for (Value operand : getOperands())
    if (operand.getType() != scalar)
      return emitOpError() << "seed, step or part is " << operand.getType() << ", expected "
                           << scalar << " (random_bits_c1)";
  int64_t stream = getStream();
  if (stream < 0 || stream > std::numeric_limits<uint32_t>::max())
    return emitOpError() << "stream " << stream << " does not fit into 32 bits (random_bits_c1)";
  if (getType().getElementTypeBitWidth() != 32)
    return emitOpError() << "result has elements " << getType().getElementType()
                         << ", expected 32-bit integers (random_bits_c2)";
  std::optional<int64_t> count = countElements(getType().getShape());
  const auto parts = static_cast<int64_t>(getParts()), run = static_cast<int64_t>(getRun());
  if (parts < 1 || run < 1 || (!getPart() && parts != 1) || (getPart() && count.value_or(0) % run))
    return emitOpError() << "result " << getType() << " is one of " << parts << " parts in runs of "
                         << run << " elements, expected whole runs (random_bits_c3)";
  if (!count || *count > (int64_t{1} << 32) / parts)
    return emitOpError() << "result " << getType()
                         << " has more elements than 32 bits can number (random_bits_c2)";
  return success();
}

/// Counts ten rounds of about ten integer operations.
Cost RandomBitsOp::getCost() {
  Cost cost = detail::defaultCost(*this);
  cost.flops = 100 * getType().getNumElements();
  return cost;
}

FusibleShape RandomBitsOp::getFusibleShape() { return FusibleShape::Elementwise; }

namespace {

/// Philox4x32-10 on scalars; constants and rounds as in Salmon et al., SC 2011, section 3.3.
class Philox {
public:
  explicit Philox(ImplicitLocOpBuilder &b) : b(b) {}

  /// Returns the first output word for a counter and a key of 32-bit words.
  Value firstWord(std::array<Value, 4> counter, std::array<Value, 2> key) {
    for (int round = 0; round < 10; ++round) {
      if (round > 0)
        key = {arith::AddIOp::create(b, key[0], word(0x9E3779B9)),
               arith::AddIOp::create(b, key[1], word(0xBB67AE85))};
      auto [high0, low0] = multiply(counter[0], 0xD2511F53);
      auto [high1, low1] = multiply(counter[2], 0xCD9E8D57);
      counter = {mix(high1, counter[1], key[0]), low1, mix(high0, counter[3], key[1]), low0};
    }
    return counter[0];
  }

  Value word(uint32_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value lowWord(Value wide) { return arith::TruncIOp::create(b, b.getI32Type(), wide); }
  Value highWord(Value wide) {
    Value shift = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
    return lowWord(arith::ShRUIOp::create(b, wide, shift));
  }

private:
  /// Returns the high and the low word of a product.
  std::pair<Value, Value> multiply(Value x, uint32_t factor) {
    Value wide = arith::ExtUIOp::create(b, b.getI64Type(), x);
    Value constant = arith::ConstantOp::create(b, b.getI64IntegerAttr(factor));
    Value product = arith::MulIOp::create(b, wide, constant);
    return {highWord(product), lowWord(product)};
  }
  Value mix(Value x, Value y, Value z) {
    return arith::XOrIOp::create(b, arith::XOrIOp::create(b, x, y), z);
  }

  ImplicitLocOpBuilder &b;
};

} // namespace

Operation *RandomBitsOp::buildKernel(OpBuilder &builder) {
  ArrayRef<int64_t> shape = getType().getShape();
  KernelBuilder kernel(builder, *this, shape);
  SmallVector<AffineExpr> index;
  AffineExpr linear = kernel.number(0);
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    index.push_back(kernel.dim(axis));
    linear = linear * extent + kernel.dim(axis);
  }
  Philox philox(kernel.body());
  Value seed = kernel.load(0, {}), step = kernel.load(1, {});
  Value element;
  if (!getPart()) {
    element = kernel.index(linear);
  } else {
    const auto parts = static_cast<int64_t>(getParts()), run = static_cast<int64_t>(getRun());
    element = arith::AddIOp::create(
        kernel.body(), kernel.index(linear.floorDiv(run) * (run * parts) + linear % run),
        arith::MulIOp::create(kernel.body(), kernel.load(2, {}), kernel.constant(run)));
  }
  Value bits =
      philox.firstWord({philox.lowWord(element), philox.word(static_cast<uint32_t>(getStream())),
                        philox.lowWord(step), philox.highWord(step)},
                       {philox.lowWord(seed), philox.highWord(seed)});
  return kernel.yield(bits, index);
}
