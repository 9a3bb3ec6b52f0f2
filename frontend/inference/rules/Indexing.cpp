//===- Indexing.cpp - Elements chosen by position: Gather and its kin, TopK, NonZero, … -------===//

#include "frontend/inference/Evaluate.h"
#include "frontend/inference/Registry.h"
#include "frontend/inference/rules/Rules.h"

#include "llvm/ADT/Sequence.h"

#include <algorithm>

using namespace mlir;

namespace mtc::onnx {
namespace {

Type int64Type(Inference &node) { return IntegerType::get(node.context(), 64); }

/// Constant indices into axes of the given extents (repeated for each index in turn) made
/// non-negative; nothing, with the node's failure reported, where one is out of range.
std::optional<std::vector<int64_t>> checkedIndices(Inference &node, size_t operand,
                                                   ArrayRef<int64_t> extents) {
  std::vector<int64_t> indices = node.tensor(operand).values<int64_t>();
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t extent = extents[i % extents.size()];
    if (indices[i] < -extent || indices[i] >= extent) {
      (void)node.failure(Twine(node.operandName(operand)) + " holds " + Twine(indices[i]) +
                         ", expected " + Twine(-extent) + ".." + Twine(extent - 1));
      return std::nullopt;
    }
    if (indices[i] < 0)
      indices[i] += extent;
  }
  return indices;
}

//===--- Gather -------------------------------------------------------------------------------===//

/// Shape: data's, the axis replaced by the indices' shape.
LogicalResult inferGather(Inference &node) {
  if (!node.integerElements(1) || !node.hasRank(0, 1))
    return failure();
  int64_t axis = node.axis("axis", 0, node.rank(0));
  if (node.failed())
    return failure();
  Extents shape(node.shape(0).take_front(axis));
  llvm::append_range(shape, node.shape(1));
  llvm::append_range(shape, node.shape(0).drop_front(axis + 1));
  return node.result(0, node.elementType(0), shape);
}

void evaluateGather(Inference &node) {
  int64_t axis = node.axis("axis", 0, node.rank(0)), extent = node.dim(0, axis);
  auto indices = checkedIndices(node, 1, extent);
  if (!indices)
    return;
  int64_t inner = elementCount(node.shape(0).drop_front(axis + 1));
  auto count = static_cast<int64_t>(indices->size());
  node.fold(0, indexedCopy(node.tensor(0), node.resultType(), [&](int64_t linear) {
              int64_t column = linear % inner, row = linear / inner;
              return (row / count * extent + (*indices)[row % count]) * inner + column;
            }));
}

/// Shape: the indices'; each index replaces its own position along the axis.
LogicalResult inferGatherElements(Inference &node) {
  if (!node.integerElements(1) || !node.hasRank(0, 1) ||
      !node.hasRank(1, node.rank(0), node.rank(0)))
    return failure();
  int64_t axis = node.axis("axis", 0, node.rank(0));
  for (int64_t d = 0; d < node.rank(0); ++d)
    if (d != axis && node.dim(1, d) > node.dim(0, d))
      return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                          ", larger than " + shapeText(node.shape(0)) + " outside axis " +
                          Twine(axis));
  return node.result(0, node.elementType(0), node.shape(1));
}

void evaluateGatherElements(Inference &node) {
  int64_t axis = node.axis("axis", 0, node.rank(0));
  auto indices = checkedIndices(node, 1, node.dim(0, axis));
  if (!indices)
    return;
  Extents strides = rowMajorStrides(node.shape(0)), result = rowMajorStrides(node.shape(1));
  node.fold(0, indexedCopy(node.tensor(0), node.resultType(), [&](int64_t linear) {
              int64_t from = (*indices)[linear] * strides[axis];
              for (int64_t d = 0; d < node.rank(0); ++d) {
                if (d != axis)
                  from += linear / result[d] * strides[d];
                linear %= result[d];
              }
              return from;
            }));
}

/// The last axis of the indices holds tuples that name leading axes of data, after `batch_dims`
/// axes that both share.
LogicalResult inferGatherND(Inference &node) {
  if (!node.integerElements(1) || !node.hasRank(0, 1) || !node.hasRank(1, 1))
    return failure();
  int64_t batch = node.integer("batch_dims", 0), tuple = node.shape(1).back();
  if (batch < 0 || batch >= std::min(node.rank(0), node.rank(1)))
    return node.failure("attribute batch_dims = " + Twine(batch) + ", expected 0.." +
                        Twine(std::min(node.rank(0), node.rank(1)) - 1));
  if (tuple < 1 || batch + tuple > node.rank(0))
    return node.failure(Twine(node.operandName(1)) + " has tuples of " + Twine(tuple) +
                        " indices, expected 1.." + Twine(node.rank(0) - batch));
  if (node.shape(0).take_front(batch) != node.shape(1).take_front(batch))
    return node.failure("operands of shapes " + shapeText(node.shape(0)) + " and " +
                        shapeText(node.shape(1)) + " differ in the first " + Twine(batch) +
                        " axes");
  Extents shape(node.shape(1).drop_back());
  llvm::append_range(shape, node.shape(0).drop_front(batch + tuple));
  return node.result(0, node.elementType(0), shape);
}

void evaluateGatherND(Inference &node) {
  int64_t batch = node.integer("batch_dims", 0), tuple = node.shape(1).back();
  ArrayRef<int64_t> named = node.shape(0).slice(batch, tuple);
  auto indices = checkedIndices(node, 1, named);
  if (!indices)
    return;
  int64_t inner = elementCount(node.shape(0).drop_front(batch + tuple));
  int64_t batches = elementCount(node.shape(0).take_front(batch));
  int64_t perBatch = elementCount(node.shape(1).drop_back()) / std::max<int64_t>(batches, 1);
  node.fold(0, indexedCopy(node.tensor(0), node.resultType(), [&](int64_t linear) {
              int64_t position = linear / inner, from = position / perBatch;
              for (int64_t d = 0; d < tuple; ++d)
                from = from * named[d] + (*indices)[position * tuple + d];
              return from * inner + linear % inner;
            }));
}

