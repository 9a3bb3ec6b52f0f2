//===- BufferAssignment.h - Which buffer holds each value of a function -----------------------===//

#ifndef MTC_PASSES_MEMORY_BUFFERASSIGNMENT_H
#define MTC_PASSES_MEMORY_BUFFERASSIGNMENT_H

#include "passes/memory/ArenaLayout.h"
#include "passes/memory/ArgumentLayout.h"
#include "passes/memory/Schedule.h"
#include "passes/memory/VariableLayout.h"

#include "llvm/ADT/MapVector.h"

namespace mtc {

/// What the functions of a module are assigned buffers with.
struct MemoryContext {
  const VariableLayout &variables;
  const ArgumentLayout &arguments;
  const TargetInfo &target;
};

/// The buffers of a function: views share their source's, results that of an operand that dies
/// there where they may, values written to a variable that of the variable. Which one holds a
/// value, and the scratch of an operation, stand in `PlannedValue` and `PlannedOperation`.
struct BufferAssignment {
  /// `order` is the function's schedule; `arguments` are its arguments.
  static BufferAssignment compute(mlir::func::FuncOp function,
                                  mlir::ArrayRef<PlannedOperation *> order,
                                  mlir::MutableArrayRef<PlannedValue> arguments,
                                  const PlannedAccesses &accesses, const MemoryContext &context);

  /// The buffers that are not fixed, in times of the schedule: on the device, and in the space that
  /// values are moved to.
  mlir::SmallVector<LiveBuffer, 0> temporaries, movedAway;
  /// The buffers of the transient variables that the function writes, by symbol.
  llvm::MapVector<mlir::Attribute, Buffer> transients;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_BUFFERASSIGNMENT_H
