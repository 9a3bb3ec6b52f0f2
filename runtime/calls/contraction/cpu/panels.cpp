// Splits contractions into blocks and distributes packing and multiplication over threads, as in
// Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008, except that all
// threads share both panels.
#include "runtime/calls/contraction/cpu/panels.h"

#include "runtime/calls/contraction/plain.h"
#include "runtime/devices/cpu/narrow_floats.h"
#include "runtime/devices/cpu/parallel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

namespace mtc::runtime {
namespace {

/// Maximum rows, columns and depth of a block. In long matrices, each element is packed once per
/// 1024 rows or columns of the other operand.
constexpr int64_t maxRows = 1032, panelRows = maxRows, maxColumns = 1024, maxDepth = 512;
/// Padding that avoids distances of a power of two between packed groups, which would map to the
/// same few cache sets.
constexpr int64_t padding = 16, panelDepth = maxDepth + padding;
/// Tile of a thread's task: its part of a panel stays in cache.
constexpr int64_t taskRows = 192, taskColumns = 128;

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// An operand in memory and its number of elements, or the tensor of a matrix of patches.
struct StoredOperand {
  const char *at;
  int64_t elements;
  const PatchMatrix *patches;
};

/// A block of an operand. Its lines are rows of lhs or columns of rhs; `first` is in elements.
struct PanelSource {
  StoredOperand operand;
  int64_t first, lineStride, depthStride, lines, depth;
  bool depthIsContiguous() const { return depthStride == 1; }
};

/// Element type of operands in NF4 storage (`runtime/abi/storage.h`).
struct Nf4 {};

/// The values of the two codes in a byte.
struct Nf4Pairs {
  alignas(8) std::array<std::array<float, 2>, 256> of;

  constexpr Nf4Pairs() : of() {
    constexpr std::array<float, 16> values = MTC_NF4_VALUES;
    for (size_t byte = 0; byte < of.size(); ++byte)
      of[byte] = {values[byte >> 4], values[byte & 15]};
  }
};
constexpr Nf4Pairs nf4Pairs;

/// Element type of a matrix of patches.
template <typename Element> struct Patch {};
/// The storage of such a matrix, in addition to those of MtcStorage.
constexpr uint32_t storedAsPatches = 1u << 16;

struct PanelProduct {
  const float *lhs, *rhs;
  float *sums;
  int64_t sumsStride, depth;
  bool rowsAreLines; ///< `packRows` has packed each row of lhs contiguously
  bool accumulate;
};

/// A block of the result or of an addend.
struct StridedElements {
  uint32_t type;
  char *at;
  int64_t rowStride, columnStride;
};

struct PanelResult {
  StridedElements out;
  int addedCount;
  std::array<StridedElements, MTC_MAX_ADDENDS + 1> added;
};

using Pack = void (*)(const PanelSource &, int64_t, int64_t, float *);

/// The functions for one instruction set.
struct PanelKernels {
  int64_t tileRows, tileColumns;
  Pack packRows, packColumns;
  void (*multiply)(const PanelProduct &, const Range &, const Range &);
  void (*finish)(const PanelResult &, const Range &, const Range &, float *, int64_t);
};

#define MTC_VECTOR_CODE "runtime/calls/contraction/cpu/panels.inc"
#include "runtime/devices/cpu/each_vector_set.inc"

/// Calls `use` with a value of an operand's element type.
template <typename Use> auto withStored(uint32_t type, uint32_t storage, const Use &use) {
  if (storage == storedAsPatches)
    return type == MTC_BF16  ? use(Patch<BFloat16>())
           : type == MTC_F16 ? use(Patch<Float16>())
                             : use(Patch<float>());
  if (storage == MTC_STORED_NF4)
    return use(Nf4());
  if (storage == MTC_STORED_BF16 || type == MTC_BF16)
    return use(BFloat16());
  return type == MTC_F16 ? use(Float16()) : use(float());
}

PanelKernels kernelsFor(uint32_t type, uint32_t lhs, uint32_t rhs, VectorSet set) {
  return withStored(type, lhs, [&](auto ofLhs) {
    return withStored(type, rhs, [&](auto ofRhs) {
      return MTC_OF_SET(set, kernels<decltype(ofLhs), decltype(ofRhs)>)();
    });
  });
}

int64_t parts(int64_t extent, int64_t size) { return (extent + size - 1) / size; }

/// Splits an extent into equal blocks of at most `size`, in multiples of `unit`; at least one
/// block.
struct Blocks {
  Blocks(int64_t extent, int64_t size, int64_t unit)
      : extent(extent),
        length(std::max(parts(parts(extent, std::max<int64_t>(parts(extent, size), 1)), unit),
                        int64_t{1}) *
               unit),
        count(std::max<int64_t>(parts(extent, length), 1)) {}

  Range at(int64_t i) const { return {i * length, std::min(extent, (i + 1) * length)}; }

