//===- AxisParts.h - Parts of tensors along an axis -------------------------------------------===//

#ifndef MTC_PASSES_SHARDING_AXISPARTS_H
#define MTC_PASSES_SHARDING_AXISPARTS_H

#include "ir/builders/TensorBuilder.h"

namespace mtc {

/// Returns a tensor with `padding` zeros after each of `outer` blocks of an axis.
mlir::Value padBlocks(TensorBuilder &b, mlir::Value x, int64_t axis, int64_t outer,
                      int64_t padding);
/// Returns a tensor without the last `padding` elements of each of `outer` blocks of an axis.
mlir::Value dropPadding(TensorBuilder &b, mlir::Value x, int64_t axis, int64_t outer,
                        int64_t padding);
/// Returns the whole tensor, on every rank of the split's group, from the part that each of them
/// has. Without a split, returns `part`. The elements of `whole` may have another type.
mlir::Value gatherParts(TensorBuilder &b, mlir::Value part, mlir::RankedTensorType whole,
                        AxisSplitAttr split);
/// Returns this rank's part of a tensor that every rank of the split's group has. Without a split,
/// returns `whole`.
mlir::Value takePart(TensorBuilder &b, mlir::Value whole, AxisSplitAttr split);
/// Returns this rank's part of a tensor along the axis of `to` from its part along that of `from`,
/// another axis. Both are splits among one group.
mlir::Value reshardPart(TensorBuilder &b, mlir::Value part, AxisSplitAttr from, AxisSplitAttr to);
/// Returns a sum by a gather on one rank, which separates the kernel that adds it up: the order of
/// its terms does not depend on operations that use the sum.
mlir::Value separateSum(TensorBuilder &b, mlir::Value sum);

} // namespace mtc

#endif // MTC_PASSES_SHARDING_AXISPARTS_H
