//===- SafeSoftmax.cpp - The softmax that exporters guard against fully masked rows -----------===//

#include "frontend/convert/Rewrites.h"

#include "frontend/dialect/Node.h"

using namespace mlir;

namespace mtc::onnx {

static bool isZero(const NodeView &node, size_t operand) {
  std::optional<SmallVector<double>> values = node.constantFloats(operand);
  return values && llvm::all_of(*values, [](double value) { return value == 0; });
}

/// The softmax `s` of Where(IsNaN(s), 0, s); null for any other node.
static NodeOp guardedSoftmax(NodeOp where) {
  if (!definedBy(where.getResult(0), "Where") || where.getInputs().size() != 3)
    return {};
  Value kept = where.getInputs()[2];
  NodeOp softmax = definedBy(kept, "Softmax"), isNan = definedBy(where.getInputs()[0], "IsNaN");
  if (!softmax || !isNan || isNan.getInputs().front() != kept)
    return {};
  bool sameShape = where.getResult(0).getType() == kept.getType();
  return sameShape && isZero(NodeView(where), 1) ? softmax : NodeOp();
}

void rewriteSafeSoftmax(GraphOp graph) {
  for (NodeOp where : llvm::make_early_inc_range(graph.getOps<NodeOp>())) {
    NodeOp softmax = guardedSoftmax(where);
    if (!softmax)
      continue;
    NodeView node(softmax);
    int64_t rank = node.rank(0);
    int64_t axis = node.axis("axis", softmax.getVersion() < 13 ? 1 : -1, rank);
    // Up to version 12 all axes from `axis` on are normalized together.
    if (node.failed() || (softmax.getVersion() < 13 && axis != rank - 1))
      continue;
    OpBuilder builder(where);
    auto integer = IntegerType::get(builder.getContext(), 64, IntegerType::Signed);
    auto safe = NodeOp::create(
        builder, softmax.getLoc(), where.getResultTypes(), "SafeSoftmax", /*version=*/1,
        builder.getStringAttr("mtc"),
        builder.getDictionaryAttr(builder.getNamedAttr("axis", IntegerAttr::get(integer, axis))),
        softmax.getInputs());
    replaceNodes(where, safe, {definedBy(where.getInputs()[0], "IsNaN"), softmax});
  }
}

} // namespace mtc::onnx
