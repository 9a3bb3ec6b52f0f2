// Splits contractions into blocks and distributes packing and multiplication over threads, as in
// Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008. All threads
// share a panel of the operand with fewer lines, so that a panel of each line of the other operand
// is packed once, or once per `maxPanelLines` lines of the former.
#include "runtime/calls/contraction/cpu/panels.h"

#include "runtime/calls/contraction/cpu/panel_kernels.h"
#include "runtime/calls/contraction/plain.h"
#include "runtime/devices/cpu/parallel.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace mtc::runtime {
namespace {

/// Maximum depth of a block.
constexpr int64_t maxDepth = 768;
/// Maximum lines of a thread's panel, which stays in its second level cache.
constexpr int64_t maxTaskLines = 128;
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
bool readsWell(const MatrixLayout &rows) {
  constexpr int64_t halfOfSets = 512, cacheLine = 16; // floats
  const int64_t rest = rows.rowStride % halfOfSets;
  return rows.columnStride == 1 && rest >= cacheLine && rest <= halfOfSets - cacheLine;
}

class PanelContraction final : public LibraryCall {
public:
  PanelContraction(const MtcContraction &contraction, ContractionProblem simplified,
                   int maximalThreads, VectorSet set,
                   const std::optional<PatchMatrix> &patches = std::nullopt)
      : problem(std::move(simplified)), c(contraction), patches(patches), set(set),
        lhsStorage(problem.swapped ? c.rhs_storage : c.lhs_storage),
        rhsStorage(problem.swapped ? c.lhs_storage : c.rhs_storage),
        kernels(panelKernels(c.type, lhsStorage, rhsStorage, set)),
        sharesRows(problem.m() < problem.n()),
        readsRows(c.type == MTC_F32 && lhsStorage == 0 && readsWell(problem.lhs)),
        depths(problem.k(), maxDepth, 1), threads(maximalThreads),
        keepsSums(depths.count > 1 && resultType(c) != MTC_F32),
        shared(sharesRows ? problem.m() : problem.n(), maxPanelLines, tileOf(sharesRows)),
        others(sharesRows ? problem.n() : problem.m(), keepsSums ? maxSumLines : INT64_MAX,
               tileOf(!sharesRows)) {
    // The size is the same on all machines, so it assumes the largest tiles.
    const int64_t depth = std::max(depths.length + 3, panelLineStride(depths.length)),
                  sharedLines = Blocks::bound(shared.extent, maxPanelLines),
                  otherLines = Blocks::bound(others.extent, keepsSums ? maxSumLines : INT64_MAX);
    auto bytesOfPanel = [&](bool areRows, int64_t lines) {
      return alignedBytes((areRows && readsRows ? largestTile : lines) * depth * floatBytes);
    };
    sharedBytes = bytesOfPanel(sharesRows, sharedLines);
    sumsStride = (sharesRows ? otherLines : sharedLines) + panelGroupPadding;
    sumsBytes =
        keepsSums ? alignedBytes((sharesRows ? sharedLines : otherLines) * sumsStride * floatBytes)
                  : 0;
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
  }

  int64_t scratchBytes() const override { return problem.isEmpty() ? 0 : slice * workers; }
  MtcSupportLevel supportLevel() const override {
    const bool isMeant = c.type == MTC_F32 || c.f32_products || c.lhs_storage || c.rhs_storage;
    return isMeant ? MTC_CALL_FAST : MTC_CALL_PACKED;
  }
  std::string implementation() const override {
    return std::string("f32 panels ") + vectorSetName(set);
  }

