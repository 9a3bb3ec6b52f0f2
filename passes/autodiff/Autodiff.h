//===- Autodiff.h - Reverse-mode differentiation of a block -----------------------------------===//
//
// The engine handles operations only through interfaces: it queries GradientOpInterface for
// cotangents, accumulates the cotangents of values with several uses, and stops at operations with
// the trait ZeroGradient.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_AUTODIFF_AUTODIFF_H
#define MTC_PASSES_AUTODIFF_AUTODIFF_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// Computes, at the end of the function's single block, the gradients of the sum over i of
/// <outputs[i], cotangents[i]> with respect to the values `wrt`. Each cotangent has the
/// floating-point tensor type of its output. `gradients` receives one value for each of `wrt`, of
/// the same type, or null if the outputs do not depend on it.
///
/// Only operations between `wrt` and the outputs are visited, in reverse order, which keeps the
/// live ranges of saved activations short; a gradient is computed as soon as its last contribution
/// is known. If operations between them have no gradient, one error names them all; the function is
/// then left partially extended.
llvm::LogicalResult differentiate(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Value> outputs,
                                  llvm::ArrayRef<mlir::Value> cotangents,
                                  llvm::ArrayRef<mlir::Value> wrt,
                                  llvm::SmallVectorImpl<mlir::Value> &gradients);

} // namespace mtc

#endif // MTC_PASSES_AUTODIFF_AUTODIFF_H
