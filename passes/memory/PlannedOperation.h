//===- PlannedOperation.h - Cached analysis results of an operation ---------------------------===//
//
// Caches expensive analysis results of an operation until the operation changes. Decisions of
// the current plan are stored in the same objects, so that replanning only follows pointers and
// adds integers.
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

/// A buffer of a function: at a fixed offset (variables and arguments), or a temporary with a live
/// range whose offset the layout assigns.
struct Buffer {
  std::optional<int64_t> fixedOffset;
  unsigned temporary = 0; ///< index into the function's temporaries of `space`, if not fixed
  int64_t part = 0;       ///< offset within the temporary, for a tile of an assembled value
  MemorySpace space = MemorySpace::Device;
  /// In the body of a scan: the number of the scan's value that the buffer is a slice of, counting
  /// its operands and then its results. All iterations store a state in its final value.
  std::optional<unsigned> outer = std::nullopt;

  bool operator==(const Buffer &other) const = default;
};

/// A value with its own buffer: a function argument, or a result of an operation other than a view.
struct PlannedValue {
  PlannedValue(mlir::Value value, PlannedOperation *definition = nullptr)
      : value(value), definition(definition), bytes(bytesOf(value)) {}
  static int64_t bytesOf(mlir::Value value) {
    return paddedBytes(byteSize(mlir::cast<mlir::RankedTensorType>(value.getType())));
  }

  mlir::Value value;
  PlannedOperation *definition; ///< null for an argument
  int64_t bytes;                ///< padded size of the buffer

  // Decisions of the current plan.
  std::optional<Buffer> buffer;
  int64_t lastUse = 0;
  PlannedOperation *lastUser = nullptr; ///< in block order, variable writes excluded
  /// Operations that write the value to a variable.
  mlir::SmallVector<PlannedOperation *, 1> writers;
};

/// An operation of a function's block, with cached analysis results and its place in the plan.
struct PlannedOperation {
  explicit PlannedOperation(mlir::Operation *op);

  /// Analyzes the operation again. `find` returns the planned value for the root of a chain of
  /// views. Fails with a diagnostic if the operation has results but is neither a kernel nor a
  /// library call.
  mlir::LogicalResult refresh(llvm::function_ref<PlannedValue *(mlir::Value)> find);

  /// Returns whether the operation is a kernel with operands or results in a memory space other
  /// than its own, which is the device for kernels that do not run on the host.
  bool runsInWindows() const;
  /// Returns whether the operation is a kernel that the host runs while the device computes.
  bool isOnHost() const { return isKernel && mlir::cast<KernelOp>(op).getOnHost(); }
  /// Returns whether the result may be computed in place in the buffer of `operand`.
  bool mayShare(unsigned result, PlannedValue *operand);
  /// Returns the bytes of scratch, or a negative number if the target cannot run the call; for a
  /// scan, the bytes of the current plan. `accumulated` is the operand in whose buffer the first
  /// result is computed.
  int64_t getScratchBytes(const TargetInfo &target, std::optional<unsigned> accumulated);

  /// Returns whether the operation precedes `other` while writes are being scheduled.
  bool isBefore(const PlannedOperation &other) const { return path < other.path; }

  mlir::Operation *op;
  bool isStale = true; ///< the operation has changed since the last `refresh`
  bool isView;         ///< its users use its source
  bool isKernel;
  bool isMove;
  bool isCompute;  ///< kernel, library call, scan or move: its results need buffers
  bool isAssembly; ///< assembles tiles, which are computed in or copied to its result's buffer
  /// Returns whether the operation computes, copies or returns, that is, does work at run time.
  bool takesTime() const {
    return isCompute || isAssembly || !written.empty() ||
           op->hasTrait<mlir::OpTrait::IsTerminator>();
  }
  mlir::SmallVector<PlannedValue, 1> results;    ///< empty for a view
  mlir::SmallVector<PlannedValue *, 4> operands; ///< roots of the operands' view chains
  mlir::SmallVector<mlir::FlatSymbolRefAttr, 1> read, written; ///< variables
  /// Plan of a kernel, set by `getScratchBytes`. Null if the module has no target.
  KernelPlanAttrInterface kernelPlan;

  // Decisions of the current plan.
  /// Sort key of the operation: its index in the block, or for a moved operation the path of the
  /// operation it follows and a sequence number. Of several operations moved after the same one,
  /// the most recently moved runs first.
  mlir::SmallVector<int64_t, 2> path;
  /// Writes that were moved after this operation.
  mlir::SmallVector<PlannedOperation *, 0> movedAfter;
  int64_t time = 0; ///< position in the function's schedule
  /// For a write: whether the value is computed directly in the variable's buffer.
  bool isComputedInPlace = false;
  Buffer scratch;
  int64_t scratchBytes = 0; ///< 0 if the operation needs no scratch

private:
  llvm::SmallDenseMap<std::pair<unsigned, PlannedValue *>, bool, 2> sharing;
  std::optional<std::pair<std::optional<unsigned>, int64_t>> scratchAnswer;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_PLANNEDOPERATION_H
