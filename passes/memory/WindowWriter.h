//===- WindowWriter.h - Launches over what lies in other spaces -------------------------------===//

#ifndef MTC_PASSES_MEMORY_WINDOWWRITER_H
#define MTC_PASSES_MEMORY_WINDOWWRITER_H

#include "ir/interfaces/TargetInfo.h"
#include "passes/kernels/KernelWindows.h"
#include "passes/memory/KernelOutliner.h"

namespace mtc {

/// Writes launches of kernels whose operands lie in other spaces than the device's: for each window
/// copies into a slot, the launch, and copies back, in this order.
class WindowWriter {
public:
  /// `slots` may be null: then no kernel can be written. They begin at `offset` of the arena.
  WindowWriter(TransferSlotsOp slots, int64_t offset, KernelOutliner &outliner)
      : slots(slots), offset(offset), outliner(outliner) {}

  /// Stands for how long a result of the kernel lives that is not in a slot.
  static constexpr int64_t asPlanned = -2;

  /// The kernel's operands, then its results, lie at `slices`. Writes at the end of the block, with
  /// the last uses of what lies in slots. Fails with a diagnostic where the kernel cannot run in
  /// windows of a slot.
  mlir::LogicalResult write(KernelOp kernel, mlir::ArrayRef<AtAttr> slices,
                            mlir::OpBuilder &builder);

private:
  /// A range in another space, of which each window has its part of a slot.
  struct Transfer {
    AtAttr slice;
    unsigned operand; ///< one of those that lie there
    bool isRead, isWritten;
  };
  mlir::FailureOr<mlir::SmallVector<Transfer>> findTransfers(KernelOp kernel,
                                                             mlir::ArrayRef<AtAttr> slices);

  TransferSlotsOp slots;
  int64_t offset;
  KernelOutliner &outliner;
  int64_t next = 0; ///< windows so far
};

/// Whether a slice lies in another space than the device's.
inline bool isElsewhere(AtAttr slice) { return slice.getSpace() != MemorySpace::Device; }

} // namespace mtc

#endif // MTC_PASSES_MEMORY_WINDOWWRITER_H
