//===- SlotRing.h - Slots of windows of offloaded operands ------------------------------------===//

#ifndef MTC_PASSES_MEMORY_SLOTRING_H
#define MTC_PASSES_MEMORY_SLOTRING_H

#include "ir/Mtc.h"

namespace mtc {

/// A range of bytes of an arena, from the first to before the second offset.
using FreeRange = std::pair<int64_t, int64_t>;

/// Chooses the slot of each window: the least recently used one. More slots than the transfer slots
/// of the module let copies run further ahead of the kernels, and behind them.
class SlotRing {
public:
  /// `slots` may be null. They start at arena offset `offset`.
  SlotRing(TransferSlotsOp slots, int64_t offset);

  /// Sets the ranges of the arena that the following windows may use in addition to the transfer
  /// slots.
  void setFree(mlir::ArrayRef<FreeRange> ranges);
  /// Returns the offset of the next window's slot. There must be slots.
  int64_t takeNext();

private:
  /// Further slots shorten no wait: this number holds the largest matrices with their state.
  static constexpr size_t maxSlots = 32;

  int64_t bytes = 0;                             ///< of a slot
  mlir::SmallVector<int64_t> own;                ///< offsets of the transfer slots
  mlir::SmallVector<int64_t> usable;             ///< offsets, the least recently used first
  size_t next = 0;                               ///< index of the next window's slot
  llvm::SmallDenseMap<int64_t, int64_t> lastUse; ///< number of the last window, by offset
  int64_t count = 0;                             ///< windows so far
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_SLOTRING_H
