//===- PartExchange.cpp - Parts of values of the ranks of a group -----------------------------===//

#include "passes/splitting/PartExchange.h"

#include "ir/attributes/DiscardableAttributes.h"
#include "passes/sharding/AxisParts.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mtc;

/// Values of at most this many elements are gathered whole: owners of pieces would save less than
/// the second exchange takes.
static constexpr int64_t smallElements = 4096;

Value PartExchange::flatten(Value value) {
  return b.reshape(value, {typeOf(value).getNumElements()});
}

Value PartExchange::partOf(Value whole, AxisSplitAttr split) {
  DenseElementsAttr splat;
  if (matchPattern(whole, m_Constant(&splat)) && splat.isSplat())
    return b.constant(splat.resizeSplat(split.getPartOf(typeOf(whole))));
  return takePart(b, whole, split);
}

static Value combine(TensorBuilder &b, ReductionKind kind, Value lhs, Value rhs) {
  switch (kind) {
  case ReductionKind::Add:
    return b.add(lhs, rhs);
  case ReductionKind::Mul:
    return b.mul(lhs, rhs);
  case ReductionKind::Max:
    return b.max(lhs, rhs);
  case ReductionKind::Min:
    return b.min(lhs, rhs);
  case ReductionKind::And:
    return b.logicalAnd(lhs, rhs);
  case ReductionKind::Or:
    return b.logicalOr(lhs, rhs);
  }
  llvm_unreachable("kind of reduction");
}

Value PartExchange::combineTree(ArrayRef<Value> values, ReductionKind kind) {
  SmallVector<Value> level(values);
  while (level.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(::combine(b, kind, level[i], level[i + 1]));
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
  }
  return level.front();
}

/// A gather on one rank separates addends from the kernels and calls that add them.
Value PartExchange::separate(Value value) {
  auto gather = b.create<AllGatherOp>(TypeRange(value.getType()), flatten(value), RankGroup());
  gather->setAttr(addendsAttribute, b.getUnitAttr());
  return gather.getResult(0);
}

Value PartExchange::combineOwn(ArrayRef<Value> values, ReductionKind kind) {
  if (values.size() == 1)
    return values.front();
  return combineTree(llvm::map_to_vector(values, [&](Value each) { return separate(each); }), kind);
}

/// Combines the rows of a matrix to a flat value.
Value PartExchange::combineRows(Value rows, ReductionKind kind) {
  const int64_t count = shapeOf(rows)[1];
  SmallVector<Value> values;
  for (int64_t i = 0; i < group.count; ++i)
    values.push_back(b.reshape(b.slice(rows, {i, 0}, {1, count}, {1, 1}), {count}));
  return combineTree(values, kind);
}

bool PartExchange::addsInPieces(RankedTensorType type) {
  return type.getNumElements() > smallElements;
}

/// Returns the combination of the pieces of the values of all ranks that this rank owns, flat.
Value PartExchange::combinePiece(Value value, int64_t piece, ReductionKind kind) {
  auto received = b.create<AllToAllOp>(ValueRange(value), ArrayRef<int64_t>{piece}, group);
  received->setAttr(addendsAttribute, b.getUnitAttr());
  return combineRows(received, kind);
}

Value PartExchange::combinePart(Value value, AxisSplitAttr split, ReductionKind kind) {
  RankedTensorType part = split.getPartOf(typeOf(value));
  return b.reshape(combinePiece(value, part.getNumElements(), kind), part.getShape());
}

Value PartExchange::combine(Value value, ReductionKind kind) {
  if (group.count == 1)
    return value;
  RankedTensorType type = typeOf(value);
  const int64_t count = type.getNumElements();
  if (!addsInPieces(type)) {
    auto rows = RankedTensorType::get({group.count, count}, type.getElementType());
    auto all = b.create<AllGatherOp>(TypeRange(rows), flatten(value), group);
    all->setAttr(addendsAttribute, b.getUnitAttr());
    return b.reshape(combineRows(all.getResult(0), kind), type.getShape());
  }
  const auto piece = static_cast<int64_t>(llvm::divideCeil(count, group.count));
  auto all = b.create<AllGatherOp>(TypeRange(type), combinePiece(value, piece, kind), group);
  return all.getResult(0);
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
