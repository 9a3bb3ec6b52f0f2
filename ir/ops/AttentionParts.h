//===- AttentionParts.h - Attention written in the core ---------------------------------------===//

#ifndef MTC_IR_OPS_ATTENTIONPARTS_H
#define MTC_IR_OPS_ATTENTIONPARTS_H

#include "ir/builders/TensorBuilder.h"

namespace mtc {

/// The element type of attention's logsumexp and offsets: f32 for narrower elements.
mlir::Type attentionSumType(mlir::Type element);

/// The operands and numbers of attention, and the core operations that it and its gradient are.
/// What is between products is computed in the element type of logsumexp.
/// Heads of queries that share a head of keys are an axis of their own in products: [B, G, H / G,
/// M, .].
class AttentionParts {
public:
  template <typename Op>
  AttentionParts(TensorBuilder &b, Op op)
      : b(b), query(op.getQuery()), key(op.getKey()), value(op.getValue()), bias(op.getBias()),
        mask(op.getMask()), causal(op.getCausal()), scale(op.getScale().convertToDouble()) {
    mlir::ArrayRef<int64_t> q = shapeOf(query), k = shapeOf(key);
    batch = q[0], heads = q[1], queries = q[2], keyHeads = k[1], keys = k[2];
  }

  /// [B, H, M, N], -inf where a key takes no part.
  mlir::Value scores();
  /// The logarithm of the sum of each row's exponentials; +inf where there are none.
  mlir::Value logsumexp(mlir::Value scores);
  /// e^(scores - logsumexp).
  mlir::Value weights(mlir::Value scores, mlir::Value logsumexp);
  /// Sums of values, or of what else has a line for each key, by weights.
  mlir::Value mix(mlir::Value weights, mlir::Value lines);
  /// d_out . value for each pair of a query and a key.
  mlir::Value weightGradients(mlir::Value dOut);
  /// The sums over queries, and over the heads that share a key, of weights times lines.
  mlir::Value mixQueries(mlir::Value weights, mlir::Value lines);

  /// A number of each row for each of the elements of `like`, [B, H, M, .].
  mlir::Value repeat(mlir::Value rows, mlir::Value like) {
    return b.broadcast(rows, {3}, shapeOf(like));
  }

private:
  /// [B, H, M, .] as [B, G, H / G, M, .].
  mlir::Value group(mlir::Value x);
  mlir::Value ungroup(mlir::Value x);
  /// In the element type of logsumexp, and in that of queries, keys and values.
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
