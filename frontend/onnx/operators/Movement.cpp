//===- Movement.cpp - Permutation and repetition of tensors -----------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"

#include <numeric>

using namespace mlir;

namespace mtc::onnx {
namespace {

//===--- Transpose ----------------------------------------------------------------------------===//

/// Returns the permutation; the default reverses the axes.
Extents permutation(NodeView &node) {
  Extents reversed(node.rank(0));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return node.axes("perm", node.rank(0)).value_or(reversed);
}

LogicalResult inferTranspose(Inference &node) {
  Extents perm = permutation(node);
  if (node.failed())
    return failure();
  if (static_cast<int64_t>(perm.size()) != node.rank(0))
    return node.failure("attribute perm has " + Twine(perm.size()) + " axes, expected " +
                        Twine(node.rank(0)));
  Extents shape;
  for (int64_t axis : perm)
    shape.push_back(node.dim(0, axis));
  return node.result(0, node.elementType(0), shape);
}

void evaluateTranspose(Inference &node) {
  Extents own = rowMajorStrides(node.shape(0)), strides;
  for (int64_t axis : permutation(node))
    strides.push_back(own[axis]);
  node.fold(0, stridedCopy(node.tensor(0), node.resultType(), 0, strides));
}

LogicalResult convertTranspose(Conversion &node) {
  Extents perm = permutation(node);
  if (node.failed())
    return failure();
  return node.result(0, node.b.transpose(node.value(0), perm));
}

//===--- Expand, Tile -------------------------------------------------------------------------===//

/// Operand and target shape broadcast to each other: an extent of 1 in the target keeps the
/// operand's.
LogicalResult inferExpand(Inference &node) {
  if (!node.integerElements(1) || !node.hasRank(1, 1, 1))
    return failure();
  std::optional<Extents> wanted = node.constantInts(1);
  if (!wanted)
    return node.needsConstant(1);
  std::optional<Extents> shape = broadcastShapes(node.shape(0), *wanted);
  if (!shape)
    return node.failure("cannot expand shape " + shapeText(node.shape(0)) + " to " +
                        shapeText(*wanted));
  return node.result(0, node.elementType(0), *shape);
}

void evaluateExpand(Inference &node) {
  node.fold(0, stridedCopy(node.tensor(0), node.resultType(), 0,
                           broadcastStrides(node.shape(0), node.resultShape())));
}

LogicalResult convertExpand(Conversion &node) {
  return node.result(0, node.broadcastValue(0, node.resultShape()));
}

LogicalResult inferTile(Inference &node) {
  std::optional<Extents> repeats = node.constantInts(1);
  if (!repeats)
    return node.needsConstant(1);
  if (static_cast<int64_t>(repeats->size()) != node.rank(0))
    return node.failure("has " + Twine(repeats->size()) + " repeats, expected " +
                        Twine(node.rank(0)));
  Extents shape;
  for (auto [extent, repeat] : llvm::zip(node.shape(0), *repeats))
    if (repeat < 0 || llvm::MulOverflow(extent, repeat, shape.emplace_back()))
      return node.failure("cannot tile shape " + shapeText(node.shape(0)) + " with repeats " +
                          shapeText(*repeats));
  return node.result(0, node.elementType(0), shape);
}

void evaluateTile(Inference &node) {
  Extents strides = rowMajorStrides(node.shape(0)), result = rowMajorStrides(node.resultShape());
  node.fold(0, indexedCopy(node.tensor(0), node.resultType(), [&](int64_t linear) {
              int64_t from = 0;
              for (int64_t axis = 0; axis < node.rank(0); ++axis) {
                from += linear / result[axis] % node.dim(0, axis) * strides[axis];
                linear %= result[axis];
              }
              return from;
            }));
}

/// Tiles axis i by reshaping [.., n_i, ..] to [.., 1, n_i, ..], broadcasting the new axis, and
/// reshaping back.
LogicalResult convertTile(Conversion &node) {
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  ArrayRef<int64_t> from = node.shape(0), to = node.resultShape();
  SmallVector<int64_t> axes, shape;
  for (auto [extent, tiled] : llvm::zip(from, to)) {
    if (tiled != extent) {
      axes.push_back(shape.size());
      shape.push_back(tiled / extent);
    }
    shape.push_back(extent);
  }
  return node.result(0, b.reshape(b.broadcast(x, axes, shape), to));
}

//===--- DepthToSpace, SpaceToDepth -----------------------------------------------------------===//

/// Block size, and whether the depth axis is ordered as blocks, channels (DCR) or channels, blocks
/// (CRD).
struct Blocks {
  int64_t size;
  bool isBlockFirst;

