// Splits contractions into blocks and distributes packing and multiplication over threads, as in
// Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008. All threads
// share a panel of the operand with fewer lines, so that a panel of each line of the other operand
// is packed once, or once per `maxPanelLines` lines of the former. If the result is small and sums
// are long, each thread instead computes parts of all sums, without panels of other threads.
#include "runtime/calls/contraction/cpu/panels.h"

#include "runtime/calls/contraction/cpu/panel_kernels.h"
#include "runtime/calls/contraction/plain.h"
#include "runtime/devices/cpu/parallel.h"
#include "runtime/devices/cpu/work_stealing.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace mtc::runtime {
namespace {

/// Maximum depth of a block, and of a block of a part of a long sum.
constexpr int64_t maxDepth = 768, maxPartDepth = 400;
/// Maximum lines of a task. Its operand stays in the second level cache, and many tasks distribute
/// the load. Parts of sums have longer tasks, since threads do not share them.
constexpr int64_t maxTaskLines = 64, maxPartTaskLines = 128;
/// Maximum lines of a shared panel whose next block is prefetched.
constexpr int64_t maxPrefetchedLines = 128;
/// Maximum lines of sums of a block, if the result cannot store them.
constexpr int64_t maxSumLines = 1024;
/// Lines of the largest tile.
constexpr int64_t largestTile = 32;

int64_t parts(int64_t extent, int64_t size) { return extent / size + (extent % size != 0); }

/// Splits an extent into equal blocks of at most `size`, in multiples of `unit`; at least one
/// block.
struct Blocks {
  Blocks(int64_t extent, int64_t size, int64_t unit)
      : extent(extent), length(std::max(parts(longest(extent, size), unit), int64_t{1}) * unit),
        count(std::max<int64_t>(parts(extent, length), 1)) {}

  Range at(int64_t i) const { return {i * length, std::min(extent, (i + 1) * length)}; }

  /// Returns the length of the longest block for a unit of 1.
  static int64_t longest(int64_t extent, int64_t size) {
    return parts(extent, std::max<int64_t>(parts(extent, size), 1));
  }
  /// Returns the maximum length of a block for the lines of any tile as a unit.
  static int64_t bound(int64_t extent, int64_t size) {
    return longest(extent, size) + largestTile - 1;
  }

