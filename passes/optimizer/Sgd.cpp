//===- Sgd.cpp - Gradient descent, without and with momentum ----------------------------------===//

#include "passes/optimizer/Optimizer.h"

using namespace mlir;
using namespace mtc;

/// p -= lr d
static void descend(Update &update, Value d) {
  TensorBuilder &b = update.b;
  update.parameter = b.sub(update.parameter, b.mul(d, update.spread(update.learningRate)));
}

static void buildSgd(Update &update) { descend(update, update.gradientWithDecay()); }

/// v = momentum v + g + wd p, and v takes the gradient's place; as PyTorch's SGD without dampening.
static void buildMomentum(Update &update) {
  TensorBuilder &b = update.b;
  Value &velocity = update.states[0];
  velocity =
      b.add(b.mul(velocity, update.spread(update.number("momentum"))), update.gradientWithDecay());
  descend(update, velocity);
}

static constexpr llvm::StringLiteral states[] = {"velocity"};
static constexpr Hyperparameter sgd[] = {{"lr", 1e-3, 0.0, unlimited},
                                         {"weight-decay", 0.0, 0.0, unlimited}};
static constexpr Hyperparameter momentum[] = {{"lr", 1e-3, 0.0, unlimited},
                                              {"weight-decay", 0.0, 0.0, unlimited},
                                              {"momentum", 0.9, 0.0, 1.0}};

const OptimizerKind mtc::sgdOptimizer = {"sgd", {}, sgd, /*usesStep=*/false, buildSgd};
const OptimizerKind mtc::momentumOptimizer = {"momentum", states, momentum, /*usesStep=*/false,
                                              buildMomentum};
