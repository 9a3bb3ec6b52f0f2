//===- IterationOffsets.h - Element offsets of a kernel's iterations --------------------------===//

#ifndef MTC_PASSES_CALLS_ITERATIONOFFSETS_H
#define MTC_PASSES_CALLS_ITERATIONOFFSETS_H

#include "ir/Mtc.h"

#include "mlir/IR/AffineMap.h"

#include <optional>

namespace mtc {

/// The element of a dense tensor that each iteration of an iteration space reads or writes: its
/// number is `offset + sum of steps[d] * d`. Dims of size 1 have step 0.
struct IterationOffsets {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> steps;

  bool operator==(const IterationOffsets &other) const {
    return offset == other.offset && steps == other.steps;
  }
};

/// Returns the offsets of the elements that `map` accesses; nothing if they are not linear in the
/// iteration.
std::optional<IterationOffsets> offsetsOf(mlir::AffineMap map, llvm::ArrayRef<int64_t> shape,
                                          llvm::ArrayRef<int64_t> space);

/// A tensor of `shape` is stored densely, and a kernel accesses it at `own` and another memory at
/// `other`. Returns the strided layout of the tensor in the other memory, such that the same
/// iteration accesses the same element. `own` must visit each element of the tensor once. Returns
/// nothing if no strides represent the layout.
std::optional<StridedLayout> layoutAt(const IterationOffsets &other, const IterationOffsets &own,
                                      llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> space);

} // namespace mtc

#endif // MTC_PASSES_CALLS_ITERATIONOFFSETS_H