  static Blocks read(NodeView &node, bool toSpace) {
    StringRef mode = toSpace ? node.choice("mode", "DCR", {"DCR", "CRD"}) : "DCR";
    return {node.integer("blocksize"), mode == "DCR"};
  }
};

/// Operand [N, C, H, W]. `toSpace` selects the direction.
LogicalResult inferDepthSpace(Inference &node, bool toSpace) {
  int64_t block = Blocks::read(node, toSpace).size;
  if (node.failed() || !node.hasRank(0, 4, 4))
    return failure();
  if (block < 1 || block > 65536)
    return node.failure("attribute blocksize = " + Twine(block) + ", expected 1..65536");
  int64_t channels = node.dim(0, 1), height = node.dim(0, 2), width = node.dim(0, 3);
  int64_t area = block * block;
  if (toSpace ? channels % area != 0 : height % block != 0 || width % block != 0)
    return node.failure("attribute blocksize = " + Twine(block) + " does not divide shape " +
                        shapeText(node.shape(0)));
  if (toSpace)
    return node.result(0, node.elementType(0),
                       {node.dim(0, 0), channels / area, height * block, width * block});
  return node.result(0, node.elementType(0),
                     {node.dim(0, 0), channels * area, height / block, width / block});
}

/// Rearranges [N, C, H, W] with C = c s² to [N, c, H s, W s].
LogicalResult convertDepthToSpace(Conversion &node) {
  auto [s, isBlockFirst] = Blocks::read(node, /*toSpace=*/true);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  int64_t n = node.dim(0, 0), c = node.resultShape()[1], h = node.dim(0, 2), w = node.dim(0, 3);
  Value y = isBlockFirst
                ? b.transpose(b.reshape(node.value(0), {n, s, s, c, h, w}), {0, 3, 4, 1, 5, 2})
                : b.transpose(b.reshape(node.value(0), {n, c, s, s, h, w}), {0, 1, 4, 2, 5, 3});
  return node.result(0, b.reshape(y, node.resultShape()));
}

LogicalResult convertSpaceToDepth(Conversion &node) {
  int64_t s = Blocks::read(node, /*toSpace=*/false).size;
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  int64_t n = node.dim(0, 0), c = node.dim(0, 1), h = node.dim(0, 2) / s, w = node.dim(0, 3) / s;
  Value blocks = b.reshape(node.value(0), {n, c, h, s, w, s});
  return node.result(0, b.reshape(b.transpose(blocks, {0, 3, 5, 1, 2, 4}), node.resultShape()));
}

} // namespace

void addMovementOperators(Operators &operators) {
  operators.add("Transpose", 1,
                {.infer = inferTranspose,
                 .evaluate = evaluateTranspose,
                 .convert = convertTranspose,
                 .acceptsPacked = true});
  operators.add("Expand", 8,
                {.infer = inferExpand, .evaluate = evaluateExpand, .convert = convertExpand});
  operators.add("Tile", 6, {.infer = inferTile, .evaluate = evaluateTile, .convert = convertTile});
  operators.add("DepthToSpace", 1,
                {.infer = [](Inference &node) { return inferDepthSpace(node, true); },
                 .convert = convertDepthToSpace});
  operators.add("SpaceToDepth", 1,
                {.infer = [](Inference &node) { return inferDepthSpace(node, false); },
                 .convert = convertSpaceToDepth});
}

} // namespace mtc::onnx