  int64_t extent, length, count;
};

/// Returns whether tiles can read rows of f32 elements where they are. Rows at about a multiple of
/// 2 KiB map to two sets of the first level cache.
bool readsWell(const MatrixLayout &rows, int64_t elementsOfFloat = 1) {
  constexpr int64_t halfOfSets = 512, cacheLine = 16; // floats
  const int64_t rest = rows.rowStride / elementsOfFloat % halfOfSets;
  return rows.columnStride == 1 && rest >= cacheLine && rest <= halfOfSets - cacheLine;
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
  const int64_t length = parts(depth, sumParts);
  return {depth, parts(length, parts(length, maxPartDepth)), 1};
}

/// Returns whether the contraction is computed with pairs of bf16.
bool multipliesPairs(const MtcContraction &c, bool hasPatches, VectorSet set) {
  return c.type == MTC_BF16 && !c.f32_products && c.lhs_storage == 0 && c.rhs_storage == 0 &&
         !hasPatches && set == machineVectors() && machineMultipliesBFloat16();
}

/// Returns whether tiles can read rows of pairs where they are.
bool readsPairs(const ContractionProblem &problem) {
  auto isEven = [](int64_t count) { return count % 2 == 0; };
  return isEven(problem.k()) && isEven(problem.lhs.rowStride) &&
         std::all_of(problem.batch.begin(), problem.batch.end(),
                     [&](const BatchAxis &axis) { return isEven(axis.lhs); }) &&
         readsWell(problem.lhs, 2);
}

class PanelContraction final : public LibraryCall {
public:
  PanelContraction(const MtcContraction &contraction, ContractionProblem simplified,
                   int maximalThreads, VectorSet set,
                   const std::optional<PatchMatrix> &patches = std::nullopt)
      : problem(std::move(simplified)), c(contraction), patches(patches), set(set),
        lhsStorage(problem.swapped ? c.rhs_storage : c.lhs_storage),
        rhsStorage(problem.swapped ? c.lhs_storage : c.rhs_storage),
        pairs(multipliesPairs(c, patches.has_value(), set)),
        kernels(pairs ? pairPanelKernels() : panelKernels(c.type, lhsStorage, rhsStorage, set)),
        sharesRows(problem.m() < problem.n()), sumParts(partsOfSums(problem)),
        readsRows(
            pairs ? readsPairs(problem)
                  : c.type == MTC_F32 && lhsStorage == 0 &&
                        (readsWell(problem.lhs) || (sumParts > 1 && problem.lhs.rowStride == 1))),
        readsColumns(c.type == MTC_F32 && rhsStorage == 0 && sumParts > 1 &&
                     problem.rhs.columnStride == 1),
        depths(blocksOfDepth(parts(problem.k(), termsOfFloat()), sumParts)),
        threads(maximalThreads),
        keepsSums(sumParts > 1 || (problem.k() > maxDepth && resultType(c) != MTC_F32)),
        shared(sharesRows ? problem.m() : problem.n(), maxPanelLines, tileOf(sharesRows)),
        others(sharesRows ? problem.n() : problem.m(), keepsSums ? maxSumLines : INT64_MAX,
               tileOf(!sharesRows)) {
    // The size is the same on all machines, so it assumes the largest tiles, and no pairs.
    const int64_t length = blocksOfDepth(problem.k(), sumParts).length,
                  depth = std::max(length + 3, panelLineStride(length)),
                  sharedLines = Blocks::bound(shared.extent, maxPanelLines),
                  otherLines = Blocks::bound(others.extent, keepsSums ? maxSumLines : INT64_MAX);
    auto bytesOfPanel = [&](bool areRows, int64_t lines) {
      const bool reads = !pairs && (areRows ? readsRows : readsColumns);
      return alignedBytes((reads ? largestTile : lines) * depth * floatBytes);
    };
    sharedBytes = bytesOfPanel(sharesRows, sharedLines);
    sumsStride = (sharesRows ? otherLines : sharedLines) + panelGroupPadding;
    sumsBytes =
        keepsSums ? alignedBytes((sharesRows ? sharedLines : otherLines) * sumsStride * floatBytes)
                  : 0;
    if (sumParts > 1) {
      // With more threads, several compute the lines of one part.
      const int64_t tile = tileOf(!sharesRows), lineParts = parts(2 * threads, sumParts);
      partLines = Blocks(others.extent, std::max(parts(others.extent, lineParts), tile), tile);
      loop = WorkStealingLoop(sumParts * partLines.count);
      taskLines = std::min(maxPartTaskLines, others.extent);
      taskBytes = bytesOfPanel(!sharesRows, taskLines + largestTile - 1);
      slice = sharedBytes + taskBytes;
      workers = threads;
      return;
    }
    auto plan = [&](int useThreads) {
      // As many tasks for each thread.
      const int64_t lines = Blocks::longest(others.extent, keepsSums ? maxSumLines : INT64_MAX),
                    tasks = parts(parts(lines, maxTaskLines), useThreads) * useThreads;
      taskLines = std::clamp(parts(lines, std::max<int64_t>(tasks, 1)), largestTile, maxTaskLines);
      taskBytes = bytesOfPanel(!sharesRows, taskLines + largestTile - 1);
      slice = sharedBytes + sumsBytes +
              taskBytes * std::min<int64_t>(useThreads, parts(otherLines, taskLines));
    };
    plan(1);
    constexpr int64_t mostOfAThread = 1 << 20;
    workers = problem.entries() >= threads && slice <= mostOfAThread ? threads : 1;
    if (workers == 1)
      plan(threads);
    loop = WorkStealingLoop(parts(others.length, taskLines));
  }

