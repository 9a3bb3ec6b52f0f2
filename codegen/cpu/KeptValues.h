//===- KeptValues.h - What a row's reductions compute, kept for its results -------------------===//

#ifndef MTC_CODEGEN_CPU_KEPTVALUES_H
#define MTC_CODEGEN_CPU_KEPTVALUES_H

#include "codegen/cpu/LoopPlan.h"
#include "codegen/cpu/VectorPointEmitter.h"

namespace mtc::cpu {

/// A row that is reduced in lanes is run through once for each level of reductions, and once more
/// for its results. Where much of what the first run computes is needed again, as an optimizer's
/// update for its codes, the row's values stay in the first level of the cache.
class KeptValues {
public:
  KeptValues(const NormalKernel &kernel, const LoopPlan &plan);

  /// Makes room, at the beginning of a function.
  void allocate(mlir::ImplicitLocOpBuilder &b);
  /// Keeps what the bound lanes have.
  void store(mlir::ImplicitLocOpBuilder &b, VectorPointEmitter &emitter) const;
  /// Gives the bound lanes what was kept of them.
  void load(mlir::ImplicitLocOpBuilder &b, VectorPointEmitter &emitter) const;

private:
  mlir::Value address(mlir::ImplicitLocOpBuilder &b, VectorPointEmitter &emitter, unsigned i) const;

  int64_t extent = 0; ///< Of a row, whole vectors.
  unsigned dim = 0;
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Value> places;
};

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_KEPTVALUES_H
