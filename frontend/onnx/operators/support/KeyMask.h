//===- KeyMask.h - Integer masks of onnxruntime's attention operators -------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_KEYMASK_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_KEYMASK_H

#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/DotProductAttention.h"
#include "frontend/onnx/operators/support/Inference.h"

namespace mtc::onnx {

/// Extents of the scores [batch, heads, length, keys].
struct ScoreShape {
  int64_t batch, heads, length, keys;
};

/// Checks that operand `i`, if present, is a mask of keys in one of these forms:
///   [batch]                    the number of keys, which precede the padding
///   [batch, keys]              positive for keys that are attended to
///   [batch, length, keys]      the same for each query
/// and with `allowsBounds`, which only Attention does,
///   [2 batch]                  the ends of the keys, then their starts
///   [batch, 1, most, most]     positive for keys, of which the first ones are used
mlir::LogicalResult checkKeyMask(Inference &node, size_t i, const ScoreShape &scores,
                                 bool allowsBounds);

/// Checks that operand `i`, if present, is added to scores: [batch or 1, heads or 1, length, keys].
mlir::LogicalResult checkScoreBias(Inference &node, size_t i, const ScoreShape &scores);

/// Adds mask operand `i`, if present, to the biases: attribute mask_filter_value for keys that are
/// not attended to. The value is finite, so that a query without attended keys attends to all.
void addKeyMask(Conversion &node, size_t i, const ScoreShape &scores,
                DotProductAttention &attention);

/// Returns attribute `scale`; the default, which 0 selects too, is 1 / √size.
double readScale(NodeView &node, int64_t size);

/// Fails with a diagnostic if operand `i` is present.
mlir::LogicalResult refuseOperand(NodeView &node, size_t i, llvm::StringRef reason);

/// Fails with a diagnostic if attribute `name` is not `expected`.
mlir::LogicalResult refuseAttribute(NodeView &node, llvm::StringRef name, int64_t expected,
                                    llvm::StringRef reason);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_KEYMASK_H
