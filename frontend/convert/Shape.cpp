//===- Shape.cpp - Operators that give a tensor another shape ---------------------------------===//
//
// What the result's shape follows from was read when types were inferred.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/convert/Converters.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

LogicalResult convertReshape(Conversion &node) {
  return node.result(0, node.b.reshape(node.value(0), node.resultShape()));
}

/// Broadcasting goes both ways: an extent of 1 in the target keeps the operand's.
LogicalResult convertExpand(Conversion &node) {
  return node.result(0, node.broadcastValue(0, node.resultShape()));
}

/// Repeats along axis i as reshape([.., n_i, ..] to [.., 1, n_i, ..]), broadcast of the 1 and
/// reshape back.
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

/// [N, C, H, W] with C = c s² as [N, c, H s, W s]; mode says in which order C holds the s x s
/// blocks.
LogicalResult convertDepthToSpace(Conversion &node) {
  int64_t s = node.integer("blocksize");
  StringRef mode = node.choice("mode", "DCR", {"DCR", "CRD"});
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  int64_t n = node.dim(0, 0), c = node.resultShape()[1], h = node.dim(0, 2), w = node.dim(0, 3);
  Value y = mode == "DCR"
                ? b.transpose(b.reshape(node.value(0), {n, s, s, c, h, w}), {0, 3, 4, 1, 5, 2})
                : b.transpose(b.reshape(node.value(0), {n, c, s, s, h, w}), {0, 1, 4, 2, 5, 3});
  return node.result(0, b.reshape(y, node.resultShape()));
}

LogicalResult convertSpaceToDepth(Conversion &node) {
  int64_t s = node.integer("blocksize");
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  int64_t n = node.dim(0, 0), c = node.dim(0, 1), h = node.dim(0, 2) / s, w = node.dim(0, 3) / s;
  Value blocks = b.reshape(node.value(0), {n, c, h, s, w, s});
  return node.result(0, b.reshape(b.transpose(blocks, {0, 3, 5, 1, 2, 4}), node.resultShape()));
}

} // namespace

void registerShapeConverters(Converters &converters) {
  converters.add("Reshape", 1, convertReshape);
  converters.add("Flatten", 1, convertReshape);
  converters.add("Squeeze", 1, convertReshape);
  converters.add("Unsqueeze", 1, convertReshape);
  converters.add("Expand", 8, convertExpand);
  converters.add("Tile", 6, convertTile);
  converters.add("DepthToSpace", 1, convertDepthToSpace);
  converters.add("SpaceToDepth", 1, convertSpaceToDepth);
}

} // namespace mtc::onnx
