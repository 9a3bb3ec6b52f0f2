//===- ScatterPlanner.cpp - Distribution of scattered additions among threads -----------------===//

#include "codegen/gpu/ScatterPlanner.h"

#include "codegen/gpu/AccessAnalysis.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

/// The number of blocks for indices, or for combinations of indices and chunks.
constexpr int64_t kBlocks = 512;
/// The maximum number of iterations that each thread executes completely.
constexpr int64_t kFewIterations = 8;
/// The minimum number of iterations per chunk, and the maximum size of all chunks' copies of the
/// results.
constexpr int64_t kMinChunk = 16, kMaxPartialBytes = 1 << 20;

/// Returns whether the scatter indices along the dimensions that are not owned are the same for all
/// results and all owned iterations.
static bool hasOneIndex(const NormalKernel &kernel) {
  KernelYieldOp yield = kernel.yield;
  for (Value symbol : yield.getSymbols())
    if (kernel.values.lookup(symbol).dims & kernel.owned)
      return false;
  const LinearForm &first = kernel.stores.front();
  return llvm::all_of(kernel.stores, [&](const LinearForm &form) {
    for (unsigned dim = 0; dim < kernel.rank(); ++dim)
      if (!contains(kernel.owned, dim) && form.dims[dim] != first.dims[dim])
        return false;
    return (form.restDims & kernel.owned) == 0 && form.symbols == first.symbols &&
           form.rest == first.rest;
  });
}

ScatterPlan mtc::gpu::planScatterShape(const NormalKernel &kernel) {
  ScatterPlan plan;
  if (std::optional<unsigned> dim = contiguousDim(kernel, kernel.owned))
    plan.vector = {dim, vectorWidth(kernel, *dim, /*exact=*/true)};
  for (unsigned dim = 0; dim < kernel.rank(); ++dim)
    if (dim != plan.vector.dim)
      (contains(kernel.owned, dim) ? plan.ownedDims : plan.otherDims).push_back(dim);
  if (plan.vector.dim)
    plan.ownedDims.push_back(*plan.vector.dim);
  int64_t iterations = iterationsOf(kernel, plan.otherDims);
  ArrayRef<std::pair<int64_t, int64_t>> axes = kernel.freeAxes.front();
  if (iterations <= kFewIterations || axes.empty() || !hasOneIndex(kernel))
    return plan;

  plan.byIndex = true;
  plan.indexStride = axes.front().second;
  int64_t indices = 1, bytes = 0;
  for (auto [extent, stride] : axes) {
    indices *= extent;
    plan.indexStride = std::min(plan.indexStride, stride);
  }
  for (auto [i, type] : llvm::enumerate(kernel.outputs))
    bytes += type.getNumElements() * elementBytes(typeOfPartial(kernel, i));
  plan.indexGroups = std::min(indices, kBlocks);
  // Copies start as zero, not as the operand, and their number depends on the number of indices.
  if (kernel.addsOnto() || kernel.hasFixedOrder)
    return plan;
  plan.chunks = std::max<int64_t>(
      1, std::min({kBlocks / plan.indexGroups, iterations / kMinChunk, kMaxPartialBytes / bytes}));
  return plan;
}
