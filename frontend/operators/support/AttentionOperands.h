//===- AttentionOperands.h - What the operands and attributes of Attention say ----------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_ATTENTIONOPERANDS_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_ATTENTIONOPERANDS_H

#include "frontend/dialect/Node.h"

namespace mtc::onnx {

/// Heads, length and head size of Q, K or V: [B, heads, length, size], or [B, length, heads · size]
/// with the number of heads in an attribute.
struct Heads {
  int64_t batch, heads, length, size;
};

struct AttentionOperands {
  Heads query, key, value;
  int64_t past; ///< Keys and values that come before the new ones.

  /// Failure, reported, where they do not fit.
  static mlir::FailureOr<AttentionOperands> read(NodeView &node);

  int64_t keyLength() const { return past + key.length; }
};

struct AttentionAttributes {
  bool isCausal;
  double softcap, scale;
  int64_t outputMode; ///< Which scores result 3 shows.
  mlir::Type softmaxType;

  static mlir::FailureOr<AttentionAttributes> read(NodeView &node,
                                                   const AttentionOperands &operands);
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_ATTENTIONOPERANDS_H
