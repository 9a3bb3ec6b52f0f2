//===- Optimizer.cpp - All optimizers, and what they share ------------------------------------===//

#include "passes/optimizer/Optimizer.h"

#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace mtc;

Value Update::scalar(double value) {
  return b.splat(RankedTensorType::get({}, b.getF64Type()), value);
}

Value Update::powerOfStep(double base) {
  // ln 0 is no number to multiply with; 0^step is 0, as step starts at 1.
  return base == 0.0 ? scalar(0.0) : b.exp(b.mul(step, scalar(std::log(base))));
}

Value Update::broadcast(Value scalar) {
  Value narrowed = b.cast(scalar, typeOf(parameter).getElementType());
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(shapeOf(parameter).size()));
  return b.broadcast(narrowed, axes, shapeOf(parameter));
}

Value Update::gradientWithDecay() {
  return weightDecay == 0.0 ? gradient : b.add(gradient, b.mul(parameter, broadcast(weightDecay)));
}

void Update::decayParameter() {
  if (weightDecay == 0.0)
    return;
  Value kept = b.sub(scalar(1.0), b.mul(learningRate, scalar(weightDecay)));
  parameter = b.mul(parameter, broadcast(kept));
}

std::string Hyperparameter::describeRange() const {
  return llvm::formatv("at least {0:f0} and less than {1}", minimum,
                       limit == unlimited ? "3.4e+38" : llvm::formatv("{0:f0}", limit).str());
}

const Hyperparameter *OptimizerKind::findHyperparameter(StringRef name) const {
  const auto *found =
      llvm::find_if(hyperparameters, [&](const Hyperparameter &each) { return each.name == name; });
  return found == hyperparameters.end() ? nullptr : found;
}

namespace mtc {
#define MTC_FILE(NAME) void add##NAME##Optimizers(std::vector<OptimizerKind> &optimizers);
#include "passes/optimizer/Kinds.inc"
#undef MTC_FILE
} // namespace mtc

ArrayRef<OptimizerKind> mtc::getOptimizers() {
  static const std::vector<OptimizerKind> optimizers = [] {
    std::vector<OptimizerKind> all;
#define MTC_FILE(NAME) add##NAME##Optimizers(all);
#include "passes/optimizer/Kinds.inc"
#undef MTC_FILE
    return all;
  }();
  return optimizers;
}

const OptimizerKind *mtc::findOptimizer(StringRef name) {
  const auto *found =
      llvm::find_if(getOptimizers(), [&](const OptimizerKind &each) { return each.name == name; });
  return found == getOptimizers().end() ? nullptr : found;
}
