//===- Divergence.cpp - Kullback-Leibler divergence -------------------------------------------===//

#include "passes/losses/ClassAxis.h"
#include "passes/losses/Loss.h"

using namespace mlir;
using namespace mtc;

/// The sum over each sample of t (ln t - ln softmax(x)) with the probabilities t of the labels, and
/// 0 where t is 0; the mean over samples is PyTorch's `batchmean`. With `log-target` the labels
/// are ln t.
static LossTerms build(TensorBuilder &b, const LossInputs &in) {
  Value output = classesLast(b, in.output, in.layout.classAxis);
  Value labels = classesLast(b, in.labels, in.layout.classAxis);
  auto rank = static_cast<int64_t>(shapeOf(output).size());
  Value logarithm = logSoftmax(b, output), losses;
  if (in.parameters.logTarget) {
    losses = b.mul(b.exp(labels), b.sub(labels, logarithm));
  } else {
    // The logarithm of 0 is avoided, since 0 times its infinity is not a number.
    Value zero = b.splat(labels, 0.0), isZero = b.compare(Predicate::Eq, labels, zero);
    Value entropy = b.mul(labels, b.log(b.select(isZero, b.splat(labels, 1.0), labels)));
    losses = b.sub(entropy, b.mul(labels, logarithm));
  }
  return {b.sum(losses, llvm::to_vector(llvm::seq<int64_t>(1, rank))), nullptr};
}

namespace mtc {
void addDivergenceLosses(std::vector<Loss> &losses) {
  static constexpr StringLiteral parameters[] = {"log-target"};
  losses.push_back({.name = "kl-div",
                    .help = "KL divergence from class probabilities, mean over samples",
                    .classifies = false,
                    .parameters = parameters,
                    .layout = layoutOfProbabilities,
                    .build = build,
                    .activation = OutputActivation::Softmax});
}
} // namespace mtc