  void run(char *const *buffers, char *scratch) override {
    if (problem.isEmpty())
      return;
    if (workers == 1)
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

  static int64_t bytesOf(uint32_t type) { return type == MTC_F32 ? floatBytes : narrowBytes; }

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

  void runEntry(int64_t number, char *const *buffers, char *scratch, int useThreads) const {
    const Entry entry = entryAt(number, buffers);
    for (int64_t i = 0; i < shared.count; ++i)
      for (int64_t j = 0; j < others.count; ++j)
        runBlock(entry, shared.at(i), others.at(j), scratch, useThreads);
  }

  static PanelSource sourceOf(const StoredOperand &operand, int64_t first, int64_t lineStride,
                              int64_t depthStride, const Range &lines, const Range &depth) {
    first += lines.begin * lineStride + depth.begin * depthStride;
    return {operand, first, lineStride, depthStride, lines.size(), depth.size()};
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

  /// Computes a block of the result: sums over blocks of the depth in the result, to which the
  /// first one adds the addends, or in the scratch, to which the last one adds them.
  void runBlock(const Entry &entry, const Range &sharedLines, const Range &otherLines,
                char *scratch, int useThreads) const {
    const Blocks tasks(otherLines.size(), taskLines, tileOf(!sharesRows));
    for (int64_t i = 0; i < depths.count; ++i) {
      const Range depth = depths.at(i);
      auto *panel = reinterpret_cast<float *>(scratch);
      packShared(sharedOf(entry, sharedLines, depth), panel, useThreads);
      parallelFor(useThreads, tasks.count, 1, [&](int part, int64_t begin, int64_t end) {
        auto linesOf = [&](int64_t task) {
          const Range lines = tasks.at(task);
          return Range{otherLines.begin + lines.begin, otherLines.begin + lines.end};
        };
        auto *taskPanel =
            reinterpret_cast<float *>(scratch + sharedBytes + sumsBytes + taskBytes * part);
        for (int64_t task = begin; task < end; ++task) {
          const Range lines = linesOf(task);
          PanelProduct product{};
          if (task + 1 < end) {
            product.next[0] = prefetchOf(othersOf(entry, linesOf(task + 1), depth));
          } else if (i + 1 < depths.count) {
            product.next[0] = prefetchOf(othersOf(entry, linesOf(begin), depths.at(i + 1)));
            if (sharedLines.size() <= maxTaskLines)
              product.next[1] = prefetchOf(sharedOf(entry, sharedLines, depths.at(i + 1)));
          }
          multiply(product, entry, sharesRows ? sharedLines : lines,
                   sharesRows ? lines : sharedLines, i, panel, taskPanel,
                   reinterpret_cast<float *>(scratch + sharedBytes), otherLines.begin);
        }
      });
    }
  }

  void multiply(PanelProduct &p, const Entry &entry, const Range &rows, const Range &columns,
                int64_t depthBlock, float *sharedPanel, float *taskPanel, float *sums,
                int64_t firstOther) const {
    const Range depth = depths.at(depthBlock);
    const PanelSource rowSource = rowsOf(entry, rows, depth),
                      columnSource = columnsOf(entry, columns, depth);
    if (sharesRows)
      kernels.packColumns(columnSource, 0, parts(columns.size(), kernels.tileColumns), taskPanel);
    else if (!readsRows)
      kernels.packRows(rowSource, 0, parts(rows.size(), kernels.tileRows), taskPanel);
    else
      packLastRows(rowSource, taskPanel);
    p.lhs = panelOf(rowSource, sharesRows ? sharedPanel : taskPanel);
    p.rhs = sharesRows ? taskPanel : sharedPanel;
    p.rows = rows.size();
    p.columns = columns.size();
    p.depth = depth.size();
    p.rowsAreInner = !sharesRows;
    const bool isLast = depthBlock + 1 == depths.count;
    PanelResult result = entry.result;
    move(result.out, rows, columns);
    for (StridedElements &added : result.added)
      move(added, rows, columns);
    if (keepsSums) {
      p.sums =
          sums + (sharesRows ? columns.begin - firstOther : (rows.begin - firstOther) * sumsStride);
      p.sumsStride = sumsStride;
      p.readsSums = depthBlock > 0;
    } else if (depthBlock > 0) {
      result.accumulate = true;
      result.addedCount = 0;
    }
    if (!keepsSums || isLast)
      p.result = &result;
    kernels.multiply(p);
  }

  /// Packs the shared panel; each thread packs a part.
  void packShared(const PanelSource &source, float *panel, int useThreads) const {
    if (sharesRows && readsRows)
      return packLastRows(source, panel);
    const int64_t groups = parts(source.lines, tileOf(sharesRows));
    parallelFor(useThreads, groups, 1, [&](int, int64_t begin, int64_t end) {
      (sharesRows ? kernels.packRows : kernels.packColumns)(source, begin, end, panel);
    });
  }

  /// Packs the rows that do not fill a tile.
  void packLastRows(PanelSource source, float *panel) const {
    const int64_t whole = source.lines / kernels.tileRows * kernels.tileRows;
    source.first += whole * source.lineStride;
    source.lines -= whole;
    if (source.lines > 0)
      kernels.packRows(source, 0, 1, panel);
  }

  PanelRows panelOf(const PanelSource &source, const float *panel) const {
    if (readsRows)
      return {reinterpret_cast<const float *>(source.operand.at) + source.first,
              kernels.tileRows * source.lineStride, source.lineStride, 1,
              source.lines % kernels.tileRows ? panel : nullptr};
    if (source.depthIsContiguous()) {
      const int64_t stride = panelLineStride(source.depth);
      return {panel, kernels.tileRows * stride, stride, 1, nullptr};
    }
    return {panel, panelGroupStride(source.depth, kernels.tileRows), 1, kernels.tileRows, nullptr};
  }

  /// Returns the bytes of a block of an operand if they consist of a few runs.
  PanelPrefetch prefetchOf(const PanelSource &source) const {
    if (source.operand.patches || lhsStorage != 0 || rhsStorage != 0)
      return {};
    const int64_t bytes = bytesOf(c.type);
    const char *at = source.operand.at + source.first * bytes;
    if (source.depthIsContiguous())
      return {at, source.depth * bytes, source.lineStride * bytes, source.lines};
    if (source.lineStride == 1)
      return {at, source.lines * bytes, source.depthStride * bytes, source.depth};
    return {};
  }

  const ContractionProblem problem;
  const MtcContraction c;
  const std::optional<PatchMatrix> patches;
  VectorSet set;
  uint32_t lhsStorage, rhsStorage;
  PanelKernels kernels;
  bool sharesRows; ///< whether all threads share the panel of lhs
  bool readsRows;  ///< whether tiles read lhs in its own layout
  Blocks depths;
  int threads, workers = 1;
  bool keepsSums; ///< in the scratch
  Blocks shared, others;
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
