//===- LoopPlan.h - Mapping of iteration spaces to items, loops and vectors -------------------===//

#ifndef MTC_CODEGEN_CPU_LOOPPLAN_H
#define MTC_CODEGEN_CPU_LOOPPLAN_H

#include "codegen/kernels/KernelAnalysis.h"
#include "codegen/target/PlanFields.h"

#include "llvm/Support/MathExtras.h"

namespace mtc::cpu {

/// The number of lanes of a vector of 32-bit elements. Four 512-bit registers hide the latency of
/// arithmetic.
constexpr int64_t kLanes = 64;

/// The loop nest of a kernel, outermost first: the work items (the index of the kernel function),
/// the loops of an item, and the loops over the reduced dimensions. The plan depends on the kernel
/// only, so results do not depend on the number of threads.
struct LoopPlan {
  /// The dimensions whose index an item fixes, then the dimension (if any) that is split into
  /// blocks, one block per item.
  llvm::SmallVector<unsigned> itemDims;
  std::optional<unsigned> blockDim;
  int64_t block = 1;
  /// The dimensions that an item iterates over completely, outside and inside the reduction loops.
  llvm::SmallVector<unsigned> innerDims, reducedDims;
  /// The vectorized dimension, the innermost of its group. Unset for scalar kernels.
  std::optional<unsigned> vectorDim;
  int64_t lanes = 1;
  /// A dimension that is contiguous in loads which would otherwise be gathers along `vectorDim`. An
  /// item computes kTileBlock of its indices (it is one of `itemDims`). The item loads squares of
  /// lanes x lanes elements and transposes them in registers.
  std::optional<unsigned> tileDim;
  llvm::SmallVector<unsigned> tiledLoads; ///< indices of such loads in the body

  /// The offsets of the column sums in the scratch buffer. For kernels with column sums, an item
  /// computes a block of one summed dimension and accumulates each sum in the scratch buffer:
  /// element e of sum i of item k is stored at `partials[i] + (k * elements + e) * bytes of the
  /// value's type`. A second stage adds up the items.
  llvm::SmallVector<int64_t> partials;
  int64_t scratchBytes = 0;
  int64_t sumExtent = 0, sumGrain = 1; ///< extent and grain of the second stage

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
  /// Returns the number of accumulators per reduction along a reduced `vectorDim`: accumulator i
  /// combines the elements i, i + n, … of a row. It depends on the length of the row only, and not
  /// on `lanes`, which depends on the rest of the kernel. A fused kernel therefore has the same
  /// order of summation as the kernels from which it was fused.
  int64_t rowAccumulators(const NormalKernel &kernel) const {
    return std::max<int64_t>(
        lanes, std::min<int64_t>(kLanes, llvm::PowerOf2Ceil(kernel.space[*vectorDim])));
  }
};

/// Elements of a sum per work item of the second stage.
constexpr int64_t kSumBlock = 512;

/// Indices of the tiled dimension per work item.
constexpr int64_t kTileBlock = 64;

inline llvm::hash_code hash_value(const LoopPlan &plan) { return hashPlan(plan); }

/// Plans the loops of a kernel.
LoopPlan planLoops(const NormalKernel &kernel);
/// Returns why no code can be generated for a plan that was parsed from text, or an empty string.
std::string refusePlan(const LoopPlan &plan, const NormalKernel &kernel);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_LOOPPLAN_H
