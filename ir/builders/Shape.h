//===- Shape.h - Arithmetic on extents and axes, for verifiers, folders and rules -------------===//

#ifndef MTC_IR_BUILDERS_SHAPE_H
#define MTC_IR_BUILDERS_SHAPE_H

#include "ir/Mtc.h"
#include <optional>
#include <string>

namespace mtc {

/// "[1, 2]": a list as messages show it.
std::string toText(mlir::ArrayRef<int64_t> values);

/// Whether axes ascend strictly and lie in [0, rank).
bool ascendWithin(mlir::ArrayRef<int64_t> axes, int64_t rank);

/// The axes of [0, rank) that `axes` lacks, ascending.
mlir::SmallVector<int64_t> otherAxes(int64_t rank, mlir::ArrayRef<int64_t> axes);

/// `shape` without the extents of `axes`.
mlir::SmallVector<int64_t> withoutAxes(mlir::ArrayRef<int64_t> shape, mlir::ArrayRef<int64_t> axes);

/// `values[i]` for each i of `places`.
mlir::SmallVector<int64_t> pick(mlir::ArrayRef<int64_t> values, mlir::ArrayRef<int64_t> places);

/// The number of elements, or nothing where it does not fit into 64 bits.
std::optional<int64_t> countElements(mlir::ArrayRef<int64_t> shape);

/// What a reduction over dimensions of a space is; those of extent 1 make no difference.
FusibleShape shapeOfReduction(mlir::ArrayRef<int64_t> space, mlir::ArrayRef<int64_t> reduced);

/// Distances, in elements, between neighbours along each axis of a dense row-major tensor.
mlir::SmallVector<int64_t> rowMajorStrides(mlir::ArrayRef<int64_t> shape);

/// Folds a movement of a constant: the result's element at index i is the source's element number
/// that the layout says. A splat stays a splat; other constants are moved up to 1024 elements. Null
/// if `source` is no such constant.
mlir::Attribute foldStrided(mlir::Attribute source, mlir::RankedTensorType result,
                            const StridedLayout &layout);

/// The splat of `source`'s value with the result's type; null if `source` is no splat.
mlir::Attribute foldSplat(mlir::Attribute source, mlir::RankedTensorType result);

} // namespace mtc

#endif // MTC_IR_BUILDERS_SHAPE_H
