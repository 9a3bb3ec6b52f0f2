//===- BufferAssignment.h - Assignment of values to buffers -----------------------------------===//

#ifndef MTC_PASSES_MEMORY_BUFFERASSIGNMENT_H
#define MTC_PASSES_MEMORY_BUFFERASSIGNMENT_H

#include "passes/memory/ArenaLayout.h"
#include "passes/memory/ArgumentLayout.h"
#include "passes/memory/MicroStepSplit.h"
#include "passes/memory/Schedule.h"
#include "passes/memory/VariableLayout.h"

#include "llvm/ADT/MapVector.h"

namespace mtc {

/// Module-wide layouts and target on which buffer assignment depends.
struct MemoryContext {
  const VariableLayout &variables;
  const ArgumentLayout &arguments;
  const TargetInfo &target;
  /// Bytes of the temporaries of each scan's body, by symbol.
  const llvm::DenseMap<mlir::Attribute, int64_t> &bodies;
  /// Whether the module has messages, and may have micro-steps to split.
  bool hasMessages = false;
};

/// Returns whether each slice of a stacked value is aligned if the first one is.
bool isAlignedSlice(mlir::Value slice);

/// The buffers of a function. A view shares its source's buffer. A result reuses the buffer of an
/// operand that is dead after the operation, if this is legal, and a value that is written to a
/// variable uses the variable's buffer. In the body of a scan, states, slices and captured values
/// are in the buffers of the scan's operands and results; slices that are not aligned are copied to
/// and from temporaries. The saved values of a micro-step that will be split are in slots. The
/// buffer of each value and the scratch of each operation are stored in `PlannedValue` and
/// `PlannedOperation`.
struct BufferAssignment {
  /// Assigns buffers to the values of `function`. `order` is the schedule of the function,
  /// `arguments` are its arguments. `split` is null unless the function will be split.
  static BufferAssignment compute(mlir::func::FuncOp function,
                                  mlir::ArrayRef<PlannedOperation *> order,
                                  mlir::MutableArrayRef<PlannedValue> arguments,
                                  const PlannedAccesses &accesses, const MemoryContext &context,
                                  const MicroStepSplit *split);

  /// Buffers without a fixed offset, with live ranges in schedule positions: on the device, and in
  /// the memory space that values are offloaded to.
  mlir::SmallVector<LiveBuffer, 0> temporaries, movedAway;
  /// Buffers of the transient variables that the function writes, by symbol.
  llvm::MapVector<mlir::Attribute, Buffer> transients;
  /// Bytes of each slot that the split of the function will add, with all of its copies.
  mlir::SmallVector<int64_t, 0> slots;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_BUFFERASSIGNMENT_H