  int64_t scratchBytes() const override {
    return problem.isEmpty() ? 0 : slice * workers + (sumParts > 1 ? sumsBytes * sumParts : 0);
  }
  MtcSupportLevel supportLevel() const override {
    const bool isMeant =
        c.type == MTC_F32 || pairs || c.f32_products || c.lhs_storage || c.rhs_storage;
    return isMeant ? MTC_CALL_FAST : MTC_CALL_PACKED;
  }
  std::string implementation() const override {
    return std::string(pairs ? "bf16 panels " : "f32 panels ") + vectorSetName(set);
  }

  void run(char *const *buffers, char *scratch) override {
    if (problem.isEmpty())
      return;
    if (sumParts > 1)
      runParts(entryAt(0, buffers), scratch);
    else if (workers == 1)
      for (int64_t entry = 0; entry < problem.entries(); ++entry)
        runEntry(entry, buffers, scratch, threads);
    else
      parallelFor(workers, problem.entries(), 1, [&](int part, int64_t begin, int64_t end) {
        for (int64_t entry = begin; entry < end; ++entry)
          runEntry(entry, buffers, scratch + slice * part, 1);
      });
  }

private:
  static constexpr int64_t floatBytes = sizeof(float), narrowBytes = 2;
  static constexpr int64_t maxEntriesOfTask = 1 << 14; ///< partial sums that a thread adds at least

  static int64_t bytesOf(uint32_t type) { return type == MTC_F32 ? floatBytes : narrowBytes; }

  /// Returns the terms of a sum in each float of a panel.
  int64_t termsOfFloat() const { return pairs ? 2 : 1; }

  int64_t tileOf(bool isRows) const { return isRows ? kernels.tileRows : kernels.tileColumns; }

  /// One matrix of the batch; the last batch axis varies fastest.
  struct Entry {
    StoredOperand lhs, rhs;
    int64_t lhsFirst, rhsFirst; ///< offsets of their first elements
    PanelResult result;
  };

  Entry entryAt(int64_t entry, char *const *buffers) const {
    const PatchMatrix *matrix = patches ? &*patches : nullptr;
    Entry e{{buffers[problem.swapped ? 1 : 0], problem.m() * problem.k(), matrix},
            {buffers[problem.swapped ? 0 : 1], problem.k() * problem.n(), matrix},
            0,
            0,
            {}};
    e.result.out = {resultType(c), buffers[2 + c.addend_count], problem.out.rowStride,
                    problem.out.columnStride};
    for (uint32_t i = 0; i < c.addend_count; ++i)
      e.result.added[i] = {addendType(c, i), buffers[2 + i], problem.addends[i].rowStride,
                           problem.addends[i].columnStride};
    for (size_t axis = problem.batch.size(); axis-- > 0;) {
      const BatchAxis &a = problem.batch[axis];
      const int64_t index = entry % a.extent;
      entry /= a.extent;
      e.lhsFirst += index * a.lhs;
      e.rhsFirst += index * a.rhs;
      e.result.out.at += index * a.out * bytesOf(e.result.out.type);
      for (uint32_t i = 0; i < c.addend_count; ++i)
        e.result.added[i].at += index * a.addends[i] * bytesOf(e.result.added[i].type);
    }
    e.result.addedCount = static_cast<int>(c.addend_count);
    e.result.accumulate = c.accumulate != 0;
    return e;
  }

  void runEntry(int64_t number, char *const *buffers, char *scratch, int useThreads) {
    const Entry entry = entryAt(number, buffers);
    auto *sums = reinterpret_cast<float *>(scratch + slice - sumsBytes);
    for (int64_t i = 0; i < shared.count; ++i)
      for (int64_t j = 0; j < others.count; ++j)
        runBlock(entry, {shared.at(i), others.at(j), {0, depths.count}, sums, others.at(j).begin},
                 nullptr, scratch, useThreads);
  }

