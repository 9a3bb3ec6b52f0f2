//===- RmsProp.cpp - RMSprop ------------------------------------------------------------------===//
//
// Hinton, "Neural Networks for Machine Learning", lecture 6e, 2012; centered as in Graves,
// "Generating Sequences With Recurrent Neural Networks", 2013. The order of operations and epsilon
// follow PyTorch.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/optimizer/Optimizer.h"

using namespace mlir;
using namespace mtc;

/// g  = g + wd p
/// v  = alpha v + (1 - alpha) g²
/// m  = m + (1 - alpha) (g - m), if centered
/// d  = g / (sqrt(v - m²) + eps), without m² if not centered
/// u  = momentum u + d, if there is momentum
/// p -= lr u, or lr d
static void build(Update &update) {
  TensorBuilder &b = update.b;
  Value &square = update.states[0], &mean = update.states[1], &velocity = update.states[2];
  const Number alpha = update.value("alpha");
  Value g = update.gradient = update.gradientWithDecay();

  square = b.add(b.mul(square, update.broadcast(alpha)),
                 b.mul(b.mul(g, g), update.broadcast(complement(update.b, alpha))));
  Value variance = square;
  if (mean) {
    mean = update.mix(mean, g, complement(update.b, alpha));
    variance = b.sub(square, b.mul(mean, mean));
  }
  Value d = b.div(g, b.add(b.sqrt(variance), update.broadcast(update.value("eps"))));
  if (velocity)
    d = velocity = b.add(b.mul(velocity, update.broadcast(update.value("momentum"))), d);
  update.descend(d, update.learningRate);
}

/// Shape of a state that exists only if the hyperparameter `name` is nonzero.
template <const char *name>
static std::optional<Shape> ifAsked(ArrayRef<int64_t> parameter, const UpdateRule &rule) {
  return rule[name] == 0.0 ? std::nullopt : likeParameter(parameter, rule);
}
static constexpr char centered[] = "centered", momentumName[] = "momentum";

static constexpr OptimizerState states[] = {{.suffix = "moment2", .isNonNegative = true},
                                            {"moment1", ifAsked<centered>},
                                            {"velocity", ifAsked<momentumName>}};
static constexpr Hyperparameter hyperparameters[] = {
    learningRate(1e-2),
    weightDecay(0.0),
    {"alpha", 0.99, "smoothing constant of the squared gradients", 0.0, 1.0},
    {"eps", 1e-8, "term added to the denominator for stability"},
    momentum(0.0),
    noOrYesChoice("centered", false, "normalize by the variance of the gradient")};

namespace mtc {
void addRmsPropOptimizers(std::vector<OptimizerKind> &optimizers) {
  optimizers.push_back({.name = "rmsprop",
                        .help = "RMSprop (Hinton, 2012)",
                        .states = states,
                        .hyperparameters = hyperparameters,
                        .usesStep = false,
                        .buildElementwise = build});
}
} // namespace mtc
