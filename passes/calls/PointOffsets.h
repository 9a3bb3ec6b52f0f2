//===- PointOffsets.h - Where a kernel's points lie in dense memory ---------------------------===//

#ifndef MTC_PASSES_CALLS_POINTOFFSETS_H
#define MTC_PASSES_CALLS_POINTOFFSETS_H

#include "ir/Mtc.h"

#include "mlir/IR/AffineMap.h"

#include <optional>

namespace mtc {

/// The element of a dense tensor that each point of a space reads or writes: number
/// `offset + sum of steps[d] * d`. Dims of extent 1 have step 0.
struct PointOffsets {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> steps;

  bool operator==(const PointOffsets &other) const {
    return offset == other.offset && steps == other.steps;
  }
};

/// Nothing where the offset is not linear in the point.
std::optional<PointOffsets> offsetsOf(mlir::AffineMap map, llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<int64_t> space);

/// How a tensor of `shape` that lies densely by `own` would be read where `other` is read: the
/// layout, in the other's memory, of the elements that belong to the same points. `own` must reach
/// each of the tensor's elements once. Nothing where strides cannot say it.
std::optional<StridedLayout> layoutAt(const PointOffsets &other, const PointOffsets &own,
                                      llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> space);

} // namespace mtc

#endif // MTC_PASSES_CALLS_POINTOFFSETS_H
