//===- ReductionPlanner.cpp - Distribution of rows and columns among threads ------------------===//

#include "codegen/gpu/ReductionPlanner.h"

#include "codegen/gpu/AccessAnalysis.h"
#include "codegen/gpu/ThreadBuilder.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

namespace {

/// The number of threads that fills a device: more than the largest device runs concurrently.
constexpr int64_t kManyThreads = 1 << 18;
/// The number of threads that keeps most of a device busy.
constexpr int64_t kEnoughThreads = 1 << 16;
/// The number of 32-bit registers per thread for values of a row.
constexpr int64_t kResidentRegisters = 32;
constexpr int64_t kMaxResidentSteps = 8;
constexpr int64_t kLongestTeam = 512;
/// The minimum number of vectors per thread for sharing a row among blocks to pay off.
constexpr int64_t kMinSteps = 8;
constexpr int64_t kMaxSplits = 512;
/// The minimum number of rows of a team and of a block whose column sums are added up, and the
/// maximum size of all partial sums.
constexpr int64_t kMinRows = 4, kMinRowsOfBlock = 16, kMaxBytes = 4 << 20;
/// Columns up to this length are combined by one thread each.
constexpr int64_t kShortColumn = 16;

class Planner {
public:
  Planner(const NormalKernel &kernel, int64_t warp) : kernel(kernel), warp(warp) {}

  ReductionPlan run() {
    chooseVector();
    orderDims();
    for (KernelLoadOp load : loadsAlong(kernel, kernel.allDims() & ~rowSet()))
      bytesPerStep +=
          std::max<int64_t>(4, elementBytes(load.getSource().getType().getElementType())) *
          plan.vector.width;
    if (fixesSumOrder(kernel))
      planFixedOrder();
    else if (plan.membersAreNeighbours())
      planRows();
    else
      planColumns();
    if (!kernel.columnSums.empty())
      planGroups();
    plan.chunk = llvm::divideCeil(plan.steps, plan.splits);
    plan.splits = llvm::divideCeil(plan.steps, plan.chunk);
    int64_t own = llvm::divideCeil(plan.chunk, plan.team);
    if (plan.splits == 1 && fitsInRegisters(own))
      plan.residentSteps = own;
    plan.unroll = std::clamp<int64_t>(kBytesInFlight / std::max<int64_t>(bytesPerStep, 1), 1,
                                      std::min<int64_t>(4, own));
    return plan;
  }

private:
  /// Returns the dimensions of rows: the dimensions that column sums reduce, and in kernels with
  /// reductions, all dimensions that are not reduced.
  DimSet rowSet() const {
    if (kernel.columnSums.empty() || kernel.reduced)
      return kernel.allDims() & ~kernel.reduced;
    return kernel.summedDims;
  }

  void chooseVector() {
    if (!kernel.columnSums.empty()) {
      plan.vectorIsReduced = true;
      if (std::optional<unsigned> best = contiguousDim(kernel, kernel.allDims() & ~rowSet()))
        plan.vector = {best, vectorWidth(kernel, *best, /*exact=*/true)};
      return;
    }
    std::optional<unsigned> best = contiguousDim(kernel, kernel.allDims());
    plan.vectorIsReduced = !best || contains(kernel.reduced, *best);
    if (best)
      plan.vector = {best, fixesSumOrder(kernel) && plan.vectorIsReduced
                               ? fixedVectorWidth(kernel, *best)
                               : vectorWidth(kernel, *best, /*exact=*/true)};
  }

  void orderDims() {
    // The dimensions that column sums keep are outside those that they reduce.
    for (bool isSummed : {false, true})
      for (unsigned dim = 0; dim < kernel.rank(); ++dim)
        if (dim != plan.vector.dim && contains(kernel.summedDims, dim) == isSummed)
          (contains(rowSet(), dim) ? plan.rowDims : plan.reducedDims).push_back(dim);
    if (plan.vector.dim)
      (plan.vectorIsReduced ? plan.reducedDims : plan.rowDims).push_back(*plan.vector.dim);
    plan.rows = iterationsOf(kernel, plan.rowDims);
    plan.steps = iterationsOf(kernel, plan.reducedDims);
    (plan.vectorIsReduced ? plan.steps : plan.rows) /= plan.vector.width;
  }

  /// Without reductions, the values of one step are used where they are loaded.
  bool fitsInRegisters(int64_t steps) const {
    return steps <= kMaxResidentSteps &&
           (steps * bytesPerStep <= kResidentRegisters * 4 || (steps == 1 && kernel.levels == 0));
  }

