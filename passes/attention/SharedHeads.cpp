//===- SharedHeads.cpp - Grouped-query attention ----------------------------------------------===//

#include "passes/attention/SharedHeads.h"

#include "passes/attention/Masks.h"

using namespace mlir;
using namespace mtc;

namespace {

/// attention(q, repeat(k), repeat(v)) => attention(q, k, v), where k and v have one head per group
/// of query heads.
struct ReadSharedHeads : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    TensorBuilder b(op.getLoc(), rewriter);
    std::optional<int64_t> keyHeads = headsBefore(op.getKey());
    if (!keyHeads || keyHeads != headsBefore(op.getValue()))
      return rewriter.notifyMatchFailure(op, "keys and values are not repeated alike");
    Value key = unrepeated(b, op.getKey(), *keyHeads);
    Value value = unrepeated(b, op.getValue(), *keyHeads);
    rewriter.modifyOpInPlace(op, [&] {
      op.getKeyMutable().assign(key);
      op.getValueMutable().assign(value);
    });
    return success();
  }

  static BroadcastOp repetition(Value value) {
    return sameElements(value).getDefiningOp<BroadcastOp>();
  }

  /// Returns the number of heads G before the repetition if the value [B, G * R, N, E] is a reshape
  /// of [B, G, R, ..] that is broadcast along R.
  static std::optional<int64_t> headsBefore(Value value) {
    BroadcastOp broadcast = repetition(value);
    if (!broadcast || broadcast.getAxes().size() != 1)
      return std::nullopt;
    ArrayRef<int64_t> from = shapeOf(broadcast), to = shapeOf(value);
    int64_t axis = broadcast.getAxes().front(), outer = llvm::product_of(from.take_front(axis));
    bool repeatsHeads = llvm::product_of(from.drop_front(axis + 1)) == to[2] * to[3] &&
                        outer % to[0] == 0 && outer / to[0] * from[axis] == to[1];
    return repeatsHeads ? std::optional(outer / to[0]) : std::nullopt;
  }

  static Value unrepeated(TensorBuilder &b, Value value, int64_t heads) {
    ArrayRef<int64_t> shape = shapeOf(value);
    return b.reshape(repetition(value).getInput(), {shape[0], heads, shape[2], shape[3]});
  }
};

} // namespace

void mtc::addSharedHeadPatterns(RewritePatternSet &patterns) {
  patterns.add<ReadSharedHeads>(patterns.getContext());
}
