//===- Adagrad.cpp - Adagrad ------------------------------------------------------------------===//
//
// Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic
// Optimization", JMLR 2011. The order of operations and epsilon follow PyTorch.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/optimizer/Optimizer.h"

using namespace mlir;
using namespace mtc;

/// g  = g + wd p
/// s  = s + g²
/// p -= lr / (1 + (t - 1) lr_decay) · g / (sqrt(s) + eps)
static void build(Update &update) {
  TensorBuilder &b = update.b;
  Value &sum = update.states[0], one = update.scalar(1.0);
  Value g = update.gradient = update.gradientWithDecay();
  sum = b.add(sum, b.mul(g, g));
  Value slowed = b.mul(b.sub(update.step, one), update.scalar(update.value("lr-decay")));
  Value rate = b.div(update.learningRate, b.add(one, slowed));
  update.descend(b.div(g, b.add(b.sqrt(sum), update.broadcast(update.value("eps")))), rate);
}

static constexpr OptimizerState states[] = {
    {"sum", likeParameter, "initial-accumulator-value", /*isNonNegative=*/true}};
static constexpr Hyperparameter hyperparameters[] = {
    learningRate(1e-2),
    weightDecay(0.0),
    {"lr-decay", 0.0, "learning-rate decay per step"},
    {"initial-accumulator-value", 0.0, "initial value of the sums of squares"},
    {"eps", 1e-10, "term added to the denominator for stability"}};

namespace mtc {
void addAdagradOptimizers(std::vector<OptimizerKind> &optimizers) {
  optimizers.push_back({.name = "adagrad",
                        .help = "adaptive subgradient method (Duchi et al., 2011)",
                        .states = states,
                        .hyperparameters = hyperparameters,
                        .usesStep = true,
                        .buildElementwise = build});
}
} // namespace mtc
