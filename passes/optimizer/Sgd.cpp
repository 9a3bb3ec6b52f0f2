//===- Sgd.cpp - Gradient descent ------------------------------------------------------------===//

#include "passes/optimizer/Optimizer.h"

using namespace mlir;
using namespace mtc;

/// p -= lr (g + wd p).
static void build(Update &update) {
  TensorBuilder &b = update.b;
  Value g = update.gradient, p = update.parameter;
  if (update.weightDecay != 0.0)
    g = b.add(g, b.mul(p, update.spread(update.weightDecay)));
  update.parameter = b.sub(p, b.mul(g, update.spread(update.learningRate)));
}

static constexpr Hyperparameter hyperparameters[] = {{"lr", 1e-3, 0.0, HUGE_VAL},
                                                     {"weight-decay", 0.0, 0.0, HUGE_VAL}};

const OptimizerKind mtc::sgdOptimizer = {"sgd", {}, hyperparameters, /*usesStep=*/false, build};