  /// Returns whether the column sums are of short rows' results, and adjacent rows have adjacent
  /// columns, such as the channels of a pooled image.
  bool sumsShortRows() const {
    std::optional<unsigned> adjacent = contiguousDim(kernel, rowSet());
    return kernel.reduced && plan.steps <= kShortColumn && adjacent &&
           !contains(kernel.summedDims, *adjacent) &&
           llvm::all_of(kernel.columnSums, [&](unsigned result) {
             return (kernel.storeDims(result) & ~rowSet()) == 0 && reducesAllSummed(result);
           });
  }

  /// Adjacent threads of a block compute adjacent elements of a row.
  void planRows() {
    if (!kernel.columnSums.empty() && sumsShortRows()) {
      plan.rowsPerBlock = kBlock;
      return;
    }
    if (plan.steps <= warp) {
      plan.team = llvm::PowerOf2Ceil(plan.steps);
    } else {
      // Chooses the smallest team whose row fits in registers, and a larger one if there are few
      // rows.
      plan.team = kLongestTeam;
      for (int64_t team = warp; team <= kLongestTeam; team += warp) {
        int64_t own = llvm::divideCeil(plan.steps, team);
        if (fitsInRegisters(own) && (own == 1 || plan.rows * team >= kEnoughThreads)) {
          plan.team = team;
          break;
        }
      }
      plan.team = std::min<int64_t>(plan.team, llvm::alignTo(plan.steps, warp));
    }
    // Teams that combine the values of a row in shared memory have a block each.
    plan.rowsPerBlock = plan.team <= warp ? std::min(kBlock / plan.team, rowsThatFillWarps())
                        : kernel.levels > 0 || kernel.columnSums.empty()
                            ? 1
                            : std::max<int64_t>(1, kBlock / plan.team);
    if (kernel.levels > 0 && kernel.lastRow == 0 && plan.rows * plan.team < kEnoughThreads) {
      int64_t wanted = llvm::divideCeil(kManyThreads, plan.rows * plan.team);
      plan.splits = std::min({wanted, plan.steps / (plan.team * kMinSteps), kMaxSplits});
      plan.splits = std::max<int64_t>(plan.splits, 1);
    }
  }

  /// Chooses enough groups to occupy the device, with enough rows each that partial sums are small
  /// relative to the rows.
  void planGroups() {
    constexpr int64_t minRows = 8, maxGroups = 512, maxPartials = 1 << 16, maxBytesOfBusy = 1 << 20;
    int64_t elements = 1, bytes = 0;
    for (unsigned result : kernel.columnSums) {
      int64_t own = kernel.outputs[result].getNumElements();
      elements = std::max(elements, own);
      bytes += own * elementBytes(typeOfPartial(kernel, result));
    }
    plan.splits = 1;
    if (addsUpBlocks())
      return planBlocks(bytes);
    if (sumsShortRows() || keepRowsApart())
      for (unsigned dim : plan.rowDims)
        if (!contains(kernel.summedDims, dim))
          plan.keptRows *= kernel.space[dim];
    const int64_t busy =
        std::min(kEnoughThreads / plan.team, maxBytesOfBusy / bytes) / plan.keptRows;
    int64_t maximum = std::max({maxGroups / plan.keptRows, maxPartials / elements, busy});
    maximum = std::max<int64_t>(1, std::min(maximum, kMaxBytes / bytes));
    int64_t rows = plan.rows / plan.keptRows;
    plan.groups = plan.keptRows * std::clamp<int64_t>(rows / minRows, 1, maximum);
    plan.groups = plan.keptRows * llvm::divideCeil(rows, plan.rowsPerGroup());
    plan.rowsPerBlock = std::min<int64_t>(plan.rowsPerBlock, llvm::PowerOf2Ceil(plan.groups));
    plan.rowsPerBlock =
        std::max<int64_t>(plan.rowsPerBlock, plan.team < warp ? warp / plan.team : 1);
  }

  /// Returns whether the teams of a block can add up their column sums: several teams share a
  /// block, and keep all sums in registers.
  bool addsUpBlocks() const {
    return plan.rowsPerBlock > 1 && plan.rows >= kMinRowsOfBlock &&
           plan.rows >= kMinRows * plan.rowsPerBlock &&
           fitsInRegisters(llvm::divideCeil(plan.steps, plan.team)) &&
           llvm::all_of(kernel.columnSums, [&](unsigned result) {
             DimSet kept = kernel.stores[result].dependence();
             return kept && (kept & rowSet()) == 0;
           });
  }