  /// Computes the parts of the sums, each with the panels of one thread, and adds them.
  void runParts(const Entry &entry, char *scratch) {
    auto *sums = reinterpret_cast<float *>(scratch + slice * workers);
    const int64_t partStride = sumsBytes / floatBytes;
    auto blockOf = [&](int64_t item) -> Block {
      const int64_t part = item / partLines.count;
      return {shared.at(0),
              partLines.at(item % partLines.count),
              {depths.count * part / sumParts, depths.count * (part + 1) / sumParts},
              sums + part * partStride,
              0};
    };
    loop.run(workers, sumParts * partLines.count, [&](int worker, int64_t item, int64_t next) {
      const Block following = blockOf(std::max<int64_t>(next, 0));
      runBlock(entry, blockOf(item), next < 0 ? nullptr : &following, scratch + slice * worker, 1);
    });
    parallelFor(threads, problem.m(), parts(maxEntriesOfTask, problem.n() * sumParts),
                [&](int, int64_t begin, int64_t end) {
                  kernels.addParts(entry.result, {sums, sumsStride, partStride, sumParts},
                                   {begin, end}, problem.n());
                });
  }

  PanelSource sourceOf(const StoredOperand &operand, int64_t first, int64_t lineStride,
                       int64_t depthStride, const Range &lines, const Range &depth) const {
    const int64_t begin = depth.begin * termsOfFloat(),
                  end = std::min(depth.end * termsOfFloat(), problem.k());
    first += lines.begin * lineStride + begin * depthStride;
    return {operand, first, lineStride, depthStride, lines.size(), depth.size(), end - begin};
  }
  PanelSource rowsOf(const Entry &entry, const Range &lines, const Range &depth) const {
    return sourceOf(entry.lhs, entry.lhsFirst, problem.lhs.rowStride, problem.lhs.columnStride,
                    lines, depth);
  }
  PanelSource columnsOf(const Entry &entry, const Range &lines, const Range &depth) const {
    return sourceOf(entry.rhs, entry.rhsFirst, problem.rhs.columnStride, problem.rhs.rowStride,
                    lines, depth);
  }

  PanelSource sharedOf(const Entry &entry, const Range &lines, const Range &depth) const {
    return sharesRows ? rowsOf(entry, lines, depth) : columnsOf(entry, lines, depth);
  }
  PanelSource othersOf(const Entry &entry, const Range &lines, const Range &depth) const {
    return sharesRows ? columnsOf(entry, lines, depth) : rowsOf(entry, lines, depth);
  }

  static void move(StridedElements &elements, const Range &rows, const Range &columns) {
    elements.at += (rows.begin * elements.rowStride + columns.begin * elements.columnStride) *
                   bytesOf(elements.type);
  }

  /// A block of the result, the blocks of the depth that are summed, and their sums in the scratch
  /// from a line of the other operand on.
  struct Block {
    Range sharedLines, otherLines, depths;
    float *sums;
    int64_t firstSum;
  };

