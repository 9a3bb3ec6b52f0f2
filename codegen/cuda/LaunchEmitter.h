//===- LaunchEmitter.h - One launch of a kernel being written ---------------------------------===//

#ifndef MTC_CODEGEN_CUDA_LAUNCHEMITTER_H
#define MTC_CODEGEN_CUDA_LAUNCHEMITTER_H

#include "codegen/cuda/GlobalPointEmitter.h"
#include "codegen/cuda/ThreadBuilder.h"

namespace mtc::cuda {

/// What the emitters of all shapes write with. The insertion point is in the launch's function.
struct LaunchEmitter {
  const NormalKernel &kernel;
  mlir::ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  GlobalPointEmitter &points;
  mlir::ValueRange results; ///< Pointers to them.
  mlir::Value scratch;      ///< Null if the plan needs none.
  const Launch &launch;     ///< The one being written,
  unsigned position;        ///< its place among the kernel's launches.

  /// What the kernel's results need: their values, then the symbols of their places.
  llvm::SmallVector<mlir::Value> stored() const {
    KernelYieldOp yield = kernel.yield;
    llvm::SmallVector<mlir::Value> all(yield.getValues());
    all.append(yield.getSymbols().begin(), yield.getSymbols().end());
    return all;
  }
};

void emitTranspose(LaunchEmitter &emitter, const TransposePlan &plan);
/// Sets the results to zero.
void emitZeros(LaunchEmitter &emitter);
void emitScatter(LaunchEmitter &emitter, const ScatterPlan &plan);
void emitElementwise(LaunchEmitter &emitter, const ElementwisePlan &plan);
void emitReduction(LaunchEmitter &emitter, const ReductionPlan &plan);
/// The last launch of a kernel with totals.
void emitTotals(LaunchEmitter &emitter, const ReductionPlan &plan);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_LAUNCHEMITTER_H