  /// Chooses enough blocks to occupy the device, with enough rows each that partial sums are small
  /// relative to the rows. `bytes` is the size of a copy of the sums.
  void planBlocks(int64_t bytes) {
    plan.sumsBlocks = true;
    const int64_t minRows = std::max(kMinRowsOfBlock, kMinRows * plan.rowsPerBlock);
    const int64_t blocks = std::clamp<int64_t>(
        std::min({kManyThreads / plan.threads(), plan.rows / minRows, kMaxBytes / bytes}), 1,
        plan.rows / plan.rowsPerBlock);
    plan.groups = blocks * plan.rowsPerBlock;
    plan.groups =
        llvm::alignTo(llvm::divideCeil(plan.rows, plan.rowsPerGroup()), plan.rowsPerBlock);
  }

  /// Returns whether all column sums reduce the same row dimensions and fit in registers.
  bool keepRowsApart() const {
    return fitsInRegisters(llvm::divideCeil(plan.steps, plan.team)) &&
           llvm::all_of(kernel.columnSums, [&](unsigned result) {
             return (kernel.storeDims(result) & ~rowSet()) != 0 && reducesAllSummed(result);
           });
  }

  /// Returns whether a column sum reduces all row dimensions that any of them reduces, and no
  /// other.
  bool reducesAllSummed(unsigned result) const {
    DimSet kept = kernel.stores[result].dependence();
    return (kept & kernel.summedDims) == 0 && (rowSet() & ~kernel.summedDims & ~kept) == 0;
  }

  /// Returns the number of rows, rounded up so that warps are full.
  int64_t rowsThatFillWarps() const {
    return std::max<int64_t>(llvm::PowerOf2Ceil(plan.rows), warp / plan.team);
  }

  /// Adjacent threads of a block compute adjacent rows, i.e. columns in memory. The members of a
  /// team are a stride apart.
  void planColumns() {
    if (plan.steps <= kShortColumn || plan.rows >= kManyThreads) {
      plan.rowsPerBlock = std::min<int64_t>(kBlock, llvm::alignTo(plan.rows, warp));
      return;
    }
    plan.rowsPerBlock = std::min<int64_t>(warp, llvm::PowerOf2Ceil(plan.rows));
    plan.team = std::min<int64_t>(kBlock / plan.rowsPerBlock, warp);
    int64_t threads = llvm::alignTo(plan.rows, plan.rowsPerBlock) * plan.team;
    if (kernel.levels > 0 && threads < kEnoughThreads) {
      int64_t wanted = llvm::divideCeil(kEnoughThreads, threads);
      plan.splits = std::min({wanted, plan.steps / (plan.team * kMinSteps), kMaxSplits});
      plan.splits = std::max<int64_t>(plan.splits, 1);
    }
  }

  /// Chooses the threads of a sum by its length: neither the number of sums nor the element types
  /// change its order.
  void planFixedOrder() {
    constexpr int64_t stepsOfMember = 4, stepsOfSplit = 16, maxSteps = 64;
    int64_t steps = maxSteps;
    if (plan.membersAreNeighbours()) {
      const int64_t members = llvm::divideCeil(plan.steps, stepsOfMember);
      plan.team = plan.steps <= warp
                      ? llvm::PowerOf2Ceil(plan.steps)
                      : std::min(llvm::alignTo(members, warp), uint64_t(kLongestTeam));
      plan.rowsPerBlock = plan.team <= warp ? std::min(kBlock / plan.team, rowsThatFillWarps()) : 1;
    } else {
      plan.team = plan.steps <= kShortColumn ? 1 : kBlock / warp;
      plan.rowsPerBlock = plan.team == 1 ? std::min<int64_t>(kBlock, llvm::alignTo(plan.rows, warp))
                                         : std::min<int64_t>(warp, llvm::PowerOf2Ceil(plan.rows));
      steps = 2 * stepsOfSplit;
    }
    if (kernel.lastRow == 0 && plan.steps > plan.team * steps)
      plan.splits = std::min(plan.steps / (plan.team * stepsOfSplit), kMaxSplits);
  }

  const NormalKernel &kernel;
  const int64_t warp;
  ReductionPlan plan;
  int64_t bytesPerStep = 0;
};

} // namespace

ReductionPlan mtc::gpu::planReductionShape(const NormalKernel &kernel, int64_t warp) {
  return Planner(kernel, warp).run();
}
