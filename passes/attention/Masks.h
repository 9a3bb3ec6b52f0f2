//===- Masks.h - What is known of a mask of scores --------------------------------------------===//

#ifndef MTC_PASSES_ATTENTION_MASKS_H
#define MTC_PASSES_ATTENTION_MASKS_H

#include "ir/builders/TensorBuilder.h"

#include <optional>

namespace mtc {

/// `value` with an extent of 1 along each of `axes` along which it is the same at every index, as
/// far as that shows.
mlir::Value shrink(TensorBuilder &b, mlir::Value value, mlir::ArrayRef<int64_t> axes);

/// What a value is reshaped from: it has the same elements in the same order.
mlir::Value sameElements(mlir::Value value);

/// Where a boolean tensor [.., M, N], with extents of 1 before, of as many rows as there are
/// `queries`, is true exactly where j <= i + k, this k; nothing where it is not, or where that is
/// not known when the model is compiled. With `negated`, false exactly there.
std::optional<int64_t> causalOffset(mlir::Value mask, int64_t queries, bool negated = false);

/// The same for a bias that is 0 there and -inf, or not far from the least number, elsewhere.
std::optional<int64_t> causalOffsetOfBias(mlir::Value bias, int64_t queries);

/// Whether each row that a causal mask of this offset leaves has a key.
inline bool leavesEveryRow(int64_t offset) { return offset >= 0; }

/// The value of every element, where it is a constant splat.
std::optional<double> splatOf(mlir::Value value);

/// A number that, added to a score or put in its place, leaves the key out of any row that has
/// another: -inf, or a finite one of which this is so for all scores that do not overflow.
bool leavesOut(double number);

} // namespace mtc

#endif // MTC_PASSES_ATTENTION_MASKS_H
