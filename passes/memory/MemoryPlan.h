//===- MemoryPlan.h - What a program needs of memory ------------------------------------------===//

#ifndef MTC_PASSES_MEMORY_MEMORYPLAN_H
#define MTC_PASSES_MEMORY_MEMORYPLAN_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace mtc {

/// The memory of a program, in bytes: the answer of a `MemoryAnalysis`, or what an allocated module
/// says. Functions that only runs with `--gradients` or `--outputs` execute have their own number,
/// and are no part of the rest.
struct MemoryPlan {
  /// What bytes of the device are for. `workspace` is the scratch of the operation at the peak and
  /// the slots of transfers, `data` are the inputs, `activations` is the rest: what functions keep
  /// while they run, and gaps of the layout.
  struct Categories {
    int64_t parameters = 0, gradients = 0, optimizer = 0, activations = 0, workspace = 0, data = 0;

    /// Those that have bytes while the program trains.
    static Categories ofVariables(mlir::ModuleOp module);
    /// Adds the others, so that all add up to `total`.
    void fill(int64_t total, int64_t dataBytes, int64_t workspaceBytes);
  };

  /// A buffer that is alive at the peak. Names of nodes are the operations' locations.
  struct AliveBuffer {
    mlir::Operation *holder;      ///< computed what it holds, or needs it as scratch
    int64_t bytes;                ///< padded to the arena's alignment
    mlir::Operation *begin, *end; ///< first and last operation at which it is alive
    bool isScratch;
  };

  /// An operation and the bytes that are alive while it runs, variables and inputs included.
  struct Point {
    mlir::Operation *op;
    int64_t live;
  };

  /// The size of the arena; of an answer that was given without a layout, `live`.
  int64_t peak = 0;
  /// The sizes of arenas in other spaces than the device's.
  std::vector<std::pair<MemorySpace, int64_t>> otherSpaces;
  /// The most that is alive at once: no layout needs less.
  int64_t live = 0;
  /// What the functions need in any order of their operations, whatever is computed again: no plan
  /// of the module needs less. Known where the answer has a layout.
  int64_t floor = 0;
  /// The size of the arena of such runs, where that is larger; else 0.
  int64_t asideRun = 0;
  /// The distance from an input to where the next batch's is read meanwhile; 0: it is not.
  int64_t staging = 0;
  Categories categories; ///< They add up to `peak`.
  /// Where most is alive; null if no function needs anything.
  mlir::LocationAttr peakAt;

  // Of a module that is not placed.
  std::vector<AliveBuffer> alive; ///< at the peak, in the order in which they begin
  std::vector<Point> points;      ///< in the order in which the functions run

  /// What an allocated module says of itself.
  static MemoryPlan ofAllocated(mlir::ModuleOp placed);
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_MEMORYPLAN_H
