//===- Masks.h - Analysis of attention masks --------------------------------------------------===//
//
// Proves properties of masks and biases from constant data or from the comparison of positions that
// computes them: invariance along axes, causality, and whether a value masks a key completely.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_ATTENTION_MASKS_H
#define MTC_PASSES_ATTENTION_MASKS_H

#include "ir/builders/TensorBuilder.h"

#include <optional>

namespace mtc {

/// Returns `value` with size 1 along each of `axes` along which it is provably constant.
mlir::Value shrink(TensorBuilder &b, mlir::Value value, mlir::ArrayRef<int64_t> axes);

/// Returns the value that `value` is reshaped from, with the same elements in the same order.
mlir::Value sameElements(mlir::Value value);

/// Returns k if the boolean tensor [1, .., queries, keys] is true exactly where j <= i + k, for
/// query i and key j. Returns nothing if there is no such k or it cannot be proven at compile time.
/// With `negated`, the tensor is false exactly there.
std::optional<int64_t> causalOffset(mlir::Value mask, int64_t queries, bool negated = false);

/// Causal offsets of constant biases. The layers of a model share large biases, each of which is
/// scanned once.
class CausalBiases {
public:
  /// Returns k if the bias is 0 exactly where j <= i + k and elsewhere a value that `leavesOut`
  /// accepts.
  std::optional<int64_t> offsetOf(mlir::Value bias, int64_t queries);

private:
  /// The results, by the elements and the number of queries.
  llvm::DenseMap<std::pair<mlir::Attribute, int64_t>, std::optional<int64_t>> known;
};

/// Returns whether a causal mask with this offset selects at least one key for every query.
inline bool leavesEveryRow(int64_t offset) { return offset >= 0; }

/// Returns the common value of all elements if the value is a constant splat.
std::optional<double> splatOf(mlir::Value value);

/// Returns whether a number that is added to a score, or replaces it, masks the key in every row
/// that has an unmasked key. This holds for -inf, and for finite numbers that mask every score
/// without overflow.
bool leavesOut(double number);

} // namespace mtc

#endif // MTC_PASSES_ATTENTION_MASKS_H
