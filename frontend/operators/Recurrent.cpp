//===- Recurrent.cpp - RNN, GRU, LSTM: types only ---------------------------------------------===//

#include "frontend/dialect/Shapes.h"
#include "frontend/operators/Inference.h"
#include "frontend/operators/Operators.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// X [T, B, I] (layout 0) or [B, T, I] (layout 1), W [directions, gates · H, I], R [directions,
/// gates · H, H]. Y [T, directions, B, H] or [B, T, directions, H]; Y_h and Y_c [directions, B, H]
/// or [B, directions, H].
LogicalResult inferRecurrent(Inference &node, int64_t gates) {
  bool batchFirst = node.flag("layout", false);
  StringRef direction =
      node.choice("direction", "forward", {"forward", "reverse", "bidirectional"});
  for (size_t i = 0; i < 3; ++i)
    if (!node.sameElementType(0, i) || !node.hasRank(i, 3, 3))
      return failure();
  int64_t directions = direction == "bidirectional" ? 2 : 1;
  int64_t hidden = node.integer("hidden_size", node.dim(2, 2));
  int64_t length = node.dim(0, batchFirst), batch = node.dim(0, !batchFirst);
  if (node.failed())
    return failure();
  if (hidden != node.dim(2, 2))
    return node.failure("attribute hidden_size = " + Twine(hidden) + ", but " +
                        node.operandName(2) + " has shape " + shapeText(node.shape(2)));
  Extents weight{directions, gates * hidden, node.dim(0, 2)};
  Extents recurrence{directions, gates * hidden, hidden};
  for (const auto &[i, expected] : {std::pair(1, weight), std::pair(2, recurrence)})
    if (node.shape(i) != ArrayRef<int64_t>(expected))
      return node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(node.shape(i)) +
                          ", expected " + shapeText(expected));
  Type element = node.elementType(0);
  Extents all = batchFirst ? Extents{batch, length, directions, hidden}
                           : Extents{length, directions, batch, hidden};
  Extents last =
      batchFirst ? Extents{batch, directions, hidden} : Extents{directions, batch, hidden};
  return success(succeeded(node.result(0, element, all)) &&
                 succeeded(node.result(1, element, last)) &&
                 (node.opType() != "LSTM" || succeeded(node.result(2, element, last))));
}

} // namespace

void registerRecurrentOperators(Operators &operators) {
  operators.add("RNN", 7, {.infer = [](Inference &node) { return inferRecurrent(node, 1); }});
  operators.add("GRU", 7, {.infer = [](Inference &node) { return inferRecurrent(node, 3); }});
  operators.add("LSTM", 7, {.infer = [](Inference &node) { return inferRecurrent(node, 4); }});
}

} // namespace mtc::onnx
