//===- ElementwiseFunction.h - Recognition of elementwise functions in kernels ----------------===//

#ifndef MTC_PASSES_CALLS_ELEMENTWISEFUNCTION_H
#define MTC_PASSES_CALLS_ELEMENTWISEFUNCTION_H

#include "passes/calls/IterationOffsets.h"

namespace mtc {

/// Evaluates a scalar of a kernel's body as a function of other scalars and of elements that are
/// read at the offsets of the kernel's results. Producers that are elementwise kernels are
/// evaluated, too.
class ElementwiseFunction {
public:
  /// Analyzes a kernel whose argument loads are all at the offsets `own`.
  ElementwiseFunction(KernelOp kernel, IterationOffsets own)
      : kernel(kernel), own(std::move(own)) {}

  /// Makes a scalar of the body an argument of the function.
  void addArgument(mlir::Value scalar) { scalars.push_back(scalar); }
  /// Makes the element of `root` at each iteration an argument, wherever it is loaded.
  void addElement(mlir::Value root) { roots.push_back(root); }

  /// The values of a scalar at several points.
  using Column = llvm::SmallVector<double, 0>;

  /// Evaluates `value` in f64 at several points, given the values of each argument (scalars, then
  /// elements, in the order in which they were added). Returns nothing if the value depends on
  /// anything else, or on operations other than additions, subtractions, multiplications,
  /// divisions, tanh, exp and integer powers.
  std::optional<Column> evaluate(mlir::Value value, llvm::ArrayRef<Column> arguments) const;

  /// Returns whether the value is relu of an argument; NaN must propagate.
  bool isRelu(mlir::Value value) const;
  /// Returns whether the value is g(argument) with g(x) = x / 2 (1 + tanh(sqrt(2 / pi) (x +
  /// 0.044715 x^3))).
  bool isGelu(mlir::Value value) const;
  /// Returns whether the value is the first argument times g'(second argument).
  bool isGeluGradient(mlir::Value value) const;

private:
  struct Place;
  std::optional<Column> evaluate(mlir::Value value, const Place &place,
                                 llvm::ArrayRef<Column> arguments, unsigned &budget) const;

  KernelOp kernel;
  IterationOffsets own;
  llvm::SmallVector<mlir::Value> scalars, roots;
};

} // namespace mtc

#endif // MTC_PASSES_CALLS_ELEMENTWISEFUNCTION_H
