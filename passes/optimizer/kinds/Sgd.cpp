//===- Sgd.cpp - Gradient descent, without and with momentum ----------------------------------===//

#include "passes/optimizer/Optimizer.h"

using namespace mlir;
using namespace mtc;

/// p -= lr d
static void descend(Update &update, Value d) {
  TensorBuilder &b = update.b;
  update.parameter = b.sub(update.parameter, b.mul(d, update.broadcast(update.learningRate)));
}

static void buildSgd(Update &update) { descend(update, update.gradientWithDecay()); }

/// v = momentum v + g + wd p, and v takes the gradient's place; as PyTorch's SGD without dampening.
static void buildMomentum(Update &update) {
  TensorBuilder &b = update.b;
  Value &velocity = update.states[0];
  velocity = b.add(b.mul(velocity, update.broadcast(update.number("momentum"))),
                   update.gradientWithDecay());
  descend(update, velocity);
}

static constexpr StringLiteral states[] = {"velocity"};
static constexpr Hyperparameter sgd[] = {learningRate(1e-3), weightDecay(0.0)};
static constexpr Hyperparameter momentum[] = {
    learningRate(1e-3), weightDecay(0.0), {"momentum", 0.9, "decay of the velocity", 0.0, 1.0}};

namespace mtc {
void addSgdOptimizers(std::vector<OptimizerKind> &optimizers) {
  optimizers.push_back({.name = "sgd",
                        .help = "gradient descent",
                        .states = {},
                        .hyperparameters = sgd,
                        .usesStep = false,
                        .build = buildSgd});
  optimizers.push_back({.name = "momentum",
                        .help = "gradient descent with momentum, without dampening",
                        .states = states,
                        .hyperparameters = momentum,
                        .usesStep = false,
                        .build = buildMomentum});
}
} // namespace mtc
