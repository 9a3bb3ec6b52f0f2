// Sizes of panels, tasks and scratch memory.
#include "runtime/calls/contraction/cpu/panel_plan.h"

#include "runtime/calls/contraction/plain.h"
#include "runtime/devices/cpu/library_call.h"

namespace mtc::runtime {
namespace {

constexpr int64_t floatBytes = sizeof(float);
/// Maximum depth of a block, and of a block of a part of a long sum.
constexpr int64_t maxDepth = 768, maxPartDepth = 400;
/// Maximum lines of a task. Its operand stays in the second level cache, and many tasks distribute
/// the load. Parts of sums have longer tasks, since threads do not share them.
constexpr int64_t maxTaskLines = 64, maxPartTaskLines = 128;
/// Maximum lines of sums of a block, if the result cannot store them.
constexpr int64_t maxSumLines = 1024;
/// The number of lines of the largest tile.
constexpr int64_t largestTile = 32;

/// Returns the maximum length of a block for the lines of any tile as a unit.
int64_t longestOfTiles(int64_t extent, int64_t size) {
  return Blocks::longest(extent, size) + largestTile - 1;
}

/// Returns whether tiles can read rows of floats where they are. Rows at about a multiple of 2 KiB
/// map to two sets of the first level cache.
bool readsWell(const MatrixLayout &rows, int64_t elementsOfFloat = 1) {
  constexpr int64_t halfOfSets = 512, cacheLine = 16; // floats
  const int64_t rest = rows.rowStride / elementsOfFloat % halfOfSets;
  return rows.columnStride == 1 && rest >= cacheLine && rest <= halfOfSets - cacheLine;
}

/// Returns whether tiles can read rows of pairs where they are.
bool readsPairs(const ContractionProblem &problem) {
  auto isEven = [](int64_t count) { return count % 2 == 0; };
  return isEven(problem.k()) && isEven(problem.lhs.rowStride) &&
         std::all_of(problem.batch.begin(), problem.batch.end(),
                     [&](const BatchAxis &axis) { return isEven(axis.lhs); }) &&
         readsWell(problem.lhs, 2);
}

/// Returns the number of parts of long sums: threads share the parts of small results, and not the
/// operands' panels. It depends on the shape only.
int64_t partsOfSums(const ContractionProblem &problem) {
  constexpr int64_t maxParts = 8, fewestParts = 4, fewestTerms = 1536, maxLines = 1024,
                    maxEntries = 1 << 19;
  const int64_t m = problem.m(), n = problem.n();
  if (problem.entries() != 1 || m > maxLines || n > maxLines)
    return 1;
  const int64_t count =
      std::min({maxParts, problem.k() / fewestTerms, maxEntries / std::max<int64_t>(m * n, 1)});
  return count >= fewestParts ? count : 1;
}

/// Splits the terms of sums into blocks of equal lengths, about as many for each part.
Blocks blocksOfDepth(int64_t depth, int64_t sumParts) {
  if (sumParts == 1)
    return {depth, maxDepth, 1};
  const int64_t length = partsOf(depth, sumParts);
  return {depth, partsOf(length, partsOf(length, maxPartDepth)), 1};
}

/// Returns whether an operand consists of f32 elements in memory.
bool isPlain(const MtcContraction &c, uint32_t storage) {
  return c.lhs_type == MTC_F32 && storage == 0;
}

} // namespace

PanelPlan::PanelPlan(const MtcContraction &c, const ContractionProblem &problem, bool pairs,
                     const PanelKernels &kernels, int threads)
    : pairs(pairs), tileRows(kernels.tileRows), tileColumns(kernels.tileColumns),
      sharesRows(problem.m() < problem.n()), sumParts(partsOfSums(problem)),
      readsRows(pairs
                    ? readsPairs(problem)
                    : isPlain(c, problem.swapped ? c.rhs_storage : c.lhs_storage) &&
                          (readsWell(problem.lhs) || (sumParts > 1 && problem.lhs.rowStride == 1))),
      readsColumns(isPlain(c, problem.swapped ? c.lhs_storage : c.rhs_storage) && sumParts > 1 &&
                   problem.rhs.columnStride == 1),
      keepsSums(sumParts > 1 || (problem.k() > maxDepth && c.out_type != MTC_F32)),
      depths(blocksOfDepth(partsOf(problem.k(), termsOfFloat()), sumParts)),
      shared(sharesRows ? problem.m() : problem.n(), maxPanelLines, tileOf(sharesRows)),
      others(sharesRows ? problem.n() : problem.m(), maxOtherLines(), tileOf(!sharesRows)),
      threads(threads) {
  // The size is the same on all machines, so it assumes the largest tiles, and no pairs.
  const int64_t length = blocksOfDepth(problem.k(), sumParts).length,
                sharedLines = longestOfTiles(shared.extent, maxPanelLines),
                otherLines = longestOfTiles(others.extent, maxOtherLines());
  lineFloats = std::max(length + 3, panelLineStride(length));
  sharedBytes = bytesOfPanel(sharesRows, sharedLines);
  sumsStride = (sharesRows ? otherLines : sharedLines) + panelGroupPadding;
  if (keepsSums)
    sumsBytes = alignedBytes((sharesRows ? sharedLines : otherLines) * sumsStride * floatBytes);
  if (sumParts > 1)
    planParts();
  else
    planEntries(problem.entries());
}

int64_t PanelPlan::maxOtherLines() const { return keepsSums ? maxSumLines : INT64_MAX; }

int64_t PanelPlan::bytesOfPanel(bool areRows, int64_t lines) const {
  const bool reads = !pairs && (areRows ? readsRows : readsColumns);
  return alignedBytes((reads ? largestTile : lines) * lineFloats * floatBytes);
}

/// With more threads than parts, several compute the lines of one part.
void PanelPlan::planParts() {
  const int64_t tile = tileOf(!sharesRows), lineParts = partsOf(2 * threads, sumParts);
  partLines = Blocks(others.extent, std::max(partsOf(others.extent, lineParts), tile), tile);
  taskLines = std::min(maxPartTaskLines, others.extent);
  taskBytes = bytesOfPanel(!sharesRows, taskLines + largestTile - 1);
  slice = sharedBytes + taskBytes;
  workers = threads;
}

/// Threads share each entry of the batch, or compute entries of their own if there are enough and
/// the scratch of an entry is small.
void PanelPlan::planEntries(int64_t entries) {
  constexpr int64_t maxOfAThread = 1 << 20;
  planTasks(1);
  workers = entries >= threads && slice <= maxOfAThread ? threads : 1;
  if (workers == 1)
    planTasks(threads);
}

/// Plans equally many tasks for each thread.
void PanelPlan::planTasks(int useThreads) {
  const int64_t lines = Blocks::longest(others.extent, maxOtherLines()),
                tasks = partsOf(partsOf(lines, maxTaskLines), useThreads) * useThreads,
                otherLines = longestOfTiles(others.extent, maxOtherLines());
  taskLines = std::clamp(partsOf(lines, std::max<int64_t>(tasks, 1)), largestTile, maxTaskLines);
  taskBytes = bytesOfPanel(!sharesRows, taskLines + largestTile - 1);
  slice = sharedBytes + sumsBytes +
          taskBytes * std::min<int64_t>(useThreads, partsOf(otherLines, taskLines));
}

} // namespace mtc::runtime
