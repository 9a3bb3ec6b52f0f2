//===- Shape.cpp - Shape queries and reshapes -------------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Returns the extents in [start, end); bounds are clamped, and negative ones count from the rank.
LogicalResult inferShape(Inference &node) {
  int64_t rank = node.rank(0);
  auto clamped = [&](int64_t value) {
    return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  int64_t start = clamped(node.integer("start", 0)), end = clamped(node.integer("end", rank));
  Tensor value = Tensor::fromInts(node.context(),
                                  node.shape(0).slice(start, std::max<int64_t>(end - start, 0)));
  node.fold(0, value);
  return node.result(0, value.type());
}

LogicalResult inferSize(Inference &node) {
  auto type = RankedTensorType::get({}, IntegerType::get(node.context(), 64));
  node.fold(0, Tensor::fromValues<int64_t>(type, node.type(0).getNumElements()));
  return node.result(0, type);
}

//===--- Reshape, Flatten, Squeeze, Unsqueeze -------------------------------------------------===//

/// 0 copies the operand's extent (0 with allowzero), -1 is inferred from the number of elements.
LogicalResult inferReshape(Inference &node) {
  bool allowZero = node.flag("allowzero", false);
  if (!node.integerElements(1) || !node.hasRank(1, 1, 1))
    return failure();
  std::optional<Extents> wanted = node.constantInts(1);
  if (!wanted)
    return node.needsConstant(1);
  Extents shape = *wanted;
  int64_t size = node.type(0).getNumElements(), known = 1;
  std::optional<size_t> open;
  for (auto [i, extent] : llvm::enumerate(shape)) {
    if (extent == 0 && !allowZero) {
      if (i >= static_cast<size_t>(node.rank(0)))
        return node.failure("shape " + shapeText(*wanted) + " copies axis " + Twine(i) +
                            " of an operand of shape " + shapeText(node.shape(0)));
      extent = node.dim(0, i);
    }
    if (extent < -1 || (extent == -1 && open))
      return node.failure("shape " + shapeText(*wanted) +
                          ", expected extents of at least 0 and at most one -1");
    if (extent == -1)
      open = i;
    else if (llvm::MulOverflow(known, extent, known))
      return node.failure("shape " + shapeText(*wanted) + " has too many elements");
  }
  if (open && known != 0 && size % known == 0)
    shape[*open] = size / known;
  else if (open || known != size)
    return node.failure("cannot reshape " + Twine(size) + " elements of shape " +
                        shapeText(node.shape(0)) + " to " + shapeText(*wanted));
  return node.result(0, node.elementType(0), shape);
}

/// Collapses the axes before `axis` into rows and the others into columns; `axis` may be the rank.
LogicalResult inferFlatten(Inference &node) {
  int64_t rank = node.rank(0), axis = node.integer("axis", 1);
  if (axis < -rank || axis > rank)
    return node.failure("attribute axis = " + Twine(axis) + ", expected " + Twine(-rank) + ".." +
                        Twine(rank));
  axis = axis < 0 ? axis + rank : axis;
  return node.result(
      0, node.elementType(0),
      {elementCount(node.shape(0).take_front(axis)), elementCount(node.shape(0).drop_front(axis))});
}

/// Axes are an attribute before version 13. Without axes, all axes of extent 1 are removed.
LogicalResult inferSqueeze(Inference &node) {
  auto axes = node.intsOperandOrAttribute(1, "axes");
  if (failed(axes))
    return failure();
  Extents gone;
  if (*axes)
    gone = node.normalizedAxes(**axes, node.rank(0), "axes");
  if (node.failed())
    return failure();
  Extents shape;
  for (auto [axis, extent] : llvm::enumerate(node.shape(0))) {
    bool named = llvm::is_contained(gone, static_cast<int64_t>(axis));
    if (named && extent != 1)
      return node.failure("removes axis " + Twine(axis) + " of shape " + shapeText(node.shape(0)) +
                          ", expected an extent of 1");
    if (!named && (*axes || extent != 1))
      shape.push_back(extent);
  }
  return node.result(0, node.elementType(0), shape);
}

LogicalResult inferUnsqueeze(Inference &node) {
  auto axes = node.intsOperandOrAttribute(1, "axes");
  if (failed(axes))
    return failure();
  if (!*axes)
    return node.failure("has no axes");
  int64_t rank = node.rank(0) + static_cast<int64_t>((*axes)->size());
  Extents added = node.normalizedAxes(**axes, rank, "axes");
  if (node.failed())
    return failure();
  Extents shape;
  for (int64_t axis = 0, next = 0; axis < rank; ++axis)
    shape.push_back(llvm::is_contained(added, axis) ? 1 : node.dim(0, next++));
  return node.result(0, node.elementType(0), shape);
}

/// Folds to operand 0 with the inferred shape.
void evaluateSameElements(Inference &node) {
  node.fold(0, node.tensor(0).withType(node.resultType()));
}

LogicalResult convertSameElements(Conversion &node) {
  return node.result(0, node.b.reshape(node.value(0), node.resultShape()));
}

} // namespace

void addShapeOperators(Operators &operators) {
  operators.add("Shape", 1,
                {.infer = inferShape, .roles = {{everyOperand, OperandRole::NoGradient}}});
  operators.add("Size", 1, {.infer = inferSize});
  auto add = [&](StringRef name, int64_t version, auto infer) {
    operators.add(name, version,
                  {.infer = infer,
                   .evaluate = evaluateSameElements,
                   .convert = convertSameElements,
                   .acceptsPacked = true});
  };
  add("Reshape", 5, inferReshape);
  add("Flatten", 1, inferFlatten);
  add("Squeeze", 1, inferSqueeze);
  add("Unsqueeze", 1, inferUnsqueeze);
}

} // namespace mtc::onnx
