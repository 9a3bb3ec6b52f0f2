//===- Scatter.cpp - Tensors with elements replaced by position -------------------------------===//

#include "frontend/inference/Evaluate.h"
#include "frontend/inference/Registry.h"
#include "frontend/inference/rules/Rules.h"

#include <cstring>

using namespace mlir;

namespace mtc::onnx {
namespace {

void checkReduction(Inference &node) {
  node.choice("reduction", "none", {"none", "add", "mul", "max", "min"});
}

/// Indices have the shape of the updates; each replaces its own position along the axis.
LogicalResult inferScatterElements(Inference &node) {
  checkReduction(node);
  if (!node.integerElements(1) || !node.sameElementType(0, 2) || !node.hasRank(0, 1) ||
      !node.hasRank(1, node.rank(0), node.rank(0)))
    return failure();
  node.axis("axis", 0, node.rank(0));
  if (node.shape(1) != node.shape(2))
    return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                        ", expected that of the indices, " + shapeText(node.shape(1)));
  return node.result(0, node.type(0));
}

/// The last axis of the indices holds tuples that name leading axes of data; updates are what lies
/// below them.
LogicalResult inferScatterND(Inference &node) {
  checkReduction(node);
  if (!node.integerElements(1) || !node.sameElementType(0, 2) || !node.hasRank(0, 1) ||
      !node.hasRank(1, 1))
    return failure();
  int64_t tuple = node.shape(1).back();
  if (tuple < 1 || tuple > node.rank(0))
    return node.failure(Twine(node.operandName(1)) + " has tuples of " + Twine(tuple) +
                        " indices, expected 1.." + Twine(node.rank(0)));
  Extents expected(node.shape(1).drop_back());
  llvm::append_range(expected, node.shape(0).drop_front(tuple));
  if (node.shape(2) != ArrayRef<int64_t>(expected))
    return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                        ", expected " + shapeText(expected));
  return node.result(0, node.type(0));
}

/// Copies data and writes `updates[i .. i + block)` at `positionOf(i / block)`; nothing where that
/// is negative.
void scatter(Inference &node, int64_t block, llvm::function_ref<int64_t(int64_t)> positionOf) {
  if (node.string("reduction", "none") != "none")
    return;
  Tensor data = node.tensor(0), updates = node.tensor(2);
  std::optional<Tensor> result = Tensor::allocate(data.type());
  if (!result)
    return;
  size_t width = data.elementSize();
  char *out = result->mutableBytes().data();
  for (int64_t i = 0, count = data.size(); i < count; ++i)
    std::memcpy(out + i * width, data.bytes().data() + (data.isSplat() ? 0 : i * width), width);
  for (int64_t i = 0, count = updates.size(); i < count; ++i) {
    int64_t position = positionOf(i / block);
    if (position < 0 || position >= data.size())
      return;
    std::memcpy(out + (position + i % block) * width,
                updates.bytes().data() + (updates.isSplat() ? 0 : i * width), width);
  }
  node.fold(0, result);
}

void evaluateScatterElements(Inference &node) {
  int64_t axis = node.axis("axis", 0, node.rank(0));
  std::vector<int64_t> indices = node.tensor(1).values<int64_t>();
  Extents strides = rowMajorStrides(node.shape(0)), own = rowMajorStrides(node.shape(1));
  scatter(node, 1, [&](int64_t linear) {
    int64_t index = indices[linear], extent = node.dim(0, axis), position = 0;
    if (index < -extent || index >= extent)
      return int64_t(-1);
    for (int64_t d = 0; d < node.rank(0); ++d) {
      position += (d != axis ? linear / own[d] : index < 0 ? index + extent : index) * strides[d];
      linear %= own[d];
    }
    return position;
  });
}

void evaluateScatterND(Inference &node) {
  int64_t tuple = node.shape(1).back();
  std::vector<int64_t> indices = node.tensor(1).values<int64_t>();
  int64_t block = elementCount(node.shape(0).drop_front(tuple));
  scatter(node, std::max<int64_t>(block, 1), [&](int64_t row) {
    int64_t position = 0;
    for (int64_t d = 0; d < tuple; ++d) {
      int64_t index = indices[row * tuple + d], extent = node.dim(0, d);
      if (index < -extent || index >= extent)
        return int64_t(-1);
      position = position * extent + (index < 0 ? index + extent : index);
    }
    return position * block;
  });
}

} // namespace

void registerScatterRules(Registry &registry) {
  for (StringRef name : {"Scatter", "ScatterElements"})
    registry.add(name, name == "Scatter" ? 9 : 11, inferScatterElements, evaluateScatterElements);
  registry.add("ScatterND", 11, inferScatterND, evaluateScatterND);
}

} // namespace mtc::onnx
