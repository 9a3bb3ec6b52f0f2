//===- LaunchPlan.cpp - Mapping of iteration spaces to grids and blocks -----------------------===//

#include "codegen/gpu/LaunchPlan.h"

#include "codegen/gpu/AccessAnalysis.h"
#include "codegen/gpu/BlockSums.h"
#include "codegen/gpu/PartialResults.h"
#include "codegen/gpu/ReductionPlanner.h"
#include "codegen/gpu/ScatterPlanner.h"
#include "codegen/gpu/Team.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

namespace {

/// The number of blocks that fills any device several times. Additional blocks have no benefit.
constexpr int64_t kMaxBlocks = 4096;
/// The maximum number of loads that are staged through shared memory.
constexpr size_t kMaxSquares = 6;

void addLaunch(LaunchPlan &plan, int64_t blocks, int64_t threads) {
  LaunchSize launch;
  launch.grid[0] = blocks;
  launch.block[0] = threads;
  plan.launches.push_back(launch);
}

/// Stages loads through tiles in shared memory if all of them are contiguous along one dimension,
/// and the stores along another one.
bool planTranspose(const NormalKernel &kernel, LaunchPlan &plan) {
  TransposePlan shape;
  auto isLong = [&](unsigned dim) { return kernel.space[dim] >= kTile / 2; };
  auto storesAlong = [&](unsigned dim) {
    return llvm::all_of(kernel.stores, [&](auto &form) { return form.stride(dim) == 1; });
  };
  unsigned rank = kernel.rank(), dim = 0;
  while (dim < rank && !(storesAlong(dim) && isLong(dim)))
    ++dim;
  if (dim == rank)
    return false;
  shape.storeDim = shape.loadDim = dim;
  int64_t sharedBytes = 0;
  for (auto [number, load] : llvm::enumerate(kernel.body->getOps<KernelLoadOp>())) {
    const LinearForm &form = kernel.loads.find(load)->second;
    std::optional<int64_t> stride = form.stride(shape.storeDim);
    if (!stride || *stride == 0 || *stride == 1 || load.getGuard() || !load.getSymbols().empty())
      continue;
    for (unsigned other = 0; other < rank; ++other)
      if (form.stride(other) == 1 && isLong(other) &&
          (shape.loads.empty() || shape.loadDim == other)) {
        shape.loadDim = other;
        shape.loads.push_back(number);
        sharedBytes +=
            llvm::alignTo(kTile * (kTile + 1) * elementBytes(load.getValue().getType()), 16);
        break;
      }
  }
  if (shape.loads.empty() || shape.loads.size() > kMaxSquares)
    return false;
  int64_t blocks = 1;
  for (unsigned other = 0; other < rank; ++other) {
    bool isTiled = other == shape.storeDim || other == shape.loadDim;
    if (!isTiled)
      shape.outerDims.push_back(other);
    blocks *= isTiled ? llvm::divideCeil(kernel.space[other], kTile) : kernel.space[other];
  }
  addLaunch(plan, blocks, kTile * kTileRows);
  plan.launches.back().sharedBytes = sharedBytes;
  plan.shape = shape;
  return true;
}

void planElementwise(const NormalKernel &kernel, int64_t warp, LaunchPlan &plan) {
  if (kernel.lastRow == 0 && planTranspose(kernel, plan))
    return;
  ElementwisePlan shape;
  for (unsigned dim = 0; dim < kernel.rank(); ++dim)
    shape.dims.push_back(dim);
  if (std::optional<unsigned> dim = contiguousDim(kernel, kernel.allDims())) {
    // A remainder can be computed by scalar iterations only if the kernel has no other dimension.
    shape.vector = {dim, vectorWidth(kernel, *dim, /*exact=*/kernel.rank() > 1)};
    shape.dims.erase(shape.dims.begin() + *dim);
    shape.dims.push_back(*dim);
  }
  int64_t groups = std::max<int64_t>(1, kernel.iterations() / shape.vector.width);
  int64_t bytes = 0;
  for (KernelLoadOp load : loadsAlong(kernel, kernel.allDims()))
    bytes += shape.vector.width * elementBytes(load.getSource().getType().getElementType());
  if (groups > kMaxBlocks * kBlock)
    shape.unroll = std::clamp<int64_t>(kBytesInFlight / std::max<int64_t>(bytes, 1), 1, 4);
  int64_t threads = std::min<int64_t>(kBlock, llvm::alignTo(groups, warp));
  addLaunch(plan, std::min<int64_t>(llvm::divideCeil(groups, threads), kMaxBlocks), threads);
  plan.shape = shape;
}

/// Assigns the offsets of the partial column sums, and returns their total size in bytes.
int64_t planColumnSums(const NormalKernel &kernel, ReductionPlan &shape) {
  int64_t bytes = 0;
  for (unsigned result : kernel.columnSums) {
    shape.partials.push_back(bytes);
    int64_t elements = shape.copies() * kernel.outputs[result].getNumElements();
    bytes += llvm::alignTo(elements * elementBytes(typeOfPartial(kernel, result)), 16);
  }
  return bytes;
}

void addLaunchOfColumnSums(const NormalKernel &kernel, ArrayRef<unsigned> columnSums,
                           LaunchPlan &plan) {
  int64_t blocks = 0;
  for (unsigned result : columnSums)
    blocks += llvm::divideCeil(kernel.outputs[result].getNumElements(), kSumColumns);
  addLaunch(plan, blocks, kSumColumns * kSumMembers);
  plan.launches.back().sharedBytes = bytesOfColumnSums(kernel, columnSums);
}

void planScatter(const NormalKernel &kernel, int64_t warp, LaunchPlan &plan) {
  ScatterPlan shape = planScatterShape(kernel);
  auto results = llvm::to_vector(llvm::seq<unsigned>(kernel.outputs.size()));
  int64_t bytes = 0;
  for (unsigned result : results) {
    int64_t elements = shape.chunks * kernel.outputs[result].getNumElements();
    if (shape.chunks > 1) {
      shape.partials.push_back(plan.scratchBytes);
      plan.scratchBytes +=
          llvm::alignTo(elements * elementBytes(typeOfPartial(kernel, result)), 16);
    }
    bytes += byteSize(kernel.outputs[result]);
  }
  int64_t vectors = llvm::divideCeil(std::max(bytes, plan.scratchBytes), 16);
  if (!kernel.addsOnto())
    addLaunch(plan, std::min<int64_t>(llvm::divideCeil(vectors, kBlock), kMaxBlocks), kBlock);
  int64_t owned = iterationsOf(kernel, shape.ownedDims) / shape.vector.width;
  int64_t threads = std::min<int64_t>(llvm::alignTo(owned, warp), kBlock);
  if (shape.byIndex)
    threads = std::max<int64_t>(threads, kBlock / 2);
  addLaunch(plan, llvm::divideCeil(owned, threads) * shape.indexGroups * shape.chunks, threads);
  if (shape.byIndex)
    plan.launches.back().sharedBytes = threads / warp * (warp / 8);
  if (shape.chunks > 1)
    addLaunchOfColumnSums(kernel, results, plan);
  plan.shape = shape;
}

void planReduction(const NormalKernel &kernel, int64_t warp, LaunchPlan &plan) {
  ReductionPlan shape = planReductionShape(kernel, warp);
  int64_t rowBlocks = llvm::divideCeil(shape.teams(), shape.rowsPerBlock);
  plan.scratchBytes = PartialResults::bytes(kernel, shape) + planColumnSums(kernel, shape);
  if (shape.splits == 1) {
    addLaunch(plan, rowBlocks, shape.threads());
  } else {
    for (unsigned level = 0; level < kernel.levels + hasResultsOfIterations(kernel); ++level)
      addLaunch(plan, rowBlocks * shape.splits, shape.threads());
    if (hasResultsOfRows(kernel))
      addLaunch(plan, rowBlocks, shape.threads());
  }
  for (auto [position, launch] : llvm::enumerate(plan.launches)) {
    unsigned level = shape.splits > 1 ? position + 1 : kernel.levels;
    launch.sharedBytes =
        Team::sharedBytes(kernel, shape, level, warp) + BlockSums::sharedBytes(kernel, shape, warp);
  }
  if (!kernel.columnSums.empty())
    addLaunchOfColumnSums(kernel, kernel.columnSums, plan);
  plan.shape = shape;
}

} // namespace

