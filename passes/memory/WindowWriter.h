//===- WindowWriter.h - Windowed kernel launches for offloaded operands -----------------------===//

#ifndef MTC_PASSES_MEMORY_WINDOWWRITER_H
#define MTC_PASSES_MEMORY_WINDOWWRITER_H

#include "ir/interfaces/TargetInfo.h"
#include "passes/kernels/KernelWindows.h"
#include "passes/memory/KernelOutliner.h"
#include "passes/memory/SlotRing.h"

namespace mtc {

/// Emits launches of kernels with operands in other memory spaces than their own. Each window of
/// rows is emitted as copies into a slot, a launch, and copies back, in this order.
class WindowWriter {
public:
  /// `slots` are those in the kernels' own memory space, at arena offset `offset`. They may be
  /// null, in which case `write` always fails.
  WindowWriter(MemorySpace own, TransferSlotsOp slots, int64_t offset, KernelOutliner &outliner)
      : own(own), slots(slots), ring(slots, offset), outliner(outliner) {}

  /// Sets the ranges of the arena that are free around the next kernel. Its windows use them as
  /// further slots.
  void setFree(mlir::ArrayRef<FreeRange> ranges) { ring.setFree(ranges); }

  /// Returns whether a slice is in another memory space than the kernels.
  bool isElsewhere(AtAttr slice) const { return slice.getSpace() != own; }

  /// Marks the last use of a result that is not stored in a slot, to which the planned live range
  /// applies.
  static constexpr int64_t asPlanned = -2;

  /// Emits the launches at the end of the block, which has `length` operations, and sets the last
  /// uses of values in slots. `slices` are the slices of the kernel's operands, then of its
  /// results. Fails with a diagnostic if the kernel cannot run in windows that fit in a slot.
  mlir::LogicalResult write(KernelOp kernel, mlir::ArrayRef<AtAttr> slices, int64_t length,
                            mlir::OpBuilder &builder);

private:
  /// A range in another memory space that is staged through a slot, window by window.
  struct Transfer {
    AtAttr slice;
    unsigned operand; ///< one of the operands or results stored in this range
    bool isRead, isWritten;
  };
  mlir::FailureOr<mlir::SmallVector<Transfer>> findTransfers(KernelOp kernel,
                                                             mlir::ArrayRef<AtAttr> slices);
  struct Plan;
  static std::string findObstacle(const Plan &plan);
  bool chooseRows(Plan &plan);
  KernelFunctionOp outline(const Plan &plan, int64_t begin, int64_t count,
                           mlir::OpBuilder &builder);
  mlir::SmallVector<AtAttr> stage(const Plan &plan, int64_t begin, int64_t count, int64_t at) const;
  /// Emits the copies and the launch of a window at the end of the block, and adds their number to
  /// the length of the block.
  void emitWindow(const Plan &plan, KernelFunctionOp function, int64_t begin, int64_t count,
                  int64_t &length, mlir::OpBuilder &builder);

  MemorySpace own;
  TransferSlotsOp slots;
  SlotRing ring;
  KernelOutliner &outliner;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_WINDOWWRITER_H
