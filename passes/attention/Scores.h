//===- Scores.h - From a product of queries and keys to a softmax -----------------------------===//

#ifndef MTC_PASSES_ATTENTION_SCORES_H
#define MTC_PASSES_ATTENTION_SCORES_H

#include "ir/builders/TensorBuilder.h"

#include <optional>
#include <string>

namespace mtc {

/// Something added to scores, as it was before scales that came later.
struct AddedBias {
  mlir::Value value;
  double factor;
};

/// A condition on which scores stay what they are; `otherwise` takes their place.
struct ScoreMask {
  mlir::Value condition;
  bool negated;
  double otherwise;
};

/// What lies between a product and its softmax: scale * product + biases, with masks over it.
struct ScoreChain {
  ContractOp product;
  double scale = 1;
  mlir::SmallVector<AddedBias> biases;
  mlir::SmallVector<ScoreMask> masks;
};

/// Follows the scores back to their product; nothing, with a reason, where something else than
/// scales, biases and masks lies between, and nothing without a reason where there is no product.
std::optional<ScoreChain> followScores(mlir::Value scores, std::string &reason);

/// x where `value` is x times a constant, through movements of elements; multiplies `factor` by it.
mlir::Value withoutScale(TensorBuilder &b, mlir::Value value, double &factor);

/// The parameter that a value depends on by a gradient, if there is one.
std::optional<llvm::StringRef> trainedSource(mlir::Value value);

} // namespace mtc

#endif // MTC_PASSES_ATTENTION_SCORES_H
