// Splits contractions into blocks and distributes packing and multiplication over threads, as in
// Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008. All threads
// share a panel of the operand with fewer lines, so that a panel of each line of the other operand
// is packed once, or once per `maxPanelLines` lines of the former. If the result is small and sums
// are long, each thread instead computes parts of all sums, without panels of other threads.
#include "runtime/calls/contraction/cpu/panels.h"

#include "runtime/calls/contraction/cpu/panel_kernels.h"
#include "runtime/calls/contraction/cpu/panel_plan.h"
#include "runtime/calls/contraction/plain.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/threads/work_stealing.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace mtc::runtime {
namespace {

/// Maximum lines of a shared panel whose next block is prefetched.
constexpr int64_t maxPrefetchedLines = 128;

/// Returns whether the contraction is computed with pairs of bf16.
bool multipliesPairs(const MtcContraction &c, bool hasPatches, VectorSet set) {
  return c.lhs_type == MTC_BF16 && c.product_type == MTC_BF16 && c.lhs_storage == 0 &&
         c.rhs_storage == 0 && !hasPatches && set == machineVectors() &&
         machineMultipliesBFloat16();
}

class PanelContraction final : public LibraryCall {
public:
  PanelContraction(const MtcContraction &contraction, ContractionProblem simplified,
                   int maximalThreads, VectorSet set,
                   const std::optional<PatchMatrix> &patches = std::nullopt)
      : problem(std::move(simplified)), c(contraction), patches(patches), set(set),
        pairs(multipliesPairs(c, patches.has_value(), set)),
        kernels(pairs ? pairPanelKernels()
                      : panelKernels(c.lhs_type, problem.swapped ? c.rhs_storage : c.lhs_storage,
                                     problem.swapped ? c.lhs_storage : c.rhs_storage, set)),
        plan(c, problem, pairs, kernels, maximalThreads), loop(plan.maxTasks()) {}

  int64_t scratchBytes() const override { return problem.isEmpty() ? 0 : plan.scratchBytes(); }
  MtcSupportLevel supportLevel() const override {
    const bool isMeant = pairs || c.product_type == MTC_F32 || c.lhs_storage || c.rhs_storage;
    return isMeant ? MTC_CALL_FAST : MTC_CALL_PACKED;
  }
  std::string implementation() const override {
    return std::string(pairs ? "bf16 panels " : "f32 panels ") + vectorSetName(set);
  }

  void run(char *const *buffers, char *scratch) override {
    if (problem.isEmpty())
      return;
    if (plan.sumParts > 1)
      runParts(entryAt(0, buffers), scratch);
    else if (plan.workers == 1)
      for (int64_t entry = 0; entry < problem.entries(); ++entry)
        runEntry(entry, buffers, scratch, plan.threads);
    else
      parallelFor(plan.workers, problem.entries(), 1, [&](int part, int64_t begin, int64_t end) {
        for (int64_t entry = begin; entry < end; ++entry)
          runEntry(entry, buffers, scratch + plan.slice * part, 1);
      });
  }

private:
  static constexpr int64_t floatBytes = sizeof(float), narrowBytes = 2;
  static constexpr int64_t maxEntriesOfTask = 1 << 14; ///< partial sums that a thread adds at least

  static int64_t bytesOf(uint32_t type) { return type == MTC_F32 ? floatBytes : narrowBytes; }

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
    e.result.out = {c.out_type, buffers[2 + c.addend_count], problem.out.rowStride,
                    problem.out.columnStride};
    for (uint32_t i = 0; i < c.addend_count; ++i)
      e.result.added[i] = {c.addend_types[i], buffers[2 + i], problem.addends[i].rowStride,
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
    auto *sums = reinterpret_cast<float *>(scratch + plan.slice - plan.sumsBytes);
    for (int64_t i = 0; i < plan.shared.count; ++i)
      for (int64_t j = 0; j < plan.others.count; ++j)
        runBlock(entry,
                 {plan.shared.at(i),
                  plan.others.at(j),
                  {0, plan.depths.count},
                  sums,
                  plan.others.at(j).begin},
                 nullptr, scratch, useThreads);
  }

