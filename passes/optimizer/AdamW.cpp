//===- AdamW.cpp - Adam with decoupled weight decay ------------------------------------------===//
//
// Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019; order and epsilon as
// in PyTorch.
//
//===-----------------------------------------------------------------------------------------===//

#include "passes/optimizer/Optimizer.h"

using namespace mlir;
using namespace mtc;

/// p *= 1 - lr wd
/// m  = m + (1 - b1) (g - m)
/// v  = b2 v + (1 - b2) g²
/// p -= lr / (1 - b1^t) · m / (sqrt(v) / sqrt(1 - b2^t) + eps)
static void build(Update &update) {
  TensorBuilder &b = update.b;
  Value g = update.gradient, p = update.parameter, one = update.scalar(1.0);
  Value &m = update.states[0], &v = update.states[1];
  double beta1 = update.number("beta1"), beta2 = update.number("beta2");

  if (update.weightDecay != 0.0) {
    Value decay = b.mul(update.learningRate, update.scalar(update.weightDecay));
    p = b.mul(p, update.spread(b.sub(one, decay)));
  }
  m = b.add(m, b.mul(b.sub(g, m), update.spread(1.0 - beta1)));
  v = b.add(b.mul(v, update.spread(beta2)), b.mul(b.mul(g, g), update.spread(1.0 - beta2)));

  Value rate = b.div(update.learningRate, b.sub(one, update.powerOfStep(beta1)));
  Value unbias = b.div(one, b.sqrt(b.sub(one, update.powerOfStep(beta2))));
  Value denominator =
      b.add(b.mul(b.sqrt(v), update.spread(unbias)), update.spread(update.number("eps")));
  update.parameter = b.sub(p, b.div(b.mul(m, update.spread(rate)), denominator));
}

static constexpr llvm::StringLiteral states[] = {"moment1", "moment2"};
static constexpr Hyperparameter hyperparameters[] = {{"lr", 1e-3, 0.0, HUGE_VAL},
                                                     {"weight-decay", 1e-2, 0.0, HUGE_VAL},
                                                     {"beta1", 0.9, 0.0, 1.0},
                                                     {"beta2", 0.999, 0.0, 1.0},
                                                     {"eps", 1e-8, 0.0, HUGE_VAL}};

const OptimizerKind mtc::adamWOptimizer = {"adamw", states, hyperparameters, /*usesStep=*/true,
                                           build};