  int64_t extent, length, count;
};

class PanelContraction final : public LibraryCall {
public:
  PanelContraction(const MtcContraction &contraction, ContractionProblem simplified,
                   int maximalThreads, VectorSet set,
                   const std::optional<PatchMatrix> &patches = std::nullopt)
      : problem(std::move(simplified)), c(contraction), patches(patches), set(set),
        kernels(kernelsFor(c.type, problem.swapped ? c.rhs_storage : c.lhs_storage,
                           problem.swapped ? c.lhs_storage : c.rhs_storage, set)),
        rows(problem.m(), maxRows / kernels.tileRows * kernels.tileRows, kernels.tileRows),
        columns(problem.n(), maxColumns, kernels.tileColumns), depths(problem.k(), maxDepth, 1),
        threads(maximalThreads) {
    // The size is the same on all machines, so it assumes the largest tiles, those of AVX-512.
    const Blocks widestRows(problem.m(), maxRows, 12), widestColumns(problem.n(), maxColumns, 32);
    lhsBytes = alignedBytes(widestRows.length * panelDepth * floatBytes);
    // A tile has at least 8 columns.
    rhsBytes = alignedBytes(widestColumns.length * (depths.length + padding / 8) * floatBytes);
    sumsStride = widestColumns.length + padding;
    slice = lhsBytes + rhsBytes + alignedBytes(widestRows.length * sumsStride * floatBytes);
    constexpr int64_t mostOfAThread = 1 << 20;
    workers = problem.entries() >= threads && slice <= mostOfAThread ? threads : 1;
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
    if (c.accumulate)
      e.result.added[static_cast<size_t>(e.result.addedCount++)] = e.result.out;
    return e;
  }

  void runEntry(int64_t number, char *const *buffers, char *scratch, int useThreads) const {
    const Entry entry = entryAt(number, buffers);
    for (int64_t column = 0; column < columns.count; ++column)
      for (int64_t row = 0; row < rows.count; ++row)
        runBlock(entry, rows.at(row), columns.at(column), scratch, useThreads);
  }

  static PanelSource sourceOf(const StoredOperand &operand, int64_t first, int64_t lineStride,
                              int64_t depthStride, const Range &lines, const Range &depth) {
    first += lines.begin * lineStride + depth.begin * depthStride;
    return {operand, first, lineStride, depthStride, lines.size(), depth.size()};
  }

  static void move(StridedElements &elements, const Range &rows, const Range &columns) {
    elements.at += (rows.begin * elements.rowStride + columns.begin * elements.columnStride) *
                   bytesOf(elements.type);
  }

  void runBlock(const Entry &entry, const Range &blockRows, const Range &blockColumns,
                char *scratch, int useThreads) const {
    auto *lhs = reinterpret_cast<float *>(scratch);
    auto *rhs = reinterpret_cast<float *>(scratch + lhsBytes);
    auto *sums = reinterpret_cast<float *>(scratch + lhsBytes + rhsBytes);
    PanelResult result = entry.result;
    move(result.out, blockRows, blockColumns);
    for (StridedElements &added : result.added)
      move(added, blockRows, blockColumns);
    for (int64_t i = 0; i < depths.count; ++i) {
      const Range depth = depths.at(i);
      PanelSource lhsSource = sourceOf(entry.lhs, entry.lhsFirst, problem.lhs.rowStride,
                                       problem.lhs.columnStride, blockRows, depth),
                  rhsSource = sourceOf(entry.rhs, entry.rhsFirst, problem.rhs.columnStride,
                                       problem.rhs.rowStride, blockColumns, depth);
      pack(lhsSource, rhsSource, lhs, rhs, useThreads);
      PanelProduct product{lhs,  rhs, sums, sumsStride, depth.size(), lhsSource.depthIsContiguous(),
                           i > 0};
      multiply(product, blockRows.size(), blockColumns.size(),
               i + 1 == depths.count ? &result : nullptr, useThreads);
    }
  }

  /// Packs both panels; each thread packs its share of both.
  void pack(const PanelSource &lhs, const PanelSource &rhs, float *lhsPanel, float *rhsPanel,
            int useThreads) const {
    const int64_t rowGroups = parts(lhs.lines, kernels.tileRows),
                  columnGroups = parts(rhs.lines, kernels.tileColumns);
    parallelFor(useThreads, useThreads, 1, [&](int, int64_t begin, int64_t end) {
      auto share = [&](int64_t groups, int64_t part) { return groups * part / useThreads; };
      kernels.packRows(lhs, share(rowGroups, begin), share(rowGroups, end), lhsPanel);
      kernels.packColumns(rhs, share(columnGroups, begin), share(columnGroups, end), rhsPanel);
    });
  }

  /// Multiplies the panels. Tasks are numbered over rows first, so that a thread mostly reads the
  /// same columns. `result` is non-null for the last block of the depth, when the sums are
  /// complete.
  void multiply(const PanelProduct &product, int64_t rowCount, int64_t columnCount,
                const PanelResult *result, int useThreads) const {
    const int64_t rowTasks = parts(rowCount, taskRows),
                  tasks = rowTasks * parts(columnCount, taskColumns);
    parallelFor(useThreads, tasks, 1, [&](int, int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        auto rangeOf = [](int64_t index, int64_t size, int64_t extent) {
          return Range{index * size, std::min(extent, (index + 1) * size)};
        };
        const Range taskedRows = rangeOf(task % rowTasks, taskRows, rowCount),
                    taskedColumns = rangeOf(task / rowTasks, taskColumns, columnCount);
        auto groupsOf = [](const Range &range, int64_t tile) {
          return Range{range.begin / tile, parts(range.end, tile)};
        };
        kernels.multiply(product, groupsOf(taskedRows, kernels.tileRows),
                         groupsOf(taskedColumns, kernels.tileColumns));
        if (result)
          kernels.finish(*result, taskedRows, taskedColumns, product.sums, product.sumsStride);
      }
    });
  }

  const ContractionProblem problem;
  const MtcContraction c;
  const std::optional<PatchMatrix> patches;
  VectorSet set;
  PanelKernels kernels;
  Blocks rows, columns, depths;
  int threads, workers = 1;
  int64_t lhsBytes, rhsBytes, sumsStride, slice;
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
