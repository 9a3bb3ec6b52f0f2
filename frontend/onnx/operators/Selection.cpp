//===- Selection.cpp - TopK, ArgMax, triangles and selection by condition ---------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"
#include "frontend/onnx/operators/support/Formulas.h"

#include <map>

using namespace mlir;

namespace mtc::onnx {
namespace {

Type int64Type(Inference &node) { return IntegerType::get(node.context(), 64); }

//===--- TopK ---------------------------------------------------------------------------------===//

struct TopKAttributes {
  int64_t axis;
  bool isLargest;

  static TopKAttributes read(NodeView &node) {
    node.flag("sorted", true); // Unsorted results may have any order, including the sorted one.
    return {node.axis("axis", -1, node.rank(0)), node.flag("largest", true)};
  }
};

/// k is an attribute before version 10, operand 1 from then on.
LogicalResult inferTopK(Inference &node) {
  int64_t axis = TopKAttributes::read(node).axis;
  int64_t count = node.version() < 10 ? node.integer("k") : 0;
  if (node.failed())
    return failure();
  if (node.version() >= 10) {
    std::optional<Extents> k = node.constantInts(1);
    if (!k)
      return node.needsConstant(1);
    if (k->size() != 1)
      return node.failure(Twine(node.operandName(1)) + " must hold one integer");
    count = k->front();
  }
  if (count < 0 || count > node.dim(0, axis))
    return node.failure("takes " + Twine(count) + " elements of axis " + Twine(axis) +
                        ", which has " + Twine(node.dim(0, axis)));
  Extents shape(node.shape(0));
  shape[axis] = count;
  return success(succeeded(node.result(0, node.elementType(0), shape)) &&
                 succeeded(node.result(1, int64Type(node), shape)));
}

LogicalResult convertTopK(Conversion &node) {
  auto [axis, isLargest] = TopKAttributes::read(node);
  if (node.failed())
    return failure();
  int64_t k = node.resultType(node.wants(0) ? 0 : 1).getDimSize(axis);
  auto [values, indices] = topK(node.b, node.value(0), axis, k, !isLargest);
  return success(succeeded(node.result(0, values)) && succeeded(node.result(1, indices)));
}

//===--- ArgMax, ArgMin -----------------------------------------------------------------------===//

struct ArgAttributes {
  int64_t axis;
  bool keepsAxis;
  bool isLast; ///< Whether the last of equal elements is selected.

  static ArgAttributes read(NodeView &node) {
    return {node.axis("axis", 0, node.rank(0)), node.flag("keepdims", true),
            node.flag("select_last_index", false)};
  }
};

LogicalResult inferArg(Inference &node) {
  auto [axis, keepsAxis, isLast] = ArgAttributes::read(node);
  if (node.failed())
    return failure();
  Extents shape(node.shape(0));
  if (shape[axis] == 0)
    return node.failure("searches axis " + Twine(axis) + ", which is empty");
  if (keepsAxis)
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + axis);
  return node.result(0, int64Type(node), shape);
}

template <bool largest> void evaluateArg(Inference &node) {
  ArgAttributes attributes = ArgAttributes::read(node);
  int64_t extent = node.dim(0, attributes.axis);
  int64_t inner = elementCount(node.shape(0).drop_front(attributes.axis + 1));
  int64_t outer = elementCount(node.shape(0).take_front(attributes.axis));
  dispatchNumber(node.elementType(0), [&](auto kind) {
    std::vector<decltype(kind)> values = node.tensor(0).template values<decltype(kind)>();
    std::vector<int64_t> found;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        int64_t best = 0;
        auto at = [&](int64_t k) { return values[(o * extent + k) * inner + i]; };
        for (int64_t k = 1; k < extent; ++k) {
          // As in numpy, NaN is both the largest and the smallest element.
          const bool isNan = at(k) != at(k), bestIsNan = at(best) != at(best);
          const bool isBetter =
              !bestIsNan && (isNan || (largest ? at(k) > at(best) : at(k) < at(best)));
          const bool isEqual = at(k) == at(best) || (isNan && bestIsNan);
          if (isBetter || (attributes.isLast && isEqual))
            best = k;
        }
        found.push_back(best);
      }
    if (!found.empty())
      node.fold(0, Tensor::fromValues<int64_t>(node.resultType(), found));
  });
}

