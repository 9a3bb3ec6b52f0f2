//===- PlannedOperation.h - What planning memory knows of an operation ------------------------===//
//
// What is costly to find out about an operation is read from it once and kept until the operation
// changes. What a plan decides stands beside it, so that a new plan only follows pointers and adds
// integers.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_MEMORY_PLANNEDOPERATION_H
#define MTC_PASSES_MEMORY_PLANNEDOPERATION_H

#include "ir/Mtc.h"
#include "ir/interfaces/TargetInfo.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace mtc {

struct PlannedOperation;

/// A buffer of a function: fixed (of a variable, an argument), or with a lifetime, to be laid out.
struct Buffer {
  std::optional<int64_t> fixedOffset;
  unsigned temporary = 0; ///< index into the function's temporaries of the space where not fixed
  int64_t part = 0; ///< where in the temporary it begins: of a tile of what is assembled there
  MemorySpace space = MemorySpace::Device;

  bool operator==(const Buffer &other) const = default;
};

/// A value with a buffer: an argument of the function, or a result of an operation that is no view.
struct PlannedValue {
  PlannedValue(mlir::Value value, PlannedOperation *definition = nullptr)
      : value(value), definition(definition), bytes(bytesOf(value)) {}
  static int64_t bytesOf(mlir::Value value) {
    return paddedBytes(byteSize(mlir::cast<mlir::RankedTensorType>(value.getType())));
  }

  mlir::Value value;
  PlannedOperation *definition; ///< null: an argument
  int64_t bytes;                ///< of its buffer

  // What the plan decides.
  std::optional<Buffer> buffer;
  int64_t lastUse = 0;
  PlannedOperation *lastReader = nullptr; ///< in the text's order, of those that write no variable
  mlir::SmallVector<PlannedOperation *, 1> writers; ///< operations that write it to a variable
};

/// An operation of a function's block.
struct PlannedOperation {
  explicit PlannedOperation(mlir::Operation *op);

  /// Reads the operation anew. `find` gives the value that is read through views of it. Fails with
  /// a diagnostic at an operation that is neither a kernel nor a library call, and has results.
  mlir::LogicalResult refresh(llvm::function_ref<PlannedValue *(mlir::Value)> find);

  /// Whether it is a kernel that reads or writes what lies in other spaces than the device's.
  bool runsInWindows() const;
  /// Whether the result may be computed in the buffer of an operand.
  bool mayShare(unsigned result, PlannedValue *operand);
  /// Bytes of the scratch, negative where the target cannot run the call. `accumulated` names the
  /// operand in whose buffer the first result is computed.
  int64_t getScratchBytes(const TargetInfo &target, std::optional<unsigned> accumulated);

  /// Whether it runs before another operation, while writes are being scheduled.
  bool isBefore(const PlannedOperation &other) const { return path < other.path; }

  mlir::Operation *op;
  bool isStale = true; ///< the operation has changed since it was read
  bool isCompute;      ///< a kernel, a library call or a move, whose results need buffers
  bool isAssembly;     ///< tiles that lie in its result's buffer, or are copied there
  /// Whether it computes, copies or returns.
  bool takesTime() const {
    return isCompute || isAssembly || !written.empty() ||
           op->hasTrait<mlir::OpTrait::IsTerminator>();
  }
  mlir::SmallVector<PlannedValue, 1> results;    ///< none of a view
  mlir::SmallVector<PlannedValue *, 4> operands; ///< those that the operands are views of
  mlir::SmallVector<mlir::FlatSymbolRefAttr, 1> read, written; ///< variables
  /// Of a kernel, from when its scratch was asked for; null where the module names no target.
  KernelPlanAttrInterface kernelPlan;

  // What the plan decides.
  /// The number of the operation in the block or, if it was moved, the path of what it runs after
  /// and its turn there. What was moved last comes first.
  mlir::SmallVector<int64_t, 2> path;
  mlir::SmallVector<PlannedOperation *, 0> movedAfter; ///< writes that were moved after it
  int64_t time = 0;                                    ///< in the function's schedule
  bool isComputedInPlace = false; ///< a write whose value is computed in the variable's buffer
  Buffer scratch;
  int64_t scratchBytes = 0; ///< 0 without scratch

private:
  llvm::SmallDenseMap<std::pair<unsigned, PlannedValue *>, bool, 2> sharing;
  std::optional<std::pair<std::optional<unsigned>, int64_t>> scratchAnswer;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_PLANNEDOPERATION_H
