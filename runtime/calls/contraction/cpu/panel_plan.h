// The division of a contraction into panels and tasks, and the scratch memory that they need.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANEL_PLAN_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANEL_PLAN_H

#include "runtime/calls/contraction/cpu/panel_kernels.h"

#include <algorithm>
#include <cstdint>

namespace mtc::runtime {

/// Returns the number of parts of an extent of at most `size` each.
constexpr int64_t partsOf(int64_t extent, int64_t size) {
  return extent / size + (extent % size != 0);
}

/// Splits an extent into equal blocks of at most `size`, in multiples of `unit`; at least one
/// block.
struct Blocks {
  Blocks(int64_t extent, int64_t size, int64_t unit)
      : extent(extent), length(std::max(partsOf(longest(extent, size), unit), int64_t{1}) * unit),
        count(std::max<int64_t>(partsOf(extent, length), 1)) {}

  Range at(int64_t i) const { return {i * length, std::min(extent, (i + 1) * length)}; }

  /// Returns the length of the longest block for a unit of 1.
  static int64_t longest(int64_t extent, int64_t size) {
    return partsOf(extent, std::max<int64_t>(partsOf(extent, size), 1));
  }

  int64_t extent, length, count;
};

/// Splits lines into tasks of at most `taskLines + tile - 1` lines: whole tiles, whose numbers
/// differ by at most one, so that threads with as many tasks have as much to do.
struct Tasks {
  Tasks(int64_t lines, int64_t taskLines, int64_t tile)
      : lines(lines), tile(tile), tiles(partsOf(lines, tile)),
        count(std::min(partsOf(lines, taskLines), tiles)) {}

  Range at(int64_t i) const {
    return {tiles * i / count * tile, std::min(lines, tiles * (i + 1) / count * tile)};
  }

  int64_t lines, tile, tiles, count;
};

/// The plan of a contraction. The scratch memory has the same size on all machines.
class PanelPlan {
public:
  /// `pairs`: a float of a panel is a pair of bf16.
  PanelPlan(const MtcContraction &contraction, const ContractionProblem &problem, bool pairs,
            const PanelKernels &kernels, int threads);

  /// Returns the lines of a tile.
  int64_t tileOf(bool areRows) const { return areRows ? tileRows : tileColumns; }
  /// Returns the terms of a sum in each float of a panel.
  int64_t termsOfFloat() const { return pairs ? 2 : 1; }
  int64_t scratchBytes() const {
    return slice * workers + (sumParts > 1 ? sumsBytes * sumParts : 0);
  }
  /// Returns the maximum number of tasks that threads share.
  int64_t maxTasks() const {
    return sumParts > 1 ? sumParts * partLines.count : partsOf(others.length, taskLines);
  }

  bool pairs;
  int64_t tileRows, tileColumns;
  bool sharesRows;              ///< whether all threads share the panel of lhs
  int64_t sumParts;             ///< parts of the sums, which threads compute in any order
  bool readsRows, readsColumns; ///< whether tiles read lhs or rhs in its own layout
  bool keepsSums;               ///< in the scratch
  Blocks depths;                ///< of floats of panels
  Blocks shared, others;        ///< lines of the operand whose panel is shared, and of the other
  Blocks partLines{1, 1, 1};    ///< lines of the other operand that a thread computes of a part
  int threads, workers = 1;     ///< workers: threads that compute entries or parts of their own
  int64_t taskLines = 1;        ///< maximum lines of a task

  /// The scratch of a worker: the shared panel, sums, and the panels of tasks. The parts of sums
  /// follow the scratch of all workers.
  int64_t sharedBytes = 0, sumsBytes = 0, taskBytes = 0, slice = 0;
  int64_t sumsStride = 0; ///< floats between rows of sums

private:
  int64_t bytesOfPanel(bool areRows, int64_t lines) const;
  int64_t maxOtherLines() const;
  void planParts();
  void planEntries(int64_t entries);
  void planTasks(int useThreads);

  int64_t lineFloats; ///< maximum floats of a line of a panel
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANEL_PLAN_H
