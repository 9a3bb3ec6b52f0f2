//===- PointFunction.h - What a scalar of a kernel is a function of ---------------------------===//

#ifndef MTC_PASSES_CALLS_POINTFUNCTION_H
#define MTC_PASSES_CALLS_POINTFUNCTION_H

#include "passes/calls/PointOffsets.h"

namespace mtc {

/// A scalar of a kernel's body as a function of others, of elements that are read where the kernel
/// stores its results. What an elementwise kernel in front computed of these is part of it.
class PointFunction {
public:
  /// Of a kernel all of whose loads of arguments lie at `own`.
  PointFunction(KernelOp kernel, PointOffsets own) : kernel(kernel), own(std::move(own)) {}

  /// Makes a scalar of the body an argument.
  void addArgument(mlir::Value scalar) { scalars.push_back(scalar); }
  /// Makes the element of `root` at each point an argument, wherever it is loaded.
  void addElement(mlir::Value root) { roots.push_back(root); }

  /// The value where the arguments (scalars, then elements, in order of addition) have these
  /// values, in f64. Nothing if it also depends on something else, or if it is not analytic: all
  /// but sums, products, quotients, tanh, exp and whole powers.
  std::optional<double> evaluate(mlir::Value value, llvm::ArrayRef<double> arguments) const;

  /// Whether it is an argument where that is above 0, a NaN where that is one, 0 elsewhere.
  bool isRelu(mlir::Value value) const;
  /// Whether it is `g`(argument) with g(x) = x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
  bool isGelu(mlir::Value value) const;
  /// Whether it is the first argument times g'(second argument).
  bool isGeluGradient(mlir::Value value) const;

private:
  struct Place;
  std::optional<double> evaluate(mlir::Value value, const Place &place,
                                 llvm::ArrayRef<double> arguments, unsigned &budget) const;

  KernelOp kernel;
  PointOffsets own;
  llvm::SmallVector<mlir::Value> scalars, roots;
};

} // namespace mtc

#endif // MTC_PASSES_CALLS_POINTFUNCTION_H
