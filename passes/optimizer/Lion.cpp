//===- Lion.cpp - Steps of one size by the sign of a momentum ---------------------------------===//
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
  auto mixed = [&](double beta) {
    return b.add(b.mul(m, update.spread(beta)), b.mul(g, update.spread(1.0 - beta)));
  };
  update.decayParameter();
  Value direction = b.sign(mixed(update.number("beta1")));
  update.parameter = b.sub(update.parameter, b.mul(direction, update.spread(update.learningRate)));
  m = mixed(update.number("beta2"));
}

static constexpr llvm::StringLiteral states[] = {"moment1"};
static constexpr Hyperparameter hyperparameters[] = {{"lr", 1e-4, 0.0, unlimited},
                                                     {"weight-decay", 0.0, 0.0, unlimited},
                                                     {"beta1", 0.9, 0.0, 1.0},
                                                     {"beta2", 0.99, 0.0, 1.0}};

const OptimizerKind mtc::lionOptimizer = {"lion", states, hyperparameters, /*usesStep=*/false,
                                          build};
