//===- KeptValues.h - Reuse of a row's values after its reductions ----------------------------===//

#ifndef MTC_CODEGEN_CPU_KEPTVALUES_H
#define MTC_CODEGEN_CPU_KEPTVALUES_H

#include "codegen/cpu/LoopPlan.h"
#include "codegen/cpu/VectorIterationEmitter.h"

namespace mtc::cpu {

/// Buffers values of a row between the passes over it. A row that is reduced in lanes is traversed
/// once for each level of reductions, and once more for its results. If most of the values computed
/// in the first pass are used again, as in an optimizer's update with quantized state, they are
/// stored in a stack buffer that fits in the L1 cache.
class KeptValues {
public:
  KeptValues(const NormalKernel &kernel, const LoopPlan &plan);

  /// Allocates the buffers at the beginning of a function.
  void allocate(mlir::ImplicitLocOpBuilder &b);
  /// Stores the values of the bound lanes.
  void store(mlir::ImplicitLocOpBuilder &b, VectorIterationEmitter &emitter) const;
  /// Defines the values of the bound lanes from the buffers.
  void load(mlir::ImplicitLocOpBuilder &b, VectorIterationEmitter &emitter) const;

private:
  mlir::Value address(mlir::ImplicitLocOpBuilder &b, VectorIterationEmitter &emitter,
                      unsigned i) const;

  int64_t extent = 0; ///< elements of a row, rounded up to whole vectors
  unsigned dim = 0;
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Value> places;
};

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_KEPTVALUES_H
