//===- Patterns.h - Helpers for matching exporters' patterns ----------------------------------===//

#ifndef MTC_FRONTEND_ONNX_EXPORTERS_PATTERNS_H
#define MTC_FRONTEND_ONNX_EXPORTERS_PATTERNS_H

#include "frontend/onnx/dialect/Onnx.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mtc::onnx {

/// Returns the node that defines a value if it is an instance of this ai.onnx operator, or null.
NodeOp definedBy(mlir::Value value, llvm::StringRef opType);

/// Returns the value of all elements of a constant; nullopt for other values, also if elements
/// differ.
std::optional<double> splatOf(mlir::Value value);

/// Returns the operand of a binary node that is not a constant of this value, for instance `x` of
/// Add(x, 1) and Add(1, x); null if neither operand is that constant.
mlir::Value otherOperand(NodeOp node, double constant);

/// Returns the shape of a value, or an empty array if it is not static.
llvm::ArrayRef<int64_t> inferredShape(mlir::Value value);

/// Replaces `last` by `replacement`, then erases the nodes of `others`, in this order, that have no
/// uses.
void replaceNodes(mlir::PatternRewriter &rewriter, NodeOp last, NodeOp replacement,
                  llvm::ArrayRef<NodeOp> others);

/// Applies a pattern once to each operation nested in `root`.
template <typename Pattern> void applyPattern(mlir::Operation *root) {
  mlir::RewritePatternSet patterns(root->getContext());
  patterns.add<Pattern>(root->getContext());
  mlir::walkAndApplyPatterns(root, std::move(patterns));
}

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_EXPORTERS_PATTERNS_H
