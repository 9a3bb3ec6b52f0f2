//===- AttentionOperands.h - Operands and attributes of Attention -----------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_ATTENTIONOPERANDS_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_ATTENTIONOPERANDS_H

#include "frontend/onnx/dialect/Node.h"

namespace mtc::onnx {

/// Dimensions of Q, K or V. The layout is [B, heads, length, size], or [B, length, heads · size]
/// with the number of heads in an attribute.
struct Heads {
  int64_t batch, heads, length, size;
};

struct AttentionOperands {
  Heads query, key, value;
  int64_t past; ///< Length of the cached keys and values (`past_key`), which precede the new ones.

  /// Reads the operand shapes. Fails with a diagnostic if the shapes are inconsistent.
  static mlir::FailureOr<AttentionOperands> read(NodeView &node);

  int64_t keyLength() const { return past + key.length; }
};

struct AttentionAttributes {
  bool isCausal;
  double softcap, scale;
  int64_t outputMode; ///< `qk_matmul_output_mode`: the stage of the scores that result 3 returns.
  mlir::Type softmaxType;

  static mlir::FailureOr<AttentionAttributes> read(NodeView &node,
                                                   const AttentionOperands &operands);
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_ATTENTIONOPERANDS_H
