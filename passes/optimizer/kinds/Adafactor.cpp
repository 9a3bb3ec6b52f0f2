//===- Adafactor.cpp - Adafactor with factored second moments ---------------------------------===//
//
// Shazeer and Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost", ICML 2018.
// The order of operations and the epsilons follow PyTorch, which uses means where the paper uses
// sums, and adds no epsilon to the squares.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/optimizer/Optimizer.h"

#include <cmath>

using namespace mlir;
using namespace mtc;

/// Returns the mean along an axis, which is kept with extent 1.
static Value mean(TensorBuilder &b, Value x, int64_t axis) {
  Shape shape = llvm::to_vector(shapeOf(x));
  auto extent = static_cast<double>(std::exchange(shape[axis], 1));
  Value sum = b.reshape(b.sum(x, {axis}), shape);
  return b.div(sum, b.splat(sum, extent));
}

/// Returns the value of --eps1. The default is the machine epsilon of the parameter's type.
static double firstEpsilon(const Update &update) {
  auto element = cast<FloatType>(typeOf(update.parameter).getElementType());
  double given = update.number("eps1");
  return given != 0.0 ? given : std::ldexp(1.0, 1 - static_cast<int>(element.getFPMantissaWidth()));
}

/// Updates the state and returns the second moment estimate: the full second moment for a vector,
/// and otherwise the product of the row and column moments divided by their mean.
///
/// r  = r + w (mean of g² over columns - r), c = c + w (mean of g² over rows - c)
/// v  = r c / max(mean of r, eps1)
static Value estimate(Update &update, Value weight) {
  TensorBuilder &b = update.b;
  Value squares = b.mul(update.gradient, update.gradient);
  Type element = typeOf(squares).getElementType();
  auto follow = [&](Value &state, Value value) {
    Value change = b.sub(value, state);
    return state =
               b.add(state, b.mul(change, b.broadcastTo(b.cast(weight, element), shapeOf(change))));
  };
  if (Value &all = update.states[2])
    return follow(all, squares);
  int64_t column = typeOf(squares).getRank() - 1, row = column - 1;
  Value rows = follow(update.states[0], mean(b, squares, column));
  Value columns = follow(update.states[1], mean(b, squares, row));
  Value center = mean(b, rows, row);
  center = b.max(center, b.splat(center, firstEpsilon(update)));
  ArrayRef<int64_t> shape = shapeOf(squares);
  return b.mul(b.broadcastTo(b.div(rows, b.broadcastTo(center, shapeOf(rows))), shape),
               b.broadcastTo(columns, shape));
}

/// w    = t^beta2-decay
/// rate = max(eps2, root mean square of p) · min(lr, 1 / sqrt(t))
/// p   *= 1 - lr wd
/// u    = g / sqrt(max(v, eps1²))
/// p   -= rate / max(1, root mean square of u / clip-threshold) · u
static void build(Update &update) {
  TensorBuilder &b = update.b;
  Value one = update.scalar(1.0);
  double eps1 = firstEpsilon(update);
  Value root = update.scalar(std::sqrt(typeOf(update.parameter).getNumElements()));

  Value weight = b.exp(b.mul(b.log(update.step), update.scalar(update.number("beta2-decay"))));
  Value size =
      b.max(b.div(update.norm(update.parameter), root), update.scalar(update.number("eps2")));
  Value rate = b.mul(size, b.min(update.learningRate, b.div(one, b.sqrt(update.step))));
  update.decayParameter();

  Value moment = estimate(update, weight);
  Value u = b.mul(update.gradient, b.rsqrt(b.max(moment, update.broadcast(eps1 * eps1))));
  Value limit = b.mul(root, update.scalar(update.number("clip-threshold")));
  update.descend(u, b.div(rate, b.max(one, b.div(update.norm(u), limit))));
}

/// Shapes of the states. Parameters of rank 2 or more have a row and a column moment, with extent 1
/// along the other axis; vectors have a full moment.
static std::optional<Shape> ofRows(ArrayRef<int64_t> parameter, const UpdateRule &) {
  if (parameter.size() < 2)
    return std::nullopt;
  Shape shape = llvm::to_vector(parameter);
  shape.back() = 1;
  return shape;
}
static std::optional<Shape> ofColumns(ArrayRef<int64_t> parameter, const UpdateRule &) {
  if (parameter.size() < 2)
    return std::nullopt;
  Shape shape = llvm::to_vector(parameter);
  shape[shape.size() - 2] = 1;
  return shape;
}
static std::optional<Shape> ofVectors(ArrayRef<int64_t> parameter, const UpdateRule &rule) {
  return parameter.size() < 2 ? likeParameter(parameter, rule) : std::nullopt;
}

static constexpr OptimizerState states[] = {
    {.suffix = "row_moment2", .shape = ofRows, .isNonNegative = true},
    {.suffix = "column_moment2", .shape = ofColumns, .isNonNegative = true},
    {.suffix = "moment2", .shape = ofVectors, .isNonNegative = true}};
static constexpr Hyperparameter hyperparameters[] = {
    learningRate(1e-2),
    weightDecay(0.0),
    {"beta2-decay", -0.8, "exponent of the step in the decay rate of the second moment", -unlimited,
     0.0},
    {"eps1", 0.0, "lower bound of the second moment's root; 0: machine epsilon"},
    {"eps2", 1e-3, "lower bound of the parameter scale"},
    {"clip-threshold", 1.0, "maximum root mean square of an update", 1.0}};

namespace mtc {
void addAdafactorOptimizers(std::vector<OptimizerKind> &optimizers) {
  optimizers.push_back(
      {.name = "adafactor",
       .help = "factored second moments, relative step sizes (Shazeer and Stern, 2018)",
       .states = states,
       .hyperparameters = hyperparameters,
       .usesStep = true,
       .isElementwise = false,
       .build = build});
}
} // namespace mtc