bool mtc::gpu::isElementwise(const NormalKernel &kernel) {
  if (kernel.levels > 0 || kernel.scatters() || !kernel.columnSums.empty())
    return false;
  return llvm::all_of(llvm::seq<unsigned>(kernel.outputs.size()),
                      [&](unsigned i) { return (kernel.reduced & ~kernel.storeDims(i)) == 0; });
}

bool mtc::gpu::hasResultsOfIterations(const NormalKernel &kernel) {
  return llvm::any_of(llvm::seq<unsigned>(kernel.outputs.size()),
                      [&](unsigned i) { return (kernel.storeDims(i) & kernel.reduced) != 0; });
}

bool mtc::gpu::hasResultsOfRows(const NormalKernel &kernel) {
  return llvm::any_of(llvm::seq<unsigned>(kernel.outputs.size()),
                      [&](unsigned i) { return (kernel.storeDims(i) & kernel.reduced) == 0; });
}

LaunchPlan mtc::gpu::planLaunches(const NormalKernel &kernel, int64_t warp) {
  LaunchPlan plan;
  if (kernel.scatters())
    planScatter(kernel, warp, plan);
  else if (isElementwise(kernel))
    planElementwise(kernel, warp, plan);
  else
    planReduction(kernel, warp, plan);
  return plan;
}

SmallVector<Launch> LaunchPlan::nameLaunches(StringRef name) const {
  SmallVector<Launch> result;
  for (const LaunchSize &size : launches)
    result.push_back(
        {size, launches.size() == 1 ? name.str() : (name + "$" + Twine(result.size())).str()});
  return result;
}
