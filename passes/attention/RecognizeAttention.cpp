//===- RecognizeAttention.cpp - Recognition of attention --------------------------------------===//

#include "ir/NodeNames.h"
#include "ir/builders/Shape.h"
#include "passes/Passes.h"
#include "passes/attention/KeySelection.h"
#include "passes/attention/Masks.h"
#include "passes/attention/Scores.h"
#include "passes/attention/SharedHeads.h"
#include "passes/attention/Softmax.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace mtc {
#define GEN_PASS_DEF_RECOGNIZEATTENTION
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

static SmallVector<int64_t> join(ArrayRef<int64_t> a, ArrayRef<int64_t> b, ArrayRef<int64_t> c) {
  SmallVector<int64_t> joined(a);
  llvm::append_range(joined, b);
  llvm::append_range(joined, c);
  return joined;
}

namespace {

/// A softmax between two contractions that may be replaced by `mtc.attention`.
class Candidate {
public:
  Candidate(DivOp softmax, Value scores, CausalBiases &biases)
      : softmax(softmax), scores(scores), biases(biases), b(softmax.getLoc(), softmax) {}

  /// Replaces the second contraction. Returns false with a reason, or without one if the softmax is
  /// not part of attention.
  bool replace(std::string &reason) {
    Value read;
    second = productOfWeights(softmax, read, reason);
    std::string why;
    std::optional<ScoreChain> found = followScores(scores, why);
    if (!second || !found) {
      // Without a contraction on both sides, the softmax is not part of attention.
      bool isBetween = (second || !reason.empty()) && (found || !why.empty());
      reason = !isBetween ? "" : reason.empty() ? why : reason;
      return false;
    }
    chain = *found;
    b.setInsertionPoint(second);
    reason = findShape(read);
    if (reason.empty())
      reason = findMasks();
    if (!reason.empty())
      return false;
    build();
    return true;
  }

private:
  /// Determines the extents of batch, heads, queries and keys; returns the reason if they do not
  /// match.
  std::string findShape(Value weights) {
    ContractOp first = chain.product;
    Type element = typeOf(softmax).getElementType();
    if (!element.isF32() && !element.isF64())
      return "its elements are neither f32 nor f64";
    SmallVector<int64_t> rows = first.getLhsFree();
    ArrayRef<int64_t> shape = shapeOf(first.getLhs());
    keys = llvm::product_of(pick(shapeOf(first.getRhs()), first.getRhsFree()));
    if (shapeOf(scores).back() != keys)
      return "its softmax is not over the keys of the first matrix multiplication";
    queries = rows.empty() ? 1 : shape[rows.back()];
    int64_t shared = rows.empty() ? 1 : llvm::product_of(pick(shape, ArrayRef(rows).drop_back()));
    splitBatch(pick(shape, first.getLhsBatch()));
    heads = keyHeads * shared;

    int64_t last = typeOf(weights).getRank() - 1;
    SmallVector<int64_t> order = join(second.getLhsBatch(), second.getLhsFree(), {});
    if (second.getLhs() != weights || second.getRhs() == weights ||
        second.getLhsContract() != ArrayRef<int64_t>{last} || !llvm::is_sorted(order))
      return "its weights are not the left operand of the second matrix multiplication";
    if (shapeOf(weights).back() != keys)
      return "a reshape splits or merges its weights before the second matrix multiplication";
    if (llvm::product_of(pick(shapeOf(weights), second.getLhsBatch())) != batch * keyHeads)
      return "its keys and its values have different numbers of heads";
    return "";
  }

  /// Determines the batch size and the number of key heads. If the contraction has them as one
  /// axis, they are taken from the reshape that merged them.
  void splitBatch(ArrayRef<int64_t> extents) {
    batch = extents.empty() ? 1 : extents.front();
    keyHeads = extents.empty() ? 1 : llvm::product_of(extents.drop_front());
    if (extents.size() != 1)
      return;
    Value query = chain.product.getLhs();
    if (auto mul = query.getDefiningOp<MulOp>())
      query = splatOf(mul.getRhs()) ? mul.getLhs() : mul.getRhs();
    if (auto reshape = query.getDefiningOp<ReshapeOp>()) {
      ArrayRef<int64_t> from = shapeOf(reshape.getInput());
      if (from.size() == 4 && from[0] * from[1] == extents[0] &&
          from.take_back(2) == shapeOf(query).take_back(2)) {
        batch = from[0];
        keyHeads = from[1];
      }
    }
  }

  /// Returns a tensor of scores as [batch, heads, queries, keys], with size 1 along invariant axes.
  Value small(Value value) {
    return shrink(b, b.reshape(value, {batch, heads, queries, keys}), {0, 1, 2});
  }

  static std::string finiteReason(double number) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "a masked score is " << number << ", so fully masked rows would not give zeros";
    return text;
  }

