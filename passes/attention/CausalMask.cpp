//===- CausalMask.cpp - Recognition of causal masks -------------------------------------------===//

#include "passes/attention/Masks.h"

#include "ir/builders/Shape.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mtc;

/// Returns k if `takesPart(i, j)` holds exactly where j <= i + k, for all queries i and keys j.
static std::optional<int64_t> offsetOf(int64_t queries, int64_t keys,
                                       llvm::function_ref<bool(int64_t, int64_t)> takesPart) {
  // A row with some but not all keys determines k.
  std::optional<int64_t> offset;
  for (int64_t i = 0; i < queries && !offset; ++i) {
    int64_t count = 0;
    while (count < keys && takesPart(i, count))
      ++count;
    if (count > 0 && count < keys)
      offset = count - 1 - i;
  }
  if (!offset && queries == 1 && keys > 0 && takesPart(0, keys - 1))
    offset = keys - 1;
  if (!offset)
    return std::nullopt;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j)
      if (takesPart(i, j) != (j <= i + *offset))
        return std::nullopt;
  return offset;
}

/// Returns the elements of a constant, inline or in a dense resource.
template <typename T>
static std::optional<ArrayRef<T>> dataOf(Value value, SmallVector<T> &storage) {
  Attribute attribute;
  if (!matchPattern(sameElements(value), m_Constant(&attribute)))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    llvm::append_range(storage, dense.getValues<T>());
    return ArrayRef<T>(storage);
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(attribute);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob || blob->getData().size() != resource.getNumElements() * sizeof(T))
    return std::nullopt;
  return ArrayRef<T>(reinterpret_cast<const T *>(blob->getData().data()),
                     resource.getNumElements());
}

namespace {

/// row * i + column * j + constant, for query i and key j.
struct Position {
  double row = 0, column = 0, constant = 0;
};

} // namespace

/// Returns a constant that is an arithmetic sequence along one axis as a function of its index,
/// such as positions that were folded with the batch axis.
static std::optional<Position> sequenceOf(Value value, int64_t rowAxis, int64_t columnAxis) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || elements.isSplat())
    return std::nullopt;
  for (int64_t axis : {rowAxis, columnAxis}) {
    const int64_t count = elements.getNumElements();
    if (axis < 0 || shapeOf(value)[axis] != count)
      continue;
    auto values = elements.getValues<APInt>();
    const int64_t first = values[0].getSExtValue(), step = values[1].getSExtValue() - first;
    for (int64_t i = 2; i < count; ++i)
      if (values[i].getSExtValue() != first + i * step)
        return std::nullopt;
    const auto slope = static_cast<double>(step);
    return Position{axis == rowAxis ? slope : 0, axis == rowAxis ? 0 : slope,
                    static_cast<double>(first)};
  }
  return std::nullopt;
}

/// Returns an integer tensor as a linear function of the indices along `rowAxis` and `columnAxis`,
/// or nothing if it is not linear. An axis of -1 is absent.
static std::optional<Position> positionOf(Value value, int64_t rowAxis, int64_t columnAxis) {
  if (std::optional<double> number = splatOf(value))
    return Position{0, 0, *number};
  if (std::optional<Position> sequence = sequenceOf(value, rowAxis, columnAxis))
    return sequence;
  Operation *op = value.getDefiningOp();
  if (auto iota = dyn_cast_if_present<IotaOp>(op)) {
    int64_t axis = iota.getAxis();
    if (axis != rowAxis && axis != columnAxis && typeOf(value).getDimSize(axis) > 1)
      return std::nullopt;
    return Position{axis == rowAxis ? 1.0 : 0.0, axis == columnAxis ? 1.0 : 0.0, 0};
  }
  if (auto broadcast = dyn_cast_if_present<BroadcastOp>(op)) {
    SmallVector<int64_t> kept = otherAxes(typeOf(value).getRank(), broadcast.getAxes());
    auto below = [&](int64_t axis) -> int64_t {
      auto found = llvm::find(kept, axis);
      return found == kept.end() ? -1 : found - kept.begin();
    };
    return positionOf(broadcast.getInput(), below(rowAxis), below(columnAxis));
  }
  if (auto reshape = dyn_cast_if_present<ReshapeOp>(op)) {
    ArrayRef<int64_t> from = shapeOf(reshape.getInput()), to = shapeOf(value);
    auto below = [&](int64_t axis) -> int64_t {
      for (int64_t i = 0; axis >= 0 && i < static_cast<int64_t>(from.size()); ++i)
        if (from[i] == to[axis] && rowMajorStrides(from)[i] == rowMajorStrides(to)[axis])
          return i;
      return -1;
    };
    // The value may vary along an axis that has several elements but no corresponding axis before
    // the reshape.
    for (int64_t axis : {rowAxis, columnAxis})
      if (axis >= 0 && to[axis] != 1 && below(axis) < 0)
        return std::nullopt;
    return positionOf(reshape.getInput(), below(rowAxis), below(columnAxis));
  }
  if (auto cast = dyn_cast_if_present<CastOp>(op))
    return positionOf(cast.getInput(), rowAxis, columnAxis);
  if (!isa_and_present<AddOp, SubOp>(op))
    return std::nullopt;
  auto a = positionOf(op->getOperand(0), rowAxis, columnAxis),
       b = positionOf(op->getOperand(1), rowAxis, columnAxis);
  if (!a || !b)
    return std::nullopt;
  double sign = isa<AddOp>(op) ? 1 : -1;
  return Position{a->row + sign * b->row, a->column + sign * b->column,
                  a->constant + sign * b->constant};
}

