//===- LoopPlan.h - How a kernel's space becomes items, loops and vectors ---------------------===//

#ifndef MTC_CODEGEN_CPU_LOOPPLAN_H
#define MTC_CODEGEN_CPU_LOOPPLAN_H

#include "codegen/kernels/KernelAnalysis.h"
#include "codegen/target/PlanFields.h"

namespace mtc::cpu {

/// The loops of a kernel, outermost first: items (the kernel function's index), the loops of an
/// item, and within them those of the reduced dims. It follows from the kernel alone, so that
/// results do not depend on the number of threads.
struct LoopPlan {
  /// Dims that an item has an index of, then the dim (if any) of which an item has a block.
  llvm::SmallVector<unsigned> itemDims;
  std::optional<unsigned> blockDim;
  int64_t block = 1;
  /// Dims that an item runs through as a whole, outside and inside the loops of reductions.
  llvm::SmallVector<unsigned> innerDims, reducedDims;
  /// The dim along which lanes lie; the innermost of its group. None for a kernel of scalars.
  std::optional<unsigned> vectorDim;
  int64_t lanes = 1;
  /// A dim along which memory runs in loads that lanes would gather: an item has kTileBlock indices
  /// of it (it is one of `itemDims`), and loads squares of lanes x lanes, which it transposes in
  /// registers.
  std::optional<unsigned> tileDim;
  llvm::SmallVector<unsigned> tiledLoads; ///< Their numbers among the body's.

  /// Where there are column sums: an item has a block of one dim that they sum over, and adds up
  /// what it finds for each of them in the scratch: element e of sum i of item k lies at
  /// `partials[i] + (k * elements + e) * bytes of the value's type`. A second stage sums over the
  /// items.
  llvm::SmallVector<int64_t> partials;
  int64_t scratchBytes = 0;
  int64_t sumExtent = 0, sumGrain = 1; ///< of the second stage

  int64_t extent = 1;
  int64_t grain = 1;

  template <typename Visitor> static constexpr void visitFields(Visitor &&field) {
    field("items", &LoopPlan::itemDims);
    field("blocked", &LoopPlan::blockDim);
    field("block", &LoopPlan::block);
    field("inner", &LoopPlan::innerDims);
    field("reduced", &LoopPlan::reducedDims);
    field("vector", &LoopPlan::vectorDim);
    field("lanes", &LoopPlan::lanes);
    field("tiled", &LoopPlan::tileDim);
    field("tiled_loads", &LoopPlan::tiledLoads);
    field("partials", &LoopPlan::partials);
    field("scratch", &LoopPlan::scratchBytes);
    field("sum_extent", &LoopPlan::sumExtent);
    field("sum_grain", &LoopPlan::sumGrain);
    field("extent", &LoopPlan::extent);
    field("grain", &LoopPlan::grain);
  }
  bool operator==(const LoopPlan &) const = default;

  bool vectorIsReduced(const NormalKernel &kernel) const {
    return vectorDim && contains(kernel.reduced, *vectorDim);
  }
};

/// Elements of a sum in an item of the second stage.
constexpr int64_t kSumBlock = 512;

/// Indices of the tile dim in an item.
constexpr int64_t kTileBlock = 64;

inline llvm::hash_code hash_value(const LoopPlan &plan) { return hashPlan(plan); }

LoopPlan planLoops(const NormalKernel &kernel);
/// Why code cannot be written by a plan that was read from a text; empty if it can.
std::string refusePlan(const LoopPlan &plan, const NormalKernel &kernel);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_LOOPPLAN_H
