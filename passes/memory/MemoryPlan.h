//===- MemoryPlan.h - Memory requirements of a program ----------------------------------------===//

#ifndef MTC_PASSES_MEMORY_MEMORYPLAN_H
#define MTC_PASSES_MEMORY_MEMORYPLAN_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace mtc {

/// Memory requirements of a program in bytes, computed by `MemoryAnalysis` or read from an
/// allocated module. Functions that only `--gradients` or `--outputs` runs execute are reported
/// separately in `separateRun` and are excluded from all other numbers.
struct MemoryPlan {
  /// Device bytes by purpose. `workspace` is the scratch of the operation at the peak plus the
  /// transfer slots, and `data` are the inputs. `activations` is the remainder: temporaries of the
  /// functions and fragmentation of the layout.
  struct Categories {
    int64_t parameters = 0, gradients = 0, optimizer = 0, activations = 0, workspace = 0, data = 0;
    int64_t activationGradients = 0; ///< only known from a timeline; otherwise part of activations

    /// Returns the categories of the variables that are allocated during training.
    static Categories ofVariables(mlir::ModuleOp module);
    /// Sets the remaining categories such that all of them add up to `total`.
    void fill(int64_t total, int64_t dataBytes, int64_t workspaceBytes);
  };

  /// A buffer that is live at the peak. Node names are stored in the operations' locations.
  struct AliveBuffer {
    mlir::Operation *holder; ///< operation that computes the buffer's value or uses it as scratch
    int64_t bytes;           ///< padded to the arena's alignment
    mlir::Operation *begin, *end; ///< first and last operation of the live range
    bool isScratch;
  };

  /// An operation and the live bytes while it runs, including variables and inputs.
  struct Point {
    mlir::Operation *op;
    int64_t live;
  };

  /// Size of the arena. Equal to `live` if the plan was computed without a layout.
  int64_t peak = 0;
  /// Arena sizes of the memory spaces other than the device.
  std::vector<std::pair<MemorySpace, int64_t>> otherSpaces;
  /// Maximum number of live bytes, which is a lower bound on the size of any layout.
  int64_t live = 0;
  /// The bytes that a budget limits. This is the size of the arena, or, in a program that checks
  /// its memory, the number of live bytes, because gaps between values are not part of the budget.
  int64_t counted = 0;
  /// Lower bound on the peak under any schedule and recomputation (see `findFloor`). Only computed
  /// together with a layout; 0 otherwise.
  int64_t floor = 0;
  /// Size of the arena of `--gradients` and `--outputs` runs if it exceeds `peak`, and 0 otherwise.
  int64_t separateRun = 0;
  /// The part of it that `--outputs` runs need if that exceeds `peak`, and 0 otherwise.
  int64_t outputsRun = 0;
  /// Distance in bytes from an input to its staging buffer for the next batch, and 0 without
  /// staging.
  int64_t staging = 0;
  Categories categories; ///< Add up to `peak`.
  /// Location of the operation at the peak, and null if no function allocates temporaries.
  mlir::LocationAttr peakAt;

  // The following are only available before allocation.
  std::vector<AliveBuffer> alive; ///< buffers live at the peak, by start of their live range
  std::vector<Point> points;      ///< in the order in which the functions run

  /// Sets the categories to those of the values that are live at the peak of the plan's timeline.
  void setCategories(const struct MemoryTimeline &timeline);

  /// Returns the plan recorded in an allocated module.
  static MemoryPlan ofAllocated(mlir::ModuleOp placed);
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_MEMORYPLAN_H
