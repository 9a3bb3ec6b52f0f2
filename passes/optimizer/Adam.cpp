//===- Adam.cpp - Adam, and AdamW with decoupled weight decay ---------------------------------===//
//
// Kingma and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015; Loshchilov and Hutter,
// "Decoupled Weight Decay Regularization", ICLR 2019. Order and epsilon as in PyTorch.
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
  double beta1 = update.number("beta1"), beta2 = update.number("beta2");

  m = b.add(m, b.mul(b.sub(g, m), update.spread(1.0 - beta1)));
  v = b.add(b.mul(v, update.spread(beta2)), b.mul(b.mul(g, g), update.spread(1.0 - beta2)));

  Value rate = b.div(update.learningRate, b.sub(one, update.powerOfStep(beta1)));
  Value unbias = b.div(one, b.sqrt(b.sub(one, update.powerOfStep(beta2))));
  Value denominator =
      b.add(b.mul(b.sqrt(v), update.spread(unbias)), update.spread(update.number("eps")));
  update.parameter = b.sub(update.parameter, b.div(b.mul(m, update.spread(rate)), denominator));
}

/// The decay is part of the gradient: g + wd p.
static void buildAdam(Update &update) {
  update.gradient = update.gradientWithDecay();
  step(update);
}

/// The decay comes first and leaves the moments alone: p *= 1 - lr wd.
static void buildAdamW(Update &update) {
  update.decayParameter();
  step(update);
}

static constexpr llvm::StringLiteral states[] = {"moment1", "moment2"};
static constexpr Hyperparameter adam[] = {{"lr", 1e-3, 0.0, unlimited},
                                          {"weight-decay", 0.0, 0.0, unlimited},
                                          {"beta1", 0.9, 0.0, 1.0},
                                          {"beta2", 0.999, 0.0, 1.0},
                                          {"eps", 1e-8, 0.0, unlimited}};
static constexpr Hyperparameter adamW[] = {{"lr", 1e-3, 0.0, unlimited},
                                           {"weight-decay", 1e-2, 0.0, unlimited},
                                           {"beta1", 0.9, 0.0, 1.0},
                                           {"beta2", 0.999, 0.0, 1.0},
                                           {"eps", 1e-8, 0.0, unlimited}};

const OptimizerKind mtc::adamOptimizer = {"adam", states, adam, /*usesStep=*/true, buildAdam};
const OptimizerKind mtc::adamWOptimizer = {"adamw", states, adamW, /*usesStep=*/true, buildAdamW};
