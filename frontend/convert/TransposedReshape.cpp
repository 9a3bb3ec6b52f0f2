//===- TransposedReshape.cpp - The transpose that exporters take through three dimensions -----===//

#include "frontend/convert/Rewrites.h"

#include "frontend/dialect/Node.h"

using namespace mlir;

namespace mtc::onnx {

/// Whether a transpose swaps the last two of three axes.
static bool swapsLastOfThree(NodeOp transpose) {
  NodeView node(transpose);
  return node.rank(0) == 3 && node.axes("perm", 3) == SmallVector<int64_t>{0, 2, 1};
}

/// The x of the pattern that ends in `last`; null where it does not match.
static Value transposedSource(NodeOp last) {
  NodeOp transpose = definedBy(last.getInputs()[0], "Transpose");
  if (!transpose || !swapsLastOfThree(transpose))
    return {};
  NodeOp first = definedBy(transpose.getInputs()[0], "Reshape");
  if (!first)
    return {};
  Value x = first.getInputs()[0];
  auto from = cast<RankedTensorType>(x.getType()).getShape();
  auto merged = cast<RankedTensorType>(first.getOutputs()[0].getType()).getShape();
  auto to = cast<RankedTensorType>(last.getOutputs()[0].getType()).getShape();
  if (from.size() < 3 || from.size() != to.size())
    return {};
  bool keepsMatrices = from.take_back(2) == merged.take_back(2);
  bool keepsLeading = from.drop_back(2) == to.drop_back(2);
  bool isSwapped = to.take_back(2)[0] == from.back() && to.back() == from.take_back(2)[0];
  return keepsMatrices && keepsLeading && isSwapped ? x : Value();
}

void rewriteTransposedReshape(GraphOp graph) {
  for (NodeOp last : llvm::make_early_inc_range(graph.getOps<NodeOp>())) {
    if (!definedBy(last.getResult(0), "Reshape"))
      continue;
    Value x = transposedSource(last);
    if (!x)
      continue;
    auto transpose = last.getInputs()[0].getDefiningOp<NodeOp>();
    SmallVector<int64_t> permutation =
        llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(x.getType()).getRank()));
    std::swap(permutation.back(), permutation[permutation.size() - 2]);
    OpBuilder builder(last);
    auto swapped = NodeOp::create(builder, transpose.getLoc(), last.getResultTypes(), "Transpose",
                                  transpose.getVersion(), StringAttr(),
                                  builder.getDictionaryAttr(builder.getNamedAttr(
                                      "perm", builder.getDenseI64ArrayAttr(permutation))),
                                  x);
    replaceNodes(last, swapped, {transpose, definedBy(transpose.getInputs()[0], "Reshape")});
  }
}

} // namespace mtc::onnx
