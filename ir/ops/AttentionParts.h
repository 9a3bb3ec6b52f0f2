//===- AttentionParts.h - Decomposition of attention into core operations ---------------------===//

#ifndef MTC_IR_OPS_ATTENTIONPARTS_H
#define MTC_IR_OPS_ATTENTIONPARTS_H

#include "ir/builders/TensorBuilder.h"

namespace mtc {

/// Returns the element type of attention's logsumexp and offsets: f32 for narrower elements.
mlir::Type attentionSumType(mlir::Type element);

/// Builds the core operations of attention and its gradient. Values between contractions are
/// computed in the element type of logsumexp. In contractions, the query heads that share a key
/// head are a separate axis: [B, G, H / G, M, .].
class AttentionParts {
public:
  template <typename Op>
  AttentionParts(TensorBuilder &b, Op op)
      : b(b), query(op.getQuery()), key(op.getKey()), value(op.getValue()), bias(op.getBias()),
        mask(op.getMask()), causal(op.getCausal()), scale(op.getScale().convertToDouble()) {
    mlir::ArrayRef<int64_t> q = shapeOf(query), k = shapeOf(key);
    batch = q[0], heads = q[1], queries = q[2], keyHeads = k[1], keys = k[2];
  }

  /// Builds the scores [B, H, M, N]; masked keys have -inf.
  mlir::Value scores();
  /// Builds the logarithm of each row's sum of exponentials; +inf for rows without keys.
  mlir::Value logsumexp(mlir::Value scores);
  /// Builds e^(scores - logsumexp).
  mlir::Value weights(mlir::Value scores, mlir::Value logsumexp);
  /// Builds sums over keys of weights times `lines`, a tensor with a vector for each key, such as
  /// the values.
  mlir::Value mix(mlir::Value weights, mlir::Value lines);
  /// Builds d_out . value for each pair of query and key.
  mlir::Value weightGradients(mlir::Value dOut);
  /// Builds sums of weights times `lines`. The sums are over queries, and over the query heads that
  /// share a key head.
  mlir::Value mixQueries(mlir::Value weights, mlir::Value lines);

  /// Broadcasts one value per row along the last axis of `like`, [B, H, M, .].
  mlir::Value repeat(mlir::Value rows, mlir::Value like) {
    return b.broadcast(rows, {3}, shapeOf(like));
  }

private:
  /// Reshapes [B, H, M, .] to [B, G, H / G, M, .].
  mlir::Value group(mlir::Value x);
  mlir::Value ungroup(mlir::Value x);
  /// Cast to the element type of logsumexp, and to that of queries, keys and values.
  mlir::Value wide(mlir::Value x);
  mlir::Value likeLines(mlir::Value x);
  mlir::Value product(mlir::Value queryLines, mlir::Value keyLines);

  TensorBuilder &b;
  mlir::Value query, key, value, bias, mask;
  std::optional<int64_t> causal;
  double scale;
  int64_t batch, heads, queries, keyHeads, keys;
};

} // namespace mtc

#endif // MTC_IR_OPS_ATTENTIONPARTS_H
