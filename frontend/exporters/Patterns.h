//===- Patterns.h - What patterns of exporters are matched with -------------------------------===//

#ifndef MTC_FRONTEND_EXPORTERS_PATTERNS_H
#define MTC_FRONTEND_EXPORTERS_PATTERNS_H

#include "frontend/dialect/Onnx.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mtc::onnx {

/// The node that defines a value if it is of this operator of ai.onnx; null otherwise.
NodeOp definedBy(mlir::Value value, llvm::StringRef opType);

/// The extents of a value whose type is inferred; empty for others.
llvm::ArrayRef<int64_t> inferredShape(mlir::Value value);

/// Puts `replacement` in the place of `last` and removes those of `others`, in this order, that
/// nobody uses any more.
void replaceNodes(mlir::PatternRewriter &rewriter, NodeOp last, NodeOp replacement,
                  llvm::ArrayRef<NodeOp> others);

/// Applies a pattern to each operation below `root` once.
template <typename Pattern> void applyPattern(mlir::Operation *root) {
  mlir::RewritePatternSet patterns(root->getContext());
  patterns.add<Pattern>(root->getContext());
  mlir::walkAndApplyPatterns(root, std::move(patterns));
}

} // namespace mtc::onnx

#endif // MTC_FRONTEND_EXPORTERS_PATTERNS_H
