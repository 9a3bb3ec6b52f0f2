//===- Autodiff.h - Reverse-mode differentiation of a block -----------------------------------===//
//
// The engine knows no operation: it asks GradientOpInterface for cotangents, adds up those of a
// value with several uses, and stops at operations of the trait ZeroGradient.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_AUTODIFF_AUTODIFF_H
#define MTC_PASSES_AUTODIFF_AUTODIFF_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// Computes, at the end of the function's one block, the gradients of sum over i of <outputs[i],
/// cotangents[i]> by the values `wrt`. Outputs and cotangents have the same floating-point tensor
/// types in pairs. `gradients` gets one value of the type of each of `wrt`, null where the outputs
/// do not depend on it.
///
/// Only operations between `wrt` and the outputs are visited, in reverse order, so that what the
/// backward pass reads dies early; a gradient is computed as soon as its last contribution is
/// known. Fails with one error that names every operation on the way that has no gradient; the
/// function is then left half-built.
llvm::LogicalResult differentiate(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Value> outputs,
                                  llvm::ArrayRef<mlir::Value> cotangents,
                                  llvm::ArrayRef<mlir::Value> wrt,
                                  llvm::SmallVectorImpl<mlir::Value> &gradients);

} // namespace mtc

#endif // MTC_PASSES_AUTODIFF_AUTODIFF_H