  std::string findMasks() {
    selection.emplace(b, queries, biases);
    for (const ScoreMask &given : chain.masks) {
      Value condition = small(given.condition);
      if (std::isinf(given.otherwise) && given.otherwise < 0) {
        selection->addMask(condition, given.negated);
        continue;
      }
      std::optional<int64_t> offset = causalOffset(condition, queries, given.negated);
      if (!offset || !leavesEveryRow(*offset) || !leavesOut(given.otherwise))
        return finiteReason(given.otherwise);
      selection->addCausal(*offset);
    }
    for (const AddedBias &given : chain.biases) {
      if (std::optional<StringRef> source = trainedSource(given.value))
        return ("its bias depends on the parameter '" + *source + "'").str();
      selection->addBias(small(given.value), given.factor);
    }
    return "";
  }

  void build() {
    ContractOp first = chain.product;
    double scale = chain.scale;
    auto arrange = [&](Value x, ArrayRef<int64_t> order, ArrayRef<int64_t> shape) {
      return b.reshape(b.transpose(x, order), shape);
    };
    Value lhs = withoutScale(b, first.getLhs(), scale);
    Value rhs = withoutScale(b, first.getRhs(), scale);
    int64_t width = llvm::product_of(pick(shapeOf(lhs), first.getLhsContract()));
    int64_t valueWidth = llvm::product_of(pick(shapeOf(second.getRhs()), second.getRhsFree()));
    Value query =
        arrange(lhs, join(first.getLhsBatch(), first.getLhsFree(), first.getLhsContract()),
                {batch, heads, queries, width});
    Value key = arrange(rhs, join(first.getRhsBatch(), first.getRhsFree(), first.getRhsContract()),
                        {batch, keyHeads, keys, width});
    Value value = arrange(second.getRhs(),
                          join(second.getRhsBatch(), second.getRhsContract(), second.getRhsFree()),
                          {batch, keyHeads, keys, valueWidth});
    b.setLoc(FusedLoc::get(b.getContext(), {first.getLoc(), softmax.getLoc(), second.getLoc()}));
    Value out =
        b.attention(query, key, value, selection->bias, selection->mask, selection->causal, scale);
    second.replaceAllUsesWith(b.reshape(out, shapeOf(second)));
    second.erase();
  }

  DivOp softmax;
  Value scores;
  CausalBiases &biases;
  TensorBuilder b;
  ContractOp second;
  ScoreChain chain;
  int64_t batch = 1, heads = 1, keyHeads = 1, queries = 1, keys = 1;
  std::optional<KeySelection> selection;
};

/// Simplifies the mask of an existing attention as for recognized attention.
void simplifyMask(AttentionOp attention, CausalBiases &biases) {
  if (!attention.getMask())
    return;
  TensorBuilder b(attention.getLoc(), attention);
  KeySelection selection(b, shapeOf(attention.getQuery())[2], biases);
  if (std::optional<int64_t> causal = attention.getCausal())
    selection.addCausal(*causal);
  selection.addMask(attention.getMask(), /*negated=*/false);
  attention.getMaskMutable().clear();
  if (selection.mask)
    attention.getMaskMutable().assign(selection.mask);
  if (selection.causal)
    attention.setCausal(*selection.causal);
}

class RecognizeAttentionPass : public mtc::impl::RecognizeAttentionBase<RecognizeAttentionPass> {
  void runOnOperation() override {
    SmallVector<std::pair<DivOp, Value>> softmaxes;
    getOperation().walk([&](DivOp division) {
      if (Value input = softmaxInput(division))
        softmaxes.push_back({division, input});
    });
    static constexpr StringLiteral category = "mtc-recognize-attention";
    int64_t recognized = 0;
    SmallVector<std::string> refused;
    auto count = [&](Location location) {
      ++recognized;
      remark::passed(location, remark::RemarkOpts::name("recognized").category(category));
    };
    CausalBiases biases;
    getOperation().walk([&](AttentionOp attention) {
      simplifyMask(attention, biases);
      count(attention.getLoc());
    });
    for (auto [softmax, scores] : softmaxes) {
      std::string reason;
      Location location = softmax.getLoc();
      if (Candidate(softmax, scores, biases).replace(reason)) {
        count(location);
      } else if (!reason.empty()) {
        std::string nodes = nodeNames(location);
        refused.push_back(nodes.empty() ? reason : nodes + ": " + reason);
        remark::missed(location, remark::RemarkOpts::name("in-parts").category(category))
            << remark::reason("{0}", reason);
      }
    }
    if (recognized > 0) {
      RewritePatternSet patterns(&getContext());
      addSharedHeadPatterns(patterns);
      TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
      ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
      if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
        return signalPassFailure();
    }
    if (recognized == 0 && refused.empty())
      return;
    Builder builder(&getContext());
    SmallVector<StringRef> reasons(refused.begin(), refused.end());
    getOperation()->setAttr(
        attentionAttribute,
        AttentionReportAttr::get(&getContext(), recognized, builder.getStrArrayAttr(reasons)));
  }
};

} // namespace
