//===- Rewrites.h - Forms of exporters, rewritten before conversion ---------------------------===//

#ifndef MTC_FRONTEND_CONVERT_REWRITES_H
#define MTC_FRONTEND_CONVERT_REWRITES_H

#include "frontend/dialect/Onnx.h"

namespace mtc::onnx {

/// Rewrites, in the whole graph,
///
///     s = Softmax(x), Where(IsNaN(s), 0, s)  =>  mtc.SafeSoftmax(x)
///
/// PyTorch's exporter writes the former for scaled dot-product attention. As three nodes its
/// gradient is NaN where a row is fully masked, because Where stops the cotangent but the softmax
/// behind it multiplies by NaN.
void rewriteSafeSoftmax(GraphOp graph);

/// Rewrites, in the whole graph,
///
///     Reshape(Transpose(Reshape(x, [G, T, D]), [0, 2, 1]), [.., D, T])  =>  Transpose(x, [.., D,
///     T])
///
/// where x is [.., T, D] and the leading extents .. make up G. PyTorch's exporter transposes keys
/// this way; as one node the transpose meets the one before it.
void rewriteTransposedReshape(GraphOp graph);

/// The node that defines a value if it is of this operator of ai.onnx; null otherwise.
NodeOp definedBy(mlir::Value value, llvm::StringRef opType);

/// Puts `replacement` in the place of `last` and removes those of `others`, in this order, that
/// nobody uses any more.
void replaceNodes(NodeOp last, NodeOp replacement, llvm::ArrayRef<NodeOp> others);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_CONVERT_REWRITES_H
