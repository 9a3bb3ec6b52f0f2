//===- GradientScaling.cpp - Unscaling and clipping of gradients ------------------------------===//

#include "passes/optimizer/GradientScaling.h"

#include "ir/ReservedNames.h"
#include "passes/optimizer/Optimizer.h"
#include "passes/optimizer/VariableView.h"

using namespace mlir;
using namespace mtc;

/// Computes the loss scale times the fraction of targets that counted, or their weight, if not all
/// have weight 1. Without any counted target, all gradients are 0 and stay 0.
void GradientScaling::findScale(TensorBuilder &b) {
  if (lossScale) {
    scale = lossScale->getScale();
    inverse = lossScale->getInverse();
  }
  if (!accumulation || accumulation.getTargets() == 0)
    return;
  Value count = b.create<ReadOp>(RankedTensorType::get({}, b.getF64Type()), targetCountName);
  Value isPositive = b.compare(Predicate::Gt, count, b.splat(count, 0.0));
  count = b.select(isPositive, count, b.splat(count, 1.0));
  Value all = b.splat(count, static_cast<double>(accumulation.getTargets()));
  Value part = b.div(count, all), inversePart = b.div(all, count);
  scale = scale ? b.mul(scale, part) : part;
  inverse = inverse ? b.mul(inverse, inversePart) : inversePart;
}

/// Clips each element to the range of --clip-value, multiplied by the scale that gradients still
/// have.
Value GradientScaling::limit(TensorBuilder &b, Value gradient) const {
  if (!options.clipValue)
    return gradient;
  auto spread = [&](double limit) {
    if (!scale)
      return b.splat(gradient, limit);
    return broadcastLike(b, b.mul(scale, b.splat(scale, limit)), gradient);
  };
  return b.max(b.min(gradient, spread(*options.clipValue)), spread(-*options.clipValue));
}

Value GradientScaling::buildNorm(TensorBuilder &b, ArrayRef<VariableOp> gradients) const {
  Value total = b.splat(RankedTensorType::get({}, b.getF64Type()), 0.0);
  for (VariableOp variable : gradients) {
    Value gradient = limit(b, VariableView(variable).readWide(b));
    // Unscale before squaring, so that the squares have the same range as without loss scaling.
    if (inverse)
      gradient = b.mul(gradient, broadcastLike(b, inverse, gradient));
    total = b.add(total, sumOfSquares(b, gradient));
  }
  return b.sqrt(total);
}

/// Returns the factor that limits the norm of the gradients: min(1, limit / (norm + 1e-6)).
static Value buildClipping(TensorBuilder &b, Value norm, double limit) {
  return b.min(b.splat(norm, 1.0), b.div(b.splat(norm, limit), b.add(norm, b.splat(norm, 1e-6))));
}

void GradientScaling::build(TensorBuilder &b, ArrayRef<VariableOp> gradients) {
  findScale(b);
  if (options.clipNorm || options.gradientNorm)
    norm = buildNorm(b, gradients);
  factor = inverse;
  if (options.clipNorm) {
    Value clipping = buildClipping(b, norm, *options.clipNorm);
    factor = factor ? b.mul(clipping, factor) : clipping;
  }
}

Value GradientScaling::apply(TensorBuilder &b, Value gradient) const {
  Value limited = limit(b, gradient);
  return factor ? b.mul(limited, broadcastLike(b, factor, limited)) : limited;
}
