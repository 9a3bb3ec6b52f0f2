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
static double firstEpsilon(const Update &update, Value parameter) {
  auto element = cast<FloatType>(typeOf(parameter).getElementType());
  double given = update.number("eps1");
  return given != 0.0 ? given : std::ldexp(1.0, 1 - static_cast<int>(element.getFPMantissaWidth()));
}

/// Updates a second moment: state + w (value - state), where w = t^beta2-decay.
static Value follow(Update &update, Value &state, Value value) {
  TensorBuilder &b = update.b;
  Value weight = b.exp(b.mul(b.log(update.step), update.scalar(update.value("beta2-decay"))));
  Value change = b.sub(value, state);
  return state = b.add(state, b.mul(change, broadcastLike(b, weight, change)));
}

/// Updates the row and column moments of a matrix and returns the estimate of its second moment,
/// their product divided by their mean.
///
/// r  = r + w (mean of g² over columns - r), c = c + w (mean of g² over rows - c)
/// v  = r c / max(mean of r, eps1)
static Value estimate(Update &update, Value gradient) {
  TensorBuilder &b = update.b;
  Value squares = b.mul(gradient, gradient);
  int64_t column = typeOf(squares).getRank() - 1, row = column - 1;
  Value rows = follow(update, update.states[0], mean(b, squares, column));
  Value columns = follow(update, update.states[1], mean(b, squares, row));
  Value center = mean(b, rows, row);
  center = b.max(center, b.splat(center, firstEpsilon(update, gradient)));
  ArrayRef<int64_t> shape = shapeOf(squares);
  return b.mul(b.broadcastTo(b.div(rows, b.broadcastTo(center, shapeOf(rows))), shape),
               b.broadcastTo(columns, shape));
}

/// The second moment of a vector is a state of the vector's shape.
static SmallVector<Value> begin(Update &update) {
  SmallVector<Value> tensors = {update.gradient, update.parameter};
  if (Value &moment = update.states[2])
    tensors.push_back(follow(update, moment, update.b.mul(update.gradient, update.gradient)));
  return tensors;
}

/// rate = max(eps2, root mean square of p) · min(lr, 1 / sqrt(t))
/// p   *= 1 - lr wd
/// u    = g / sqrt(max(v, eps1²))
/// p   -= rate / max(1, root mean square of u / clip-threshold) · u
static Value transform(Update &update, ArrayRef<Value> tensors) {
  TensorBuilder &b = update.b;
  Value gradient = tensors[0], parameter = tensors[1];
  Value one = update.scalar(1.0);
  double eps1 = firstEpsilon(update, parameter);
  Value root = update.scalar(std::sqrt(typeOf(parameter).getNumElements()));

  Value size = b.max(b.div(update.norm(parameter), root), update.scalar(update.value("eps2")));
  Value rate = b.mul(size, b.min(update.learningRate, b.div(one, b.sqrt(update.step))));

  Value moment = tensors.size() > 2 ? tensors[2] : estimate(update, gradient);
  Value u = b.mul(gradient, b.rsqrt(b.max(moment, b.splat(gradient, eps1 * eps1))));
  Value limit = b.mul(root, update.scalar(update.value("clip-threshold")));
  rate = b.div(rate, b.max(one, b.div(update.norm(u), limit)));
  return b.mul(u, broadcastLike(b, rate, u));
}

static constexpr WholeTensorRule rule = {begin, transform};

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
    {.suffix = "row_moment2", .shape = ofRows, .isNonNegative = true, .isWhole = true},
    {.suffix = "column_moment2", .shape = ofColumns, .isNonNegative = true, .isWhole = true},
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
       .wholeTensors = &rule});
}
} // namespace mtc