/// The last of equal elements is the first one of the reversed axis.
template <bool largest> LogicalResult convertArg(Conversion &node) {
  auto [axis, keepsAxis, isLast] = ArgAttributes::read(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = isLast ? b.reverse(node.value(0), {axis}) : node.value(0);
  Value index = topK(b, x, axis, 1, /*smallest=*/!largest).second;
  if (isLast)
    index = b.sub(b.splat(index, node.dim(0, axis) - 1), index);
  return node.result(0, b.reshape(index, node.resultShape()));
}

//===--- Trilu --------------------------------------------------------------------------------===//

/// Returns whether Trilu keeps the upper instead of the lower triangle of the last two axes,
/// bounded by the diagonal in operand 1.
bool isUpper(NodeView &node) { return node.flag("upper", true); }

LogicalResult inferTrilu(Inference &node) {
  isUpper(node);
  if (!node.hasRank(0, 2) || !node.hasOneElement(1))
    return failure();
  return node.result(0, node.type(0));
}

void evaluateTrilu(Inference &node) {
  bool upper = isUpper(node);
  int64_t k = node.has(1) ? node.tensor(1).value<int64_t>() : 0;
  int64_t columns = node.shape(0).back(), rows = node.shape(0).drop_back().back();
  Tensor zero =
      *Tensor::fromValues<int64_t>(RankedTensorType::get({}, node.elementType(0)), int64_t(0));
  auto indexOf = [&](int64_t linear) {
    int64_t diagonal = linear % columns - linear / columns % rows;
    return (upper ? diagonal >= k : diagonal <= k) ? linear : -1;
  };
  node.fold(0, indexedCopy(node.tensor(0), node.resultType(), indexOf, &zero));
}

LogicalResult convertTrilu(Conversion &node) {
  bool upper = isUpper(node);
  int64_t k = 0;
  if (node.has(1)) {
    auto given = node.constantInts(1);
    if (!given)
      return node.needsConstant(1);
    k = given->front();
  }
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  auto type = RankedTensorType::get(node.shape(0).take_back(2), b.getI64Type());
  Value distance = b.sub(b.iota(type, 1), b.iota(type, 0));
  Value kept = b.compare(upper ? Predicate::Ge : Predicate::Le, distance, b.splat(distance, k));
  return node.result(0, b.select(b.broadcastTo(kept, node.shape(0)), x, b.splat(x, 0.0)));
}

//===--- Selection with data-dependent shapes -------------------------------------------------===//

LogicalResult inferNonZero(Inference &node) {
  std::optional<Tensor> value = node.constant(0);
  if (!value || value->size() > maxFoldedElements)
    return node.needsConstant(0);
  std::vector<double> elements = value->values<double>();
  Extents strides = rowMajorStrides(value->shape()), found;
  for (size_t i = 0; i < elements.size(); ++i)
    if (elements[i] != 0)
      found.push_back(static_cast<int64_t>(i));
  std::vector<int64_t> indices;
  for (auto [axis, stride] : llvm::enumerate(strides))
    for (int64_t linear : found)
      indices.push_back(linear / stride % value->shape()[axis]);
  auto type = RankedTensorType::get(
      {static_cast<int64_t>(strides.size()), static_cast<int64_t>(found.size())}, int64Type(node));
  node.fold(0,
            indices.empty() ? Tensor::allocate(type) : Tensor::fromValues<int64_t>(type, indices));
  return node.result(0, type);
}

/// Keeps the indices along an axis (or of the flattened tensor) where the condition is true.
LogicalResult inferCompress(Inference &node) {
  if (!node.booleanElements(1) || !node.hasRank(1, 1, 1))
    return failure();
  std::optional<Extents> condition = node.constantInts(1);
  if (!condition)
    return node.needsConstant(1);
  auto kept = static_cast<int64_t>(llvm::count(*condition, 1));
  if (!node.hasAttribute("axis"))
    return node.result(0, node.elementType(0), {kept});
  int64_t axis = node.axis("axis", std::nullopt, node.rank(0));
  if (node.failed())
    return failure();
  Extents shape(node.shape(0));
  if (static_cast<int64_t>(condition->size()) > shape[axis])
    return node.failure("has a condition of " + Twine(condition->size()) + " elements for axis " +
                        Twine(axis) + " of extent " + Twine(shape[axis]));
  shape[axis] = kept;
  return node.result(0, node.elementType(0), shape);
}

LogicalResult convertCompress(Conversion &node) {
  TensorBuilder &b = node.b;
  std::optional<Extents> condition = node.constantInts(1);
  if (!condition)
    return node.needsConstant(1);
  SmallVector<int64_t> kept;
  for (auto [i, holds] : llvm::enumerate(*condition))
    if (holds)
      kept.push_back(static_cast<int64_t>(i));
  Value x = node.value(0);
  int64_t axis = 0;
  if (node.hasAttribute("axis"))
    axis = node.axis("axis", std::nullopt, node.rank(0));
  else
    x = b.reshape(x, {node.type(0).getNumElements()});
  if (kept.empty())
    return node.result(0, b.splat(node.resultType(), 0.0));
  auto type = RankedTensorType::get(kept.size(), b.getI64Type());
  Value indices = b.constant(DenseElementsAttr::get(type, ArrayRef(kept)));
  return node.result(0, b.gather(x, indices, axis, 0));
}

//===--- Unique -------------------------------------------------------------------------------===//

/// Orders slices of equal length by their elements. As in numpy, NaN equals NaN and is larger than
/// every number.
struct SliceOrder {
  template <typename Number>
  bool operator()(const std::vector<Number> &a, const std::vector<Number> &b) const {
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(),
        [](Number x, Number y) { return x < y || (x == x && y != y); });
  }
};

