//===- Optimizer.cpp - Registry of optimizers and shared update code --------------------------===//

#include "passes/optimizer/Optimizer.h"

#include "passes/OptionTable.h"
#include "passes/sharding/AxisParts.h"

#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mtc;

Value Update::scalar(double value) {
  return b.splat(RankedTensorType::get({}, b.getF64Type()), value);
}

Value Update::scalar(const Number &number) {
  return number.setting ? number.setting : scalar(number.constant);
}

Number Update::value(StringRef name) const {
  if (Value setting = settings ? settings->lookup(name) : Value())
    return Number(setting);
  return number(name);
}

Value Update::powerOfStep(const Number &base) {
  // 0^step is 0, because step starts at 1. log(0) is -infinity, which a constant must not be.
  if (base.setting)
    return b.exp(b.mul(step, b.log(base.setting)));
  return base.constant == 0.0 ? scalar(0.0) : b.exp(b.mul(step, scalar(std::log(base.constant))));
}

Value Update::broadcast(Value scalar) { return mtc::broadcastLike(b, scalar, parameter); }

Value Update::mix(Value from, Value to, const Number &weight) {
  return b.add(from, b.mul(b.sub(to, from), broadcastLike(b, weight, from)));
}

/// Returns the sum of all elements. The last axes are reduced first, so that there are many short
/// reductions.
static Value sumAxes(TensorBuilder &b, Value x) {
  for (int64_t axis = typeOf(x).getRank(); axis-- > 0;)
    x = b.sum(x, {axis});
  return x;
}

Value Update::norm(Value x) {
  Value sum = sumAxes(b, b.mul(x, x));
  return b.sqrt(b.cast(separatesSums ? separateSum(b, sum) : sum, b.getF64Type()));
}

Value Update::gradientWithDecay() {
  if (number("weight-decay") == 0.0)
    return gradient;
  return b.add(gradient, b.mul(parameter, broadcast(value("weight-decay"))));
}

void Update::decayParameter() {
  if (number("weight-decay") == 0.0)
    return;
  Value kept = b.sub(scalar(1.0), b.mul(learningRate, scalar(value("weight-decay"))));
  parameter = b.mul(parameter, broadcast(kept));
}

void Update::descend(Value direction, Value rate) {
  parameter = b.sub(parameter, b.mul(direction, broadcast(rate)));
}

void Update::finish(Value step) {
  decayParameter();
  parameter = b.sub(parameter, step);
}

void OptimizerKind::build(Update &update) const {
  if (isElementwise())
    return buildElementwise(update);
  const SmallVector<Value> tensors = wholeTensors->begin(update);
  update.finish(wholeTensors->transform(update, tensors));
}

Value mtc::sumOfElements(TensorBuilder &b, Value x) {
  return b.cast(sumAxes(b, x), b.getF64Type());
}

Value mtc::sumOfSquares(TensorBuilder &b, Value x) { return sumOfElements(b, b.mul(x, x)); }

Value mtc::isFinite(TensorBuilder &b, Value x) {
  return b.compare(Predicate::Lt, b.abs(x), b.splat(x, std::numeric_limits<double>::infinity()));
}

bool Hyperparameter::accepts(double value) const {
  return value >= minimum && value < limit && (!isWhole || value == std::floor(value));
}

std::string Hyperparameter::describeRange() const {
  auto spelled = [](double bound) {
    return bound == unlimited ? "3.4e+38" : llvm::formatv("{0:f0}", bound).str();
  };
  std::string below = "less than " + spelled(limit);
  if (minimum == -unlimited)
    return below;
  return (isWhole ? "a whole number, at least " : "at least ") + spelled(minimum) + " and " + below;
}

std::string Hyperparameter::spell(double value) const {
  return choices.empty() ? spellNumber(value) : choices[static_cast<size_t>(value)].name.str();
}

UpdateRule::UpdateRule(const OptimizerKind &kind)
    : kind(&kind),
      numbers(llvm::map_to_vector(kind.hyperparameters,
                                  [](const Hyperparameter &each) { return each.defaultValue; })) {}

double &UpdateRule::operator[](StringRef name) {
  return numbers[kind->findHyperparameter(name) - kind->hyperparameters.begin()];
}

const Hyperparameter *OptimizerKind::findHyperparameter(StringRef name) const {
  const auto *found =
      llvm::find_if(hyperparameters, [&](const Hyperparameter &each) { return each.name == name; });
  return found == hyperparameters.end() ? nullptr : found;
}

namespace mtc {
#define MTC_FILE(NAME) void add##NAME##Optimizers(std::vector<OptimizerKind> &optimizers);
#include "passes/optimizer/Optimizers.inc"
#undef MTC_FILE

template <> Registry<std::vector<OptimizerKind>> &Registry<std::vector<OptimizerKind>>::get() {
  static Registry registry = {
#define MTC_FILE(NAME) add##NAME##Optimizers,
#include "passes/optimizer/Optimizers.inc"
#undef MTC_FILE
  };
  return registry;
}
} // namespace mtc

ArrayRef<OptimizerKind> mtc::getOptimizers() {
  return Registry<std::vector<OptimizerKind>>::get().getTable();
}

const OptimizerKind *mtc::findOptimizer(StringRef name) {
  const auto *found =
      llvm::find_if(getOptimizers(), [&](const OptimizerKind &each) { return each.name == name; });
  return found == getOptimizers().end() ? nullptr : found;
}
