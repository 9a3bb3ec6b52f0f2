//===- Shape.h - Arithmetic on extents and axes -----------------------------------------------===//
//
// Verifiers, folders, canonicalization and gradient rules use these functions.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_BUILDERS_SHAPE_H
#define MTC_IR_BUILDERS_SHAPE_H

#include "ir/Mtc.h"
#include <optional>
#include <string>

namespace mtc {

/// Formats a list for messages: "[1, 2]".
std::string toText(mlir::ArrayRef<int64_t> values);

/// Returns whether axes ascend strictly and are within [0, rank).
bool ascendWithin(mlir::ArrayRef<int64_t> axes, int64_t rank);

/// Returns the axes of [0, rank) that are not in `axes`, ascending.
mlir::SmallVector<int64_t> otherAxes(int64_t rank, mlir::ArrayRef<int64_t> axes);

/// Returns `shape` without the extents of `axes`.
mlir::SmallVector<int64_t> withoutAxes(mlir::ArrayRef<int64_t> shape, mlir::ArrayRef<int64_t> axes);

/// Returns `values[i]` for each i in `places`.
mlir::SmallVector<int64_t> pick(mlir::ArrayRef<int64_t> values, mlir::ArrayRef<int64_t> places);

/// Returns the number of elements, or nullopt if it does not fit into 64 bits.
std::optional<int64_t> countElements(mlir::ArrayRef<int64_t> shape);

/// Returns the kernel shape of a reduction over dimensions of a space; dimensions of extent 1 are
/// ignored.
FusibleShape shapeOfReduction(mlir::ArrayRef<int64_t> space, mlir::ArrayRef<int64_t> reduced);

/// Returns the strides, in elements, of a dense row-major tensor.
mlir::SmallVector<int64_t> rowMajorStrides(mlir::ArrayRef<int64_t> shape);

/// Folds a data movement of a constant: the result's element at index i is the source's element at
/// the offset that `layout` assigns to i. A splat remains a splat; other constants are folded up to
/// 1024 elements. Returns null if `source` is not such a constant.
mlir::Attribute foldStrided(mlir::Attribute source, mlir::RankedTensorType result,
                            const StridedLayout &layout);

/// Returns the splat of `source`'s value with the result's type; null if `source` is not a splat.
mlir::Attribute foldSplat(mlir::Attribute source, mlir::RankedTensorType result);

} // namespace mtc

#endif // MTC_IR_BUILDERS_SHAPE_H