  /// Computes a block of the result: sums over blocks of the depth in the result, to which the
  /// first one adds the addends, or in the scratch, to which the last one adds them, or a part of
  /// the sums.
  void runBlock(const Entry &entry, const Block &block, const Block *following, char *scratch,
                int useThreads) {
    const Blocks tasks(block.otherLines.size(), taskLines, tileOf(!sharesRows));
    auto linesOf = [&](const Block &of, int64_t task) {
      const Range lines = tasks.at(task);
      return Range{of.otherLines.begin + lines.begin,
                   std::min(of.otherLines.begin + lines.end, of.otherLines.end)};
    };
    for (int64_t i = block.depths.begin; i < block.depths.end; ++i) {
      const Range depth = depths.at(i);
      const bool isLast = i + 1 == block.depths.end;
      auto *panel = reinterpret_cast<float *>(scratch);
      pack(sharedOf(entry, block.sharedLines, depth), sharesRows, panel, useThreads);
      loop.run(useThreads, tasks.count, [&](int thread, int64_t task, int64_t next) {
        PanelProduct product{};
        if (next >= 0) {
          product.next[0] = prefetchOf(othersOf(entry, linesOf(block, next), depth));
        } else if (!isLast || following) {
          const Block &nextBlock = isLast ? *following : block;
          const Range nextDepth = depths.at(isLast ? following->depths.begin : i + 1);
          next = partBegin(tasks.count, useThreads, thread);
          product.next[0] = prefetchOf(othersOf(entry, linesOf(nextBlock, next), nextDepth));
          if (sumParts > 1 || block.sharedLines.size() <= maxPrefetchedLines)
            product.next[1] = prefetchOf(sharedOf(entry, block.sharedLines, nextDepth));
        }
        multiply(product, entry, block, linesOf(block, task), i, panel,
                 reinterpret_cast<float *>(scratch + sharedBytes + taskBytes * thread));
      });
    }
  }

  /// Computes a task of a block of the result: some of the lines of the other operand.
  void multiply(PanelProduct &p, const Entry &entry, const Block &block, const Range &lines,
                int64_t depthBlock, float *sharedPanel, float *taskPanel) const {
    const Range depth = depths.at(depthBlock), &rows = sharesRows ? block.sharedLines : lines,
                &columns = sharesRows ? lines : block.sharedLines;
    const PanelSource rowSource = rowsOf(entry, rows, depth),
                      columnSource = columnsOf(entry, columns, depth);
    pack(sharesRows ? columnSource : rowSource, !sharesRows, taskPanel, 1);
    p.lhs = panelOfRows(rowSource, sharesRows ? sharedPanel : taskPanel);
    p.rhs = panelOfColumns(columnSource, sharesRows ? taskPanel : sharedPanel);
    p.rows = rows.size();
    p.columns = columns.size();
    p.depth = depth.size();
    p.rowsAreInner = !sharesRows;
    const bool isFirst = depthBlock == block.depths.begin,
               isLast = depthBlock + 1 == block.depths.end;
    PanelResult result = entry.result;
    move(result.out, rows, columns);
    for (StridedElements &added : result.added)
      move(added, rows, columns);
    if (keepsSums) {
      p.sums = block.sums + (lines.begin - block.firstSum) * (sharesRows ? 1 : sumsStride);
      p.sumsStride = sumsStride;
      p.readsSums = !isFirst;
    } else if (!isFirst) {
      result.accumulate = true;
      result.addedCount = 0;
    }
    if (!keepsSums || (isLast && sumParts == 1))
      p.result = &result;
    kernels.multiply(p);
  }

  /// Packs a panel, of which each thread packs a part; of lines that tiles read where they are,
  /// only those of the last tile.
  void pack(const PanelSource &source, bool areRows, float *panel, int useThreads) const {
    const Pack packGroups = areRows ? kernels.packRows : kernels.packColumns;
    if (areRows ? readsRows : readsColumns) {
      if (packsLast(source, areRows))
        packGroups(lastGroup(source, tileOf(areRows)), 0, 1, panel);
      return;
    }
    parallelFor(useThreads, parts(source.lines, tileOf(areRows)), 1,
                [&](int, int64_t begin, int64_t end) { packGroups(source, begin, end, panel); });
  }

  /// Returns whether the last tile would read lines that the operand does not have.
  bool packsLast(const PanelSource &source, bool areRows) const {
    return source.lines % (areRows ? kernels.rowUnit : kernels.tileColumns) != 0;
  }

  static PanelSource lastGroup(PanelSource source, int64_t tile) {
    const int64_t whole = source.lines / tile * tile;
    source.first += whole * source.lineStride;
    source.lines -= whole;
    return source;
  }

