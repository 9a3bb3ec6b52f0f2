// Contractions in the simplest equivalent form, in which layouts that a library runs at full
// throughput are easier to recognize.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_PROBLEM_H
#define MTC_RUNTIME_CALLS_CONTRACTION_PROBLEM_H

#include "runtime/abi/contraction.h"

#include <array>
#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// One batch dimension: its extent and the stride of each tensor, in elements (0: broadcast).
struct BatchAxis {
  int64_t extent, lhs, rhs, out;
  std::array<int64_t, MTC_MAX_ADDENDS> addends{};
};

/// One matrix of a tensor, for one batch entry.
struct MatrixLayout {
  int64_t rows, columns, rowStride, columnStride;

  /// Returns whether the matrix is row-major or column-major with a leading dimension that
  /// libraries accept.
  bool isPlain() const {
    return (columnStride == 1 && rowStride >= columns) || (rowStride == 1 && columnStride >= rows);
  }
  bool isRowMajor() const { return columnStride == 1 && rowStride >= columns; }
};

/// out[b.., m, n] (+)= sum over k of lhs[b.., m, k] * rhs[b.., k, n] + addends[b.., m, n].
/// Addends are added in order, and the previous contents of out last: whether a sum is computed in
/// place, which the memory plan decides, must not change its bits. A library may add a bias first.
struct ContractionProblem {
  std::vector<BatchAxis> batch;
  MatrixLayout lhs, rhs, out;
  std::vector<MatrixLayout> addends; ///< a stride of 0 broadcasts along rows or columns
  bool swapped = false; ///< lhs and rhs are exchanged: the problem is the transposed multiplication

  int64_t m() const { return out.rows; }
  int64_t n() const { return out.columns; }
  int64_t k() const { return lhs.columns; }
  int64_t entries() const;
  bool isEmpty() const { return m() == 0 || n() == 0 || entries() == 0; }
};

/// Returns an equivalent contraction in canonical form:
///
/// - Batch dimensions of extent 1 are removed.
/// - A dimension along which one operand is broadcast is collapsed into m or n if the strides allow
///   it.
/// - Batch dimensions are sorted by decreasing stride and collapsed if the strides allow it.
/// - The multiplication is transposed if that makes the result row-major.
/// - Dimensions of extent 1 have dense strides.
ContractionProblem simplifyContraction(const MtcContraction &contraction);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_PROBLEM_H
