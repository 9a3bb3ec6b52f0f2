// Packing and multiplication of panels for each instruction set. See panels.h.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANEL_KERNELS_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANEL_KERNELS_H

#include "runtime/abi/contraction.h"
#include "runtime/calls/contraction/cpu/panels.h"
#include "runtime/devices/cpu/vector/vector_set.h"

#include <array>
#include <cstdint>

namespace mtc::runtime {

/// The storage of a matrix of patches, in addition to those of MtcStorage.
constexpr uint32_t storedAsPatches = 1u << 16;

/// Maximum rows or columns that are packed at once.
constexpr int64_t maxPanelLines = 1032;

/// Floats between the depths of adjacent lines of a panel whose depth is contiguous: an odd number
/// of cache lines, so that lines do not map to the same few cache sets.
constexpr int64_t panelLineStride(int64_t depth) {
  constexpr int64_t cacheLine = 16;
  return ((depth + cacheLine - 1) / cacheLine | 1) * cacheLine;
}
/// Padding after each group of interleaved lines, for the same reason.
constexpr int64_t panelGroupPadding = 16;
/// Returns the number of floats between the starts of adjacent groups of `lines` interleaved lines.
constexpr int64_t panelGroupStride(int64_t depth, int64_t lines) {
  return depth * lines + panelGroupPadding;
}

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
  int64_t terms; ///< elements of a line: the depth, or up to two for each of a depth of pairs
  bool depthIsContiguous() const { return depthStride == 1; }
};

/// Rows of lhs in groups of a tile: packed, or in the operand itself.
struct PanelRows {
  const float *at;
  int64_t groupStride, rowStride, depthStride;
  const float *last; ///< if non-null, the last group, packed
};

/// Columns of rhs in groups of a tile, whose rows are contiguous: packed, or in the operand itself.
struct PanelColumns {
  const float *at;
  int64_t groupStride, depthStride;
  const float *last; ///< if non-null, the last group, packed
};

/// A block of the result or of an addend.
struct StridedElements {
  uint32_t type;
  char *at;
  int64_t rowStride, columnStride;
};

/// The tensors that are added to a block of sums, and the result.
struct PanelResult {
  StridedElements out;
  bool accumulate; ///< also add the previous contents of `out`
  int addedCount;
  std::array<StridedElements, MTC_MAX_ADDENDS> added;
};

/// Runs of bytes that are prefetched while a panel is multiplied.
struct PanelPrefetch {
  const char *at;
  int64_t runBytes, runStride, runs;
};

/// The multiplication of rows of lhs and columns of rhs.
struct PanelProduct {
  PanelRows lhs;
  PanelColumns rhs;
  int64_t rows, columns, depth;
  bool rowsAreInner; ///< tiles of the same columns are adjacent in time
  float *sums;       ///< sums of blocks of the depth, in rows of `sumsStride`
  int64_t sumsStride;
  bool readsSums;            ///< add the sums of the previous blocks
  const PanelResult *result; ///< null: store the sums
  std::array<PanelPrefetch, 2> next;
};

/// Sums of parts of the terms, in rows of `rowStride`.
struct PartialSums {
  const float *at;
  int64_t rowStride, partStride, parts;
};

using Pack = void (*)(const PanelSource &, int64_t beginGroup, int64_t endGroup, float *panel);

/// The functions for one instruction set.
struct PanelKernels {
  int64_t tileRows, tileColumns;
  int64_t rowUnit; ///< tiles of a multiple of this number of rows read no other rows
  /// Packs groups of rows or columns.
  Pack packRows, packColumns;
  void (*multiply)(const PanelProduct &);
  /// Adds the parts of the sums in order, then the addends, and writes rows of the result.
  void (*addParts)(const PanelResult &, const PartialSums &, const Range &rows, int64_t columns);
};

/// Returns the functions for these types and storages of the operands.
PanelKernels panelKernels(uint32_t type, uint32_t lhsStorage, uint32_t rhsStorage, VectorSet set);

/// Returns the functions for panels of pairs of adjacent terms in bf16, each in the place of a
/// float, on machines of `machineMultipliesBFloat16()`. The second term of an odd last pair is 0.
PanelKernels pairPanelKernels();

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANEL_KERNELS_H
