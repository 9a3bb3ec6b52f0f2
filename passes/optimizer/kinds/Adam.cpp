//===- Adam.cpp - Adam and AdamW --------------------------------------------------------------===//
//
// Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015; Loshchilov and Hutter,
// "Decoupled Weight Decay Regularization", ICLR 2019. The order of operations and epsilon follow
// PyTorch.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/optimizer/Optimizer.h"

using namespace mlir;
using namespace mtc;

/// m  = m + (1 - b1) (g - m)
/// v  = b2 v + (1 - b2) g²
/// p -= lr / (1 - b1^t) · m / (sqrt(v) / sqrt(1 - b2^t) + eps)
static void step(Update &update) {
  TensorBuilder &b = update.b;
  Value g = update.gradient, one = update.scalar(1.0);
  Value &m = update.states[0], &v = update.states[1];
  const Number beta1 = update.value("beta1"), beta2 = update.value("beta2");

  m = update.mix(m, g, complement(update.b, beta1));
  v = b.add(b.mul(v, update.broadcast(beta2)),
            b.mul(b.mul(g, g), update.broadcast(complement(update.b, beta2))));

  Value rate = b.div(update.learningRate, b.sub(one, update.powerOfStep(beta1)));
  Value unbias = b.div(one, b.sqrt(b.sub(one, update.powerOfStep(beta2))));
  Value denominator =
      b.add(b.mul(b.sqrt(v), update.broadcast(unbias)), update.broadcast(update.value("eps")));
  update.parameter = b.sub(update.parameter, b.div(b.mul(m, update.broadcast(rate)), denominator));
}

/// Emits Adam with L2 weight decay as part of the gradient: g + wd p.
static void buildAdam(Update &update) {
  update.gradient = update.gradientWithDecay();
  step(update);
}

/// Emits AdamW. The decoupled weight decay comes first and does not affect the moments: p *= 1 - lr
/// wd.
static void buildAdamW(Update &update) {
  update.decayParameter();
  step(update);
}

static constexpr OptimizerState states[] = {{"moment1"},
                                            {.suffix = "moment2", .isNonNegative = true}};
/// Returns the hyperparameters of Adam with the given default weight decay.
static constexpr std::array<Hyperparameter, 5> hyperparameters(double decay) {
  return {learningRate(1e-3), weightDecay(decay),
          Hyperparameter{"eps", 1e-8, "term added to the denominator for stability"},
          beta1(0.9, "decay rate of the first moment"),
          beta2(0.999, "decay rate of the second moment")};
}
static constexpr auto adam = hyperparameters(0.0), adamW = hyperparameters(1e-2);

namespace mtc {
void addAdamOptimizers(std::vector<OptimizerKind> &optimizers) {
  optimizers.push_back({.name = "adam",
                        .help = "Adam (Kingma and Ba, 2015), with L2 weight decay",
                        .states = states,
                        .hyperparameters = adam,
                        .usesStep = true,
                        .buildElementwise = buildAdam});
  optimizers.push_back({.name = "adamw",
                        .help = "Adam with decoupled weight decay (Loshchilov and Hutter, 2019)",
                        .states = states,
                        .hyperparameters = adamW,
                        .usesStep = true,
                        .buildElementwise = buildAdamW});
}
} // namespace mtc
