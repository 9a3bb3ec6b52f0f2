//===- Scores.h - Matching of scores from contraction to softmax ------------------------------===//

#ifndef MTC_PASSES_ATTENTION_SCORES_H
#define MTC_PASSES_ATTENTION_SCORES_H

#include "ir/builders/TensorBuilder.h"

#include <optional>
#include <string>

namespace mtc {

/// A term that is added to the scores; `factor` is the product of the scales applied after it.
struct AddedBias {
  mlir::Value value;
  double factor;
};

/// Replaces scores by `otherwise` where the condition is false, or with `negated` where it is true.
struct ScoreMask {
  mlir::Value condition;
  bool negated;
  double otherwise;
};

/// The operations between a contraction and its softmax: scale * product + biases, then masks.
struct ScoreChain {
  ContractOp product;
  double scale = 1;
  mlir::SmallVector<AddedBias> biases;
  mlir::SmallVector<ScoreMask> masks;
};

/// Follows the scores back to their contraction. Returns nothing if there is no contraction. If
/// operations other than scales, biases and masks are between the contraction and the softmax, also
/// returns the reason.
std::optional<ScoreChain> followScores(mlir::Value scores, std::string &reason);

/// Returns x if `value` is x times a constant, looking through data movement, and multiplies
/// `factor` by the constant. Returns `value` otherwise.
mlir::Value withoutScale(TensorBuilder &b, mlir::Value value, double &factor);

/// Returns the name of a parameter that receives a gradient through the value, if there is one.
std::optional<llvm::StringRef> trainedSource(mlir::Value value);

} // namespace mtc

#endif // MTC_PASSES_ATTENTION_SCORES_H