  /// Computes the parts of the sums, each with the panels of one thread, and adds them.
  void runParts(const Entry &entry, char *scratch) {
    auto *sums = reinterpret_cast<float *>(scratch + plan.slice * plan.workers);
    const int64_t partStride = plan.sumsBytes / floatBytes;
    auto blockOf = [&](int64_t item) -> Block {
      const int64_t part = item / plan.partLines.count;
      return {plan.shared.at(0),
              plan.partLines.at(item % plan.partLines.count),
              {plan.depths.count * part / plan.sumParts,
               plan.depths.count * (part + 1) / plan.sumParts},
              sums + part * partStride,
              0};
    };
    loop.run(plan.workers, plan.sumParts * plan.partLines.count,
             [&](int worker, int64_t item, int64_t next) {
               const Block following = blockOf(std::max<int64_t>(next, 0));
               runBlock(entry, blockOf(item), next < 0 ? nullptr : &following,
                        scratch + plan.slice * worker, 1);
             });
    parallelFor(plan.threads, problem.m(), partsOf(maxEntriesOfTask, problem.n() * plan.sumParts),
                [&](int, int64_t begin, int64_t end) {
                  kernels.addParts(entry.result, {sums, plan.sumsStride, partStride, plan.sumParts},
                                   {begin, end}, problem.n());
                });
  }

  PanelSource sourceOf(const StoredOperand &operand, int64_t first, int64_t lineStride,
                       int64_t depthStride, const Range &lines, const Range &depth) const {
    const int64_t begin = depth.begin * plan.termsOfFloat(),
                  end = std::min(depth.end * plan.termsOfFloat(), problem.k());
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
    return plan.sharesRows ? rowsOf(entry, lines, depth) : columnsOf(entry, lines, depth);
  }
  PanelSource othersOf(const Entry &entry, const Range &lines, const Range &depth) const {
    return plan.sharesRows ? columnsOf(entry, lines, depth) : rowsOf(entry, lines, depth);
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
    const Tasks tasks(block.otherLines.size(), plan.taskLines, plan.tileOf(!plan.sharesRows));
    auto linesOf = [&](const Block &of, int64_t task) {
      const Range lines = tasks.at(task);
      return Range{of.otherLines.begin + lines.begin,
                   std::min(of.otherLines.begin + lines.end, of.otherLines.end)};
    };
    for (int64_t i = block.depths.begin; i < block.depths.end; ++i) {
      const Range depth = plan.depths.at(i);
      const bool isLast = i + 1 == block.depths.end;
      auto *panel = reinterpret_cast<float *>(scratch);
      pack(sharedOf(entry, block.sharedLines, depth), plan.sharesRows, panel, useThreads);
      loop.run(useThreads, tasks.count, [&](int thread, int64_t task, int64_t next) {
        PanelProduct product{};
        if (next >= 0) {
          product.next[0] = prefetchOf(othersOf(entry, linesOf(block, next), depth));
        } else if (!isLast || following) {
          const Block &nextBlock = isLast ? *following : block;
          const Range nextDepth = plan.depths.at(isLast ? following->depths.begin : i + 1);
          next = partBegin(tasks.count, useThreads, thread);
          product.next[0] = prefetchOf(othersOf(entry, linesOf(nextBlock, next), nextDepth));
          if (plan.sumParts > 1 || block.sharedLines.size() <= maxPrefetchedLines)
            product.next[1] = prefetchOf(sharedOf(entry, block.sharedLines, nextDepth));
        }
        multiply(product, entry, block, linesOf(block, task), i, panel,
                 reinterpret_cast<float *>(scratch + plan.sharedBytes + plan.taskBytes * thread));
      });
    }
  }

