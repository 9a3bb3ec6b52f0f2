//===- Sgd.cpp - SGD with and without momentum ------------------------------------------------===//

#include "passes/optimizer/Optimizer.h"

using namespace mlir;
using namespace mtc;

/// p -= lr d
static void buildSgd(Update &update) {
  update.descend(update.gradientWithDecay(), update.learningRate);
}

/// v  = momentum v + d, where d = g + wd p
/// p -= lr v, or with Nesterov momentum p -= lr (d + momentum v); follows PyTorch's SGD without
/// dampening
static void buildMomentum(Update &update) {
  TensorBuilder &b = update.b;
  Value &velocity = update.states[0], d;
  auto decayed = [&] { return b.mul(velocity, update.broadcast(update.value("momentum"))); };
  velocity = b.add(decayed(), d = update.gradientWithDecay());
  if (update.number("nesterov") == 0.0)
    return update.descend(velocity, update.learningRate);
  // The decayed gradient has two users, so it replaces the gradient.
  update.gradient = d;
  update.descend(b.add(d, decayed()), update.learningRate);
}

static constexpr OptimizerState states[] = {{"velocity"}};
static constexpr Hyperparameter sgd[] = {learningRate(1e-3), weightDecay(0.0)};
static constexpr Hyperparameter ofMomentum[] = {learningRate(1e-3), weightDecay(0.0), momentum(0.9),
                                                nesterov(false)};

namespace mtc {
void addSgdOptimizers(std::vector<OptimizerKind> &optimizers) {
  optimizers.push_back({.name = "sgd",
                        .help = "stochastic gradient descent",
                        .states = {},
                        .hyperparameters = sgd,
                        .usesStep = false,
                        .buildElementwise = buildSgd});
  optimizers.push_back({.name = "momentum",
                        .help = "stochastic gradient descent with momentum, no dampening",
                        .states = states,
                        .hyperparameters = ofMomentum,
                        .usesStep = false,
                        .buildElementwise = buildMomentum});
}
} // namespace mtc