/// Returns the integer comparison that holds exactly where `predicate` does not.
static Predicate negate(Predicate predicate) {
  switch (predicate) {
  case Predicate::Eq:
    return Predicate::Ne;
  case Predicate::Ne:
    return Predicate::Eq;
  case Predicate::Lt:
    return Predicate::Ge;
  case Predicate::Le:
    return Predicate::Gt;
  case Predicate::Gt:
    return Predicate::Le;
  case Predicate::Ge:
    return Predicate::Lt;
  }
  return predicate;
}

std::optional<int64_t> mtc::causalOffset(Value mask, int64_t queries, bool negated) {
  ArrayRef<int64_t> shape = shapeOf(mask);
  int64_t rank = shape.size(), keys = shape[rank - 1];
  if (typeOf(mask).getNumElements() != queries * keys)
    return std::nullopt;
  // Dense resources store booleans as bytes, inline attributes as bits.
  SmallVector<bool> bits;
  Attribute constant;
  if (matchPattern(sameElements(mask), m_Constant(&constant))) {
    if (isa<DenseElementsAttr>(constant)) {
      auto data = dataOf<bool>(mask, bits);
      return offsetOf(queries, keys,
                      [&](int64_t i, int64_t j) { return (*data)[i * keys + j] != negated; });
    }
    SmallVector<uint8_t> bytes;
    if (auto data = dataOf<uint8_t>(mask, bytes))
      return offsetOf(queries, keys, [&](int64_t i, int64_t j) {
        return ((*data)[i * keys + j] != 0) != negated;
      });
    return std::nullopt;
  }
  if (auto other = mask.getDefiningOp<NotOp>())
    return causalOffset(other.getInput(), queries, !negated);
  auto compare = mask.getDefiningOp<CompareOp>();
  if (!compare) {
    if (Operation *op = mask.getDefiningOp(); isa_and_present<ReshapeOp, BroadcastOp>(op))
      if (ArrayRef<int64_t> from = shapeOf(op->getOperand(0));
          from.size() >= 2 && from.take_back(2) == shape.take_back(2) &&
          typeOf(op->getOperand(0)).getNumElements() == queries * keys)
        return causalOffset(op->getOperand(0), queries, negated);
    return std::nullopt;
  }
  auto a = positionOf(compare.getLhs(), rank - 2, rank - 1),
       b = positionOf(compare.getRhs(), rank - 2, rank - 1);
  if (!a || !b || !typeOf(compare.getLhs()).getElementType().isSignlessInteger())
    return std::nullopt;
  // Rewrites `a ? b` as `0 ? row * i + column * j + constant`.
  Position p{b->row - a->row, b->column - a->column, b->constant - a->constant};
  Predicate predicate = compare.getPredicate();
  if (negated)
    predicate = negate(predicate);
  if (predicate == Predicate::Ge || predicate == Predicate::Gt) {
    p = {-p.row, -p.column, -p.constant};
    predicate = predicate == Predicate::Ge ? Predicate::Le : Predicate::Lt;
  }
  if (p.row != 1 || p.column != -1)
    return std::nullopt;
  if (predicate == Predicate::Le) // 0 <= i - j + constant
    return static_cast<int64_t>(p.constant);
  if (predicate == Predicate::Lt)
    return static_cast<int64_t>(p.constant) - 1;
  return std::nullopt;
}

template <typename T>
static std::optional<int64_t> offsetOfNumbers(Value bias, int64_t queries, int64_t keys) {
  SmallVector<T> storage;
  auto data = dataOf<T>(bias, storage);
  if (!data || llvm::any_of(*data, [](T number) { return number != 0 && !leavesOut(number); }))
    return std::nullopt;
  return offsetOf(queries, keys, [&](int64_t i, int64_t j) { return (*data)[i * keys + j] == 0; });
}

std::optional<int64_t> CausalBiases::offsetOf(Value bias, int64_t queries) {
  int64_t keys = shapeOf(bias).back();
  Type element = typeOf(bias).getElementType();
  Attribute elements;
  if (typeOf(bias).getNumElements() != queries * keys ||
      !matchPattern(sameElements(bias), m_Constant(&elements)))
    return std::nullopt;
  auto [found, isNew] = known.try_emplace({elements, queries});
  if (isNew && element.isF32())
    found->second = offsetOfNumbers<float>(bias, queries, keys);
  else if (isNew && element.isF64())
    found->second = offsetOfNumbers<double>(bias, queries, keys);
  return found->second;
}
