//===- Lion.cpp - Lion ------------------------------------------------------------------------===//
//
// Chen et al., "Symbolic Discovery of Optimization Algorithms", NeurIPS 2023, algorithm 2.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/optimizer/Optimizer.h"

using namespace mlir;
using namespace mtc;

/// p *= 1 - lr wd
/// p -= lr sign(b1 m + (1 - b1) g)
/// m  = b2 m + (1 - b2) g
static void build(Update &update) {
  TensorBuilder &b = update.b;
  Value g = update.gradient;
  Value &m = update.states[0];
  auto mixed = [&](const Number &beta) {
    return b.add(b.mul(m, update.broadcast(beta)),
                 b.mul(g, update.broadcast(complement(update.b, beta))));
  };
  update.decayParameter();
  update.descend(b.sign(mixed(update.value("beta1"))), update.learningRate);
  m = mixed(update.value("beta2"));
}

static constexpr OptimizerState states[] = {{"moment1"}};
static constexpr Hyperparameter hyperparameters[] = {
    learningRate(1e-4), weightDecay(0.0),
    beta1(0.9, "decay rate of the interpolated momentum in the update"),
    beta2(0.99, "decay rate of the momentum")};

namespace mtc {
void addLionOptimizers(std::vector<OptimizerKind> &optimizers) {
  optimizers.push_back({.name = "lion",
                        .help = "sign of the momentum (Chen et al., 2023)",
                        .states = states,
                        .hyperparameters = hyperparameters,
                        .usesStep = false,
                        .buildElementwise = build});
}
} // namespace mtc
