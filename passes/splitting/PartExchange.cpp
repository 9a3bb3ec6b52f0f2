//===- PartExchange.cpp - Parts of values of the ranks of a group -----------------------------===//

#include "passes/splitting/PartExchange.h"

#include "passes/sharding/AxisParts.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mtc;

/// Values of at most this many elements are gathered whole: owners of pieces would save less than
/// the second exchange takes.
static constexpr int64_t smallElements = 4096;

Value PartExchange::partOf(Value whole, AxisSplitAttr split) {
  DenseElementsAttr splat;
  if (matchPattern(whole, m_Constant(&splat)) && splat.isSplat())
    return b.constant(splat.resizeSplat(split.getPartOf(typeOf(whole))));
  return takePart(b, whole, split);
}

bool PartExchange::addsInPieces(RankedTensorType type) {
  return type.getNumElements() > smallElements;
}

Value PartExchange::rankTimes(int64_t factor) {
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < group.count; ++i)
    numbers.push_back(i * factor);
  Value all = b.constant(DenseElementsAttr::get(
      RankedTensorType::get({group.count}, b.getI64Type()), ArrayRef(numbers)));
  auto own =
      b.create<OwnPieceOp>(TypeRange(RankedTensorType::get({1}, b.getI64Type())), all, group);
  return b.reshape(own.getResult(0), {});
}
