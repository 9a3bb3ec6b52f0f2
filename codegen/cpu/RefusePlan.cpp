//===- RefusePlan.cpp - Validation of a kernel's loop plan ------------------------------------===//
//
// Plans that the planner computes are valid. A plan that was parsed from text may refer to
// dimensions that do not exist or omit iterations.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/cpu/LoopPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

static DimSet setOf(ArrayRef<unsigned> dims) {
  DimSet set = 0;
  for (unsigned dim : dims)
    set |= DimSet(1) << dim;
  return set;
}

static ArrayRef<unsigned> listOf(const std::optional<unsigned> &dim) {
  return dim ? ArrayRef(*dim) : ArrayRef<unsigned>();
}

static bool isVectorOf(const LoopPlan &plan, const NormalKernel &kernel) {
  constexpr int64_t maxLanes = 1024;
  if (!plan.vectorDim)
    return plan.lanes == 1;
  return *plan.vectorDim < kernel.rank() && !contains(kernel.summedDims, *plan.vectorDim) &&
         llvm::isPowerOf2_64(plan.lanes) && plan.lanes <= maxLanes &&
         (plan.blockDim != plan.vectorDim || plan.block % plan.lanes == 0);
}

static bool areTilesOf(const LoopPlan &plan, const NormalKernel &kernel) {
  if (!plan.tileDim)
    return plan.tiledLoads.empty();
  return plan.vectorDim && !kernel.reduced && !kernel.scatters() && !kernel.summedDims &&
         llvm::is_contained(plan.itemDims, *plan.tileDim) &&
         llvm::all_of(plan.tiledLoads, [&](unsigned number) {
           KernelLoadOp load = kernel.getLoad(number);
           return load && !load.getGuard() && load.getSymbols().empty() &&
                  kernel.loads.find(load)->second.stride(*plan.tileDim) == 1;
         });
}

/// Returns the number of work items of the plan's dimensions.
static int64_t countItems(const LoopPlan &plan, const NormalKernel &kernel) {
  int64_t items = plan.blockDim ? llvm::divideCeil(kernel.space[*plan.blockDim], plan.block) : 1;
  for (unsigned dim : plan.itemDims)
    items *=
        dim == plan.tileDim ? llvm::divideCeil(kernel.space[dim], kTileBlock) : kernel.space[dim];
  return items;
}

static bool areSumsOf(const LoopPlan &plan, const NormalKernel &kernel) {
  if (plan.partials.size() != kernel.columnSums.size())
    return false;
  int64_t extent = 0, end = 0;
  for (auto [result, partial] : llvm::zip_equal(kernel.columnSums, plan.partials)) {
    int64_t elements = kernel.outputs[result].getNumElements();
    extent += llvm::divideCeil(elements, kSumBlock);
    if (partial < end || partial > plan.scratchBytes)
      return false;
    end = partial + plan.extent * elements * elementBytes(typeOfPartial(kernel, result));
  }
  return plan.sumExtent == extent && end <= plan.scratchBytes;
}

std::string mtc::cpu::refusePlan(const LoopPlan &plan, const NormalKernel &kernel) {
  if (!hasValidNumbers(plan))
    return "a number is below its minimum";
  if (!kernel.isSpace({plan.itemDims, listOf(plan.blockDim), plan.innerDims, plan.reducedDims}))
    return "'items', 'blocked', 'inner' and 'reduced' are not the " +
           std::to_string(kernel.rank()) + " dims of the kernel, each once";
  if (setOf(plan.reducedDims) != kernel.reduced)
    return "'reduced' are not the dims that the kernel reduces";
  const DimSet items = setOf(plan.itemDims) | setOf(listOf(plan.blockDim));
  if (kernel.scatters() && (items & ~kernel.owned))
    return "items of a scatter overlap outside its owned dims";
  if (!isVectorOf(plan, kernel))
    return "'vector' and 'lanes' are inconsistent";
  if (kernel.lastRow > 0 && (plan.blockDim != 0U || plan.vectorDim != 1U))
    return "a partial row is neither the last of its block nor vectorized";
  if (!areTilesOf(plan, kernel))
    return "'tiled' and 'tiled_loads' are inconsistent";
  if (plan.extent != countItems(plan, kernel))
    return "'extent' is not the number of items, " + std::to_string(countItems(plan, kernel));
  if (!areSumsOf(plan, kernel))
    return "'partials', 'sum_extent' and 'scratch' do not match the kernel's column sums";
  return "";
}
