//===- ScatterPlanner.cpp - Who adds what at computed indices ---------------------------------===//

#include "codegen/cuda/ScatterPlanner.h"

#include "codegen/cuda/AccessAnalysis.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cuda;

/// Blocks among which indices, or indices and chunks of points, are dealt out.
constexpr int64_t kBlocks = 512;
/// Points so few that a thread runs through all of them.
constexpr int64_t kFewPoints = 8;
/// Points that a chunk has at least, and what all chunks' copies of the results may take.
constexpr int64_t kMinChunk = 16, kMaxPartialBytes = 1 << 20;

/// Whether the results' indices along the dims that are not owned are the same for all results and
/// all owned points.
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

ScatterPlan mtc::cuda::planScatterShape(const NormalKernel &kernel) {
  ScatterPlan plan;
  if (std::optional<unsigned> dim = contiguousDim(kernel, kernel.owned))
    plan.vector = {dim, vectorWidth(kernel, *dim, /*exact=*/true)};
  for (unsigned dim = 0; dim < kernel.rank(); ++dim)
    if (dim != plan.vector.dim)
      (contains(kernel.owned, dim) ? plan.ownedDims : plan.otherDims).push_back(dim);
  if (plan.vector.dim)
    plan.ownedDims.push_back(*plan.vector.dim);
  int64_t points = pointsOf(kernel, plan.otherDims);
  ArrayRef<std::pair<int64_t, int64_t>> axes = kernel.freeAxes.front();
  if (points <= kFewPoints || axes.empty() || !hasOneIndex(kernel))
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
  if (kernel.addsOnto()) // Copies start as zero.
    return plan;
  plan.chunks = std::max<int64_t>(
      1, std::min({kBlocks / plan.indexGroups, points / kMinChunk, kMaxPartialBytes / bytes}));
  return plan;
}