//===--- Choices that depend on data ----------------------------------------------------------===//

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

/// Keeps the indices along an axis (of the flattened tensor without one) where the condition holds.
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

//===--- Order --------------------------------------------------------------------------------===//

/// k is an attribute before version 10.
LogicalResult inferTopK(Inference &node) {
  int64_t axis = node.axis("axis", -1, node.rank(0));
  node.flag("largest", true);
  node.flag("sorted", true);
  auto k = node.intsOperandOrAttribute(1, "");
  int64_t count = node.version() < 10 ? node.integer("k") : 0;
  if (node.failed())
    return failure();
  if (node.version() >= 10) {
    if (!*k || (*k)->size() != 1)
      return node.failure(Twine(node.operandName(1)) + " must hold one integer");
    count = (*k)->front();
  }
  if (count < 0 || count > node.dim(0, axis))
    return node.failure("takes " + Twine(count) + " elements of axis " + Twine(axis) +
                        ", which has " + Twine(node.dim(0, axis)));
  Extents shape(node.shape(0));
  shape[axis] = count;
  return success(succeeded(node.result(0, node.elementType(0), shape)) &&
                 succeeded(node.result(1, int64Type(node), shape)));
}

LogicalResult inferArg(Inference &node) {
  int64_t axis = node.axis("axis", 0, node.rank(0));
  bool keep = node.flag("keepdims", true);
  node.flag("select_last_index", false);
  if (node.failed())
    return failure();
  Extents shape(node.shape(0));
  if (shape[axis] == 0)
    return node.failure("searches axis " + Twine(axis) + ", which is empty");
  if (keep)
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + axis);
  return node.result(0, int64Type(node), shape);
}

void evaluateArg(Inference &node, bool largest) {
  int64_t axis = node.axis("axis", 0, node.rank(0)), extent = node.dim(0, axis);
  bool last = node.flag("select_last_index", false);
  int64_t inner = elementCount(node.shape(0).drop_front(axis + 1));
  int64_t outer = elementCount(node.shape(0).take_front(axis));
  dispatchNumber(node.elementType(0), [&](auto kind) {
    std::vector<decltype(kind)> values = node.tensor(0).template values<decltype(kind)>();
    std::vector<int64_t> found;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        int64_t best = 0;
        auto at = [&](int64_t k) { return values[(o * extent + k) * inner + i]; };
        for (int64_t k = 1; k < extent; ++k) {
          bool better = largest ? at(k) > at(best) : at(k) < at(best);
          if (better || (last && at(k) == at(best)))
            best = k;
        }
        found.push_back(best);
      }
    if (!found.empty())
      node.fold(0, Tensor::fromValues<int64_t>(node.resultType(), found));
  });
}

/// Indices become vectors along a new axis: `values[1]` at the index, `values[0]` elsewhere.
LogicalResult inferOneHot(Inference &node) {
  if (!node.hasRank(2, 1, 1))
    return failure();
  int64_t axis = node.axis("axis", -1, node.rank(0) + 1);
  std::optional<SmallVector<double>> depth = node.constantFloats(1);
  if (!depth)
    return node.needsConstant(1);
  if (node.failed())
    return failure();
  if (depth->size() != 1 || !(depth->front() >= 0 && depth->front() <= double(maxElements)))
    return node.failure(Twine(node.operandName(1)) + " must hold one integer of at least 0");
  if (node.dim(2, 0) != 2)
    return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                        ", expected [2]");
  Extents shape(node.shape(0));
  shape.insert(shape.begin() + axis, static_cast<int64_t>(depth->front()));
  return node.result(0, node.elementType(2), shape);
}

void evaluateOneHot(Inference &node) {
  int64_t axis = node.axis("axis", -1, node.rank(0) + 1), depth = node.resultShape()[axis];
  int64_t inner = elementCount(node.resultShape().drop_front(axis + 1));
  std::vector<int64_t> indices = node.tensor(0).values<int64_t>();
  node.fold(0, indexedCopy(node.tensor(2), node.resultType(), [&](int64_t linear) {
              int64_t at = linear / inner % depth;
              int64_t index = indices[linear / (inner * depth) * inner + linear % inner];
              return int64_t(at == (index < 0 ? index + depth : index));
            }));
}

LogicalResult inferReverseSequence(Inference &node) {
  node.axis("batch_axis", 1, node.rank(0));
  node.axis("time_axis", 0, node.rank(0));
  if (!node.hasRank(0, 2) || !node.hasRank(1, 1, 1))
    return failure();
  return node.result(0, node.type(0));
}

} // namespace

void registerIndexingRules(Registry &registry) {
  registry.add("Gather", 1, inferGather, evaluateGather);
  registry.add("GatherElements", 11, inferGatherElements, evaluateGatherElements);
  registry.add("GatherND", 11, inferGatherND, evaluateGatherND);
  registry.add("NonZero", 9, inferNonZero);
  registry.add("Compress", 9, inferCompress);
  registry.add("TopK", 1, inferTopK);
  registry.add("ArgMax", 1, inferArg, [](Inference &node) { evaluateArg(node, true); });
  registry.add("ArgMin", 1, inferArg, [](Inference &node) { evaluateArg(node, false); });
  registry.add("OneHot", 9, inferOneHot, evaluateOneHot);
  registry.add("ReverseSequence", 10, inferReverseSequence);
}

} // namespace mtc::onnx
