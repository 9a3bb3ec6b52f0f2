//===- Muon.cpp - Muon with Newton-Schulz orthogonalization -----------------------------------===//
//
// Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024. Follows PyTorch,
// except that the Newton-Schulz iterations compute in the parameter's type and not in bf16. Rows
// and columns are those of the parameter's shape in the model file.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/optimizer/Optimizer.h"

#include <cmath>

using namespace mlir;
using namespace mtc;

/// Returns an approximately orthogonal matrix near x by Newton-Schulz iterations:
///
/// x = x / max(norm of x, eps)
/// x = a x + (b s + c s²) x, where s = x xᵀ; for a tall x, applied to its transpose
static Value orthogonalize(Update &update, Value x) {
  TensorBuilder &b = update.b;
  bool isTall = shapeOf(x)[0] > shapeOf(x)[1];
  int64_t longAxis = isTall ? 0 : 1;
  Value norm = b.max(update.norm(x), update.scalar(update.value("eps")));
  x = b.div(x, broadcastLike(b, norm, x));
  auto times = [&](Value value, StringRef name) {
    return b.mul(value, broadcastLike(b, update.value(name), value));
  };
  for (int i = 0; i < update.number("ns-steps"); ++i) {
    Value s = b.contract(x, x, {}, {}, {longAxis}, {longAxis});
    Value powers = b.add(times(s, "ns-b"), times(b.contract(s, s, {}, {}, {1}, {0}), "ns-c"));
    Value turned =
        isTall ? b.contract(x, powers, {}, {}, {1}, {0}) : b.contract(powers, x, {}, {}, {1}, {0});
    x = b.add(times(x, "ns-a"), turned);
  }
  return x;
}

/// Returns the learning-rate factor, indexed by the choice of `adjust-lr`.
static double adjustment(const Update &update, Value matrix) {
  auto rows = static_cast<double>(shapeOf(matrix)[0]);
  auto columns = static_cast<double>(shapeOf(matrix)[1]);
  const double factors[] = {std::sqrt(std::max(1.0, rows / columns)),
                            0.2 * std::sqrt(std::max(rows, columns)), std::sqrt(rows / columns)};
  return factors[static_cast<size_t>(update.number("adjust-lr"))];
}

/// m  = m + (1 - momentum) (g - m)
/// d  = m, or with Nesterov's momentum g + momentum (m - g)
/// p *= 1 - lr wd
/// p -= lr adjustment · orthogonal(d)
static SmallVector<Value> begin(Update &update) {
  const Number momentum = update.value("momentum");
  Value g = update.gradient;
  Value &m = update.states[0];
  m = update.mix(m, g, complement(update.b, momentum));
  return {update.number("nesterov") != 0.0 ? update.mix(g, m, momentum) : m};
}

static Value transform(Update &update, ArrayRef<Value> directions) {
  TensorBuilder &b = update.b;
  Value d = orthogonalize(update, directions.front());
  Value rate = b.mul(update.learningRate, update.scalar(adjustment(update, d)));
  return b.mul(d, broadcastLike(b, rate, d));
}

static constexpr WholeTensorRule rule = {begin, transform};

static constexpr OptimizerState states[] = {{"moment1"}};
static constexpr HyperparameterChoice adjustments[] = {
    {"original", "sqrt(max(1, rows / columns))"},
    {"match-rms-adamw", "0.2 sqrt(max(rows, columns)), which matches AdamW's update size"},
    {"spectral-unclamped", "sqrt(rows / columns)"}};
static constexpr Hyperparameter coefficient(StringLiteral name, double value, StringLiteral help) {
  return {name, value, help, -unlimited, unlimited, "ns-coefficients"};
}
static constexpr Hyperparameter hyperparameters[] = {
    learningRate(1e-3),
    weightDecay(0.1),
    momentum(0.95),
    nesterov(true),
    {"eps", 1e-7, "lower bound of the norm of an update"},
    {.name = "ns-steps",
     .defaultValue = 5,
     .help = "Newton-Schulz iterations",
     .minimum = 1.0,
     .limit = 100.0,
     .isWhole = true},
    coefficient("ns-a", 3.4445, "Newton-Schulz coefficient of x"),
    coefficient("ns-b", -4.775, "coefficient of x xᵀ x"),
    coefficient("ns-c", 2.0315, "coefficient of (x xᵀ)² x"),
    {.name = "adjust-lr",
     .defaultValue = 0,
     .help = "learning-rate factor of a matrix",
     .choices = adjustments}};

static bool isMatrix(RankedTensorType parameter) { return parameter.getRank() == 2; }
static constexpr OptimizerDomain domain = {"matrices", isMatrix, /*isHidden=*/true, "adamw"};

namespace mtc {
void addMuonOptimizers(std::vector<OptimizerKind> &optimizers) {
  optimizers.push_back({.name = "muon",
                        .help = "orthogonalized momentum (Jordan et al., 2024); adamw for "
                                "embeddings, the output layer and vectors",
                        .states = states,
                        .hyperparameters = hyperparameters,
                        .usesStep = false,
                        .domain = &domain,
                        .wholeTensors = &rule});
}
} // namespace mtc
