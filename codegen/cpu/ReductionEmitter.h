//===- ReductionEmitter.h - Reductions of a kernel --------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_REDUCTIONEMITTER_H
#define MTC_CODEGEN_CPU_REDUCTIONEMITTER_H

#include "codegen/cpu/KeptValues.h"
#include "codegen/kernels/Reductions.h"

namespace mtc::cpu {

/// Emits the loops over the reduced dimensions. Accumulators are loop-carried values. If lanes are
/// along a reduced dimension, the row's accumulators form groups of `LoopPlan::lanes`. Each group
/// has one accumulator per reduction, and the groups are combined at the end.
class ReductionEmitter {
public:
  /// All references must outlive the object.
  ReductionEmitter(const NormalKernel &kernel, const LoopPlan &plan, mlir::ImplicitLocOpBuilder &b,
                   VectorIterationEmitter &emitter, const KeptValues &kept);

  /// Emits the reductions of a level and defines their results. `rowExtent` is the length of the
  /// row if it is shorter than the others.
  void emitLevel(unsigned level, std::optional<int64_t> rowExtent);

private:
  using Value = mlir::Value;
  using Body = llvm::function_ref<Accumulators(Value, const Accumulators &)>;

  Value initialAccumulator(KernelReduceOp reduce);
  Accumulators neutral(const Reductions &reductions);
  Accumulators combineAll(const Reductions &reductions, const Accumulators &lhs,
                          const Accumulators &rhs);
  Accumulators combineGroups(const Reductions &reductions, Accumulators all);
  Accumulators emitLoop(Value low, Value high, int64_t step, const Accumulators &accumulators,
                        Body body);
  Accumulators emitLoops(const Reductions &reductions, llvm::ArrayRef<unsigned> dims,
                         const Accumulators &accumulators);
  Accumulators emitRow(const Reductions &reductions, unsigned dim, Accumulators accumulators);
  Accumulators emitLong(const Reductions &reductions, int64_t extent, int64_t step,
                        const Accumulators &accumulators, Body body);
  Accumulators accumulateIteration(const Reductions &reductions, const Accumulators &accumulators);

  const NormalKernel &kernel;
  const LoopPlan &plan;
  mlir::ImplicitLocOpBuilder &b;
  VectorIterationEmitter &emitter;
  const KeptValues &kept;
  const bool isAlongRow;
  int64_t groups = 1; ///< of accumulators per reduction of the current level
  std::optional<int64_t> rowExtent;
};

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_REDUCTIONEMITTER_H
