//===- Columns.cpp - Col2Im -------------------------------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/Windows.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// The extents of the image, and the windows of its blocks.
struct Columns {
  Extents image;
  Windows windows;

  static FailureOr<Columns> read(NodeView &node) {
    std::optional<Extents> image = node.constantInts(1), block = node.constantInts(2);
    if (!image || !block)
      return node.needsConstant(image ? 2 : 1);
    if (image->empty() || image->size() != block->size())
      return node.failure("has " + Twine(image->size()) + " extents of the image and " +
                          Twine(block->size()) + " of a block, expected equal numbers");
    for (const auto &[i, extents] : {std::pair(1, *image), std::pair(2, *block)})
      if (llvm::any_of(extents, [](int64_t extent) { return extent < 1; }) ||
          !isAddressable(extents))
        return node.failure(Twine(node.operandName(i)) + " = " + shapeText(extents) +
                            ", expected positive extents");
    FailureOr<Windows> windows = readWindows(node, *image, *block);
    if (failed(windows))
      return failure();
    return Columns{*image, *windows};
  }
};

/// Infers [N, C, image…] for X [N, C · block's elements, blocks].
LogicalResult inferCol2Im(Inference &node) {
  if (!node.hasRank(0, 3, 3))
    return failure();
  FailureOr<Columns> columns = Columns::read(node);
  if (failed(columns))
    return failure();
  int64_t block = elementCount(columns->windows.kernel);
  if (!isAddressable(columns->windows.output))
    return node.failure("has more blocks than can be addressed");
  if (node.dim(0, 1) % block != 0 || node.dim(0, 2) != elementCount(columns->windows.output))
    return node.failure(Twine(node.operandName(0)) + " has shape " + shapeText(node.shape(0)) +
                        ", expected a multiple of " + Twine(block) + " on axis 1 and " +
                        Twine(elementCount(columns->windows.output)) + " on axis 2");
  Extents shape{node.dim(0, 0), node.dim(0, 1) / block};
  llvm::append_range(shape, columns->image);
  return node.result(0, node.elementType(0), shape);
}

/// Overlapping blocks are summed.
LogicalResult convertCol2Im(Conversion &node) {
  FailureOr<Columns> columns = Columns::read(node);
  if (failed(columns))
    return failure();
  TensorBuilder &b = node.b;
  const Windows &windows = columns->windows;
  auto rank = static_cast<int64_t>(windows.kernel.size());
  Extents shape(node.resultShape().take_front(2)), order{0, 1};
  llvm::append_range(shape, windows.kernel);
  llvm::append_range(shape, windows.output);
  // Window positions before kernel taps.
  llvm::append_range(order, axesFrom(2 + rank, 2 + 2 * rank));
  llvm::append_range(order, axesFrom(2, 2 + rank));
  Value blocks = b.transpose(b.reshape(node.value(0), shape), order);
  return node.result(0, b.overlapAdd(blocks, axesFrom(2, 2 + rank), windows.before, windows.strides,
                                     windows.dilations, node.resultShape()));
}

} // namespace

void addColumnsOperators(Operators &operators) {
  operators.add("Col2Im", 18, {.infer = inferCol2Im, .convert = convertCol2Im});
}

} // namespace mtc::onnx