  /// Returns the address of a block of an operand whose elements are floats or pairs.
  const float *floatsOf(const PanelSource &source) const {
    return reinterpret_cast<const float *>(source.operand.at) + source.first / termsOfFloat();
  }

  PanelRows panelOfRows(const PanelSource &source, const float *panel) const {
    const int64_t tile = kernels.tileRows;
    if (readsRows) {
      // The terms of pairs are contiguous.
      const int64_t stride = source.lineStride / termsOfFloat();
      return {floatsOf(source), tile * stride, stride, source.depthStride,
              packsLast(source, true) ? panel : nullptr};
    }
    if (source.depthIsContiguous()) {
      const int64_t stride = panelLineStride(source.depth);
      return {panel, tile * stride, stride, 1, nullptr};
    }
    return {panel, panelGroupStride(source.depth, tile), 1, tile, nullptr};
  }

  PanelColumns panelOfColumns(const PanelSource &source, const float *panel) const {
    const int64_t tile = kernels.tileColumns;
    if (readsColumns)
      return {floatsOf(source), tile, source.depthStride,
              packsLast(source, false) ? panel : nullptr};
    return {panel, panelGroupStride(source.depth, tile), tile, nullptr};
  }

  /// Returns the bytes of a block of an operand if they consist of a few runs.
  PanelPrefetch prefetchOf(const PanelSource &source) const {
    if (source.operand.patches || lhsStorage != 0 || rhsStorage != 0)
      return {};
    const int64_t bytes = bytesOf(c.type);
    const char *at = source.operand.at + source.first * bytes;
    if (source.depthIsContiguous() && source.depth == source.lineStride)
      return {at, source.depth * source.lines * bytes, 0, 1};
    if (source.depthIsContiguous())
      return {at, source.terms * bytes, source.lineStride * bytes, source.lines};
    if (source.lineStride == 1 && source.lines == source.depthStride)
      return {at, source.lines * source.terms * bytes, 0, 1};
    if (source.lineStride == 1)
      return {at, source.lines * bytes, source.depthStride * bytes, source.terms};
    return {};
  }

  const ContractionProblem problem;
  const MtcContraction c;
  const std::optional<PatchMatrix> patches;
  VectorSet set;
  uint32_t lhsStorage, rhsStorage;
  bool pairs; ///< whether a float of a panel is a pair of bf16
  PanelKernels kernels;
  bool sharesRows;              ///< whether all threads share the panel of lhs
  int64_t sumParts;             ///< parts of the sums, which threads compute in any order
  bool readsRows, readsColumns; ///< whether tiles read lhs or rhs in its own layout
  Blocks depths;
  int threads, workers = 1;
  bool keepsSums; ///< in the scratch
  Blocks shared, others, partLines{1, 1, 1};
  WorkStealingLoop loop{0};
  int64_t taskLines, sharedBytes, sumsBytes, sumsStride, taskBytes, slice;
};

} // namespace

std::unique_ptr<LibraryCall> createPanelContraction(const MtcContraction &contraction,
                                                    const ContractionProblem &problem, int threads,
                                                    VectorSet set) {
  const bool isStored = contraction.lhs_storage || contraction.rhs_storage;
  const bool isNarrow = contraction.type == MTC_BF16 || contraction.type == MTC_F16;
  if (!isNarrow && (contraction.type != MTC_F32 || (problem.k() == 0 && !isStored)))
    return nullptr;
  return std::make_unique<PanelContraction>(contraction, problem, threads, set);
}

std::unique_ptr<LibraryCall> createPatchContraction(const MtcContraction &contraction,
                                                    const ContractionProblem &problem,
                                                    const PatchMatrix &patches, bool areRhs,
                                                    int threads, VectorSet set) {
  MtcContraction stored = contraction;
  (areRhs ? stored.rhs_storage : stored.lhs_storage) = storedAsPatches;
  return std::make_unique<PanelContraction>(stored, problem, threads, set, patches);
}

} // namespace mtc::runtime