  /// Computes a task of a block of the result: some of the lines of the other operand.
  void multiply(PanelProduct &p, const Entry &entry, const Block &block, const Range &lines,
                int64_t depthBlock, float *sharedPanel, float *taskPanel) const {
    const Range depth = plan.depths.at(depthBlock),
                &rows = plan.sharesRows ? block.sharedLines : lines,
                &columns = plan.sharesRows ? lines : block.sharedLines;
    const PanelSource rowSource = rowsOf(entry, rows, depth),
                      columnSource = columnsOf(entry, columns, depth);
    pack(plan.sharesRows ? columnSource : rowSource, !plan.sharesRows, taskPanel, 1);
    p.lhs = panelOfRows(rowSource, plan.sharesRows ? sharedPanel : taskPanel);
    p.rhs = panelOfColumns(columnSource, plan.sharesRows ? taskPanel : sharedPanel);
    p.rows = rows.size();
    p.columns = columns.size();
    p.depth = depth.size();
    p.rowsAreInner = !plan.sharesRows;
    const bool isFirst = depthBlock == block.depths.begin,
               isLast = depthBlock + 1 == block.depths.end;
    PanelResult result = entry.result;
    move(result.out, rows, columns);
    for (StridedElements &added : result.added)
      move(added, rows, columns);
    if (plan.keepsSums) {
      p.sums =
          block.sums + (lines.begin - block.firstSum) * (plan.sharesRows ? 1 : plan.sumsStride);
      p.sumsStride = plan.sumsStride;
      p.readsSums = !isFirst;
    } else if (!isFirst) {
      result.accumulate = true;
      result.addedCount = 0;
    }
    if (!plan.keepsSums || (isLast && plan.sumParts == 1))
      p.result = &result;
    kernels.multiply(p);
  }

  /// Packs a panel, of which each thread packs a part. Of lines that tiles read in place, only
  /// those of the last tile are packed.
  void pack(const PanelSource &source, bool areRows, float *panel, int useThreads) const {
    const Pack packGroups = areRows ? kernels.packRows : kernels.packColumns;
    if (areRows ? plan.readsRows : plan.readsColumns) {
      if (packsLast(source, areRows))
        packGroups(lastGroup(source, plan.tileOf(areRows)), 0, 1, panel);
      return;
    }
    parallelFor(useThreads, partsOf(source.lines, plan.tileOf(areRows)), 1,
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
    return reinterpret_cast<const float *>(source.operand.at) + source.first / plan.termsOfFloat();
  }

  PanelRows panelOfRows(const PanelSource &source, const float *panel) const {
    const int64_t tile = kernels.tileRows;
    if (plan.readsRows) {
      // The terms of pairs are contiguous.
      const int64_t stride = source.lineStride / plan.termsOfFloat();
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
    if (plan.readsColumns)
      return {floatsOf(source), tile, source.depthStride,
              packsLast(source, false) ? panel : nullptr};
    return {panel, panelGroupStride(source.depth, tile), tile, nullptr};
  }

  /// Returns the bytes of a block of an operand if they consist of a few runs.
  PanelPrefetch prefetchOf(const PanelSource &source) const {
    if (source.operand.patches || c.lhs_storage != 0 || c.rhs_storage != 0)
      return {};
    const int64_t bytes = bytesOf(c.lhs_type);
    const char *at = source.operand.at + source.first * bytes;
    if (source.depthIsContiguous() && source.terms == source.lineStride)
      return {at, source.terms * source.lines * bytes, 0, 1};
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
  bool pairs; ///< whether a float of a panel is a pair of bf16
  PanelKernels kernels;
  const PanelPlan plan;
  WorkStealingLoop loop;
};

} // namespace

std::unique_ptr<LibraryCall> createPanelContraction(const MtcContraction &contraction,
                                                    const ContractionProblem &problem, int threads,
                                                    VectorSet set) {
  const bool isStored = contraction.lhs_storage || contraction.rhs_storage;
  if (!mtc_is_narrow_float(contraction.lhs_type) &&
      (contraction.lhs_type != MTC_F32 || (problem.k() == 0 && !isStored)))
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