/// The unique slices of a constant: the index of the first occurrence of each, the unique slice of
/// each slice, and the number of occurrences.
struct UniqueSlices {
  std::vector<int64_t> first, inverse, counts;
};

/// `part` returns the elements of a slice.
template <typename Number, typename Part>
UniqueSlices findUnique(int64_t count, bool isSorted, const Part &part) {
  UniqueSlices unique;
  auto &[first, inverse, counts] = unique;
  std::map<std::vector<Number>, int64_t, SliceOrder>
      found; // Maps elements to the index in `first`.
  for (int64_t i = 0; i < count; ++i) {
    auto [it, isNew] = found.try_emplace(part(i), static_cast<int64_t>(first.size()));
    if (isNew) {
      first.push_back(i);
      counts.push_back(0);
    }
    ++counts[it->second];
    inverse.push_back(it->second);
  }
  if (!isSorted)
    return unique;
  std::vector<int64_t> rank(first.size()), sortedFirst, sortedCounts;
  for (const auto &[elements, place] : found) {
    rank[place] = static_cast<int64_t>(sortedFirst.size());
    sortedFirst.push_back(first[place]);
    sortedCounts.push_back(counts[place]);
  }
  first = sortedFirst;
  counts = sortedCounts;
  for (int64_t &place : inverse)
    place = rank[place];
  return unique;
}

/// Folds the unique slices of a constant along an axis, or the unique elements of the flattened
/// constant. Results are the unique slices (sorted or in order of occurrence), the index of the
/// first occurrence of each, the unique slice's index for each slice, and the number of
/// occurrences. The number of unique slices must be known at compile time.
LogicalResult inferUnique(Inference &node) {
  bool isSorted = node.flag("sorted", true), hasAxis = node.hasAttribute("axis");
  std::optional<Tensor> value = node.constant(0);
  if (!value || value->size() > maxFoldedElements)
    return node.needsConstant(0);
  Extents shape(node.shape(0));
  int64_t axis = hasAxis ? node.axis("axis", std::nullopt, node.rank(0)) : 0;
  if (node.failed())
    return failure();
  if (!hasAxis)
    shape = {value->size()};
  int64_t count = shape[axis], inner = elementCount(ArrayRef(shape).drop_front(axis + 1));
  int64_t outer = elementCount(ArrayRef(shape).take_front(axis));
  UniqueSlices unique;
  dispatchNumber(node.elementType(0), [&](auto kind) {
    using Number = decltype(kind);
    const std::vector<Number> numbers = value->values<Number>();
    // Returns the elements of slice i, in row-major order.
    auto part = [&](int64_t i) {
      std::vector<Number> elements;
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t k = 0; k < inner; ++k)
          elements.push_back(numbers[(o * count + i) * inner + k]);
      return elements;
    };
    unique = findUnique<Number>(count, isSorted, part);
  });
  Extents kept = shape;
  kept[axis] = static_cast<int64_t>(unique.first.size());
  auto type = RankedTensorType::get(kept, node.elementType(0));
  auto indexOf = [&](int64_t linear) {
    int64_t k = linear % inner, i = linear / inner % kept[axis], o = linear / (inner * kept[axis]);
    return (o * count + unique.first[i]) * inner + k;
  };
  node.fold(0, indexedCopy(*value, type, indexOf));
  if (failed(node.result(0, type)))
    return failure();
  const std::vector<int64_t> *lists[] = {&unique.first, &unique.inverse, &unique.counts};
  for (auto [i, list] : llvm::enumerate(lists)) {
    auto vector = RankedTensorType::get(static_cast<int64_t>(list->size()), int64Type(node));
    node.fold(1 + i, list->empty() ? Tensor::allocate(vector)
                                   : Tensor::fromValues<int64_t>(vector, *list));
    if (failed(node.result(1 + i, vector)))
      return failure();
  }
  return success();
}

} // namespace

void addSelectionOperators(Operators &operators) {
  operators.add("TopK", 1, {.infer = inferTopK, .convert = convertTopK});
  operators.add("ArgMax", 1,
                {.infer = inferArg,
                 .evaluate = evaluateArg<true>,
                 .convert = convertArg<true>,
                 .roles = {{everyOperand, OperandRole::NoGradient}}});
  operators.add("ArgMin", 1,
                {.infer = inferArg,
                 .evaluate = evaluateArg<false>,
                 .convert = convertArg<false>,
                 .roles = {{everyOperand, OperandRole::NoGradient}}});
  operators.add("Trilu", 14,
                {.infer = inferTrilu, .evaluate = evaluateTrilu, .convert = convertTrilu});
  operators.add("NonZero", 9, {.infer = inferNonZero});
  operators.add("Compress", 9, {.infer = inferCompress, .convert = convertCompress});
  operators.add("Unique", 11, {.infer = inferUnique});
  // Is not compiled. The role lets `mtc inspect` classify the thresholds.
  operators.add("NonMaxSuppression", 10, {.roles = {{everyOperand, OperandRole::NoGradient}}});
}

} // namespace mtc::onnx
