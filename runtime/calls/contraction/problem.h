// A contraction in the simplest equivalent form: what a library can run at full throughput is
// easier to see there.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_PROBLEM_H
#define MTC_RUNTIME_CALLS_CONTRACTION_PROBLEM_H

#include "runtime/abi/contraction.h"

#include <array>
#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// One batch dimension: its extent and the strides of the tensors, in elements (0: broadcast).
struct BatchAxis {
  int64_t extent, lhs, rhs, out;
  std::array<int64_t, MTC_MAX_ADDENDS> addends{};
};

/// One matrix of a tensor as the batch's entry sees it.
struct MatrixLayout {
  int64_t rows, columns, rowStride, columnStride;

  /// Whether it is a row-major or a column-major matrix with a leading dimension that libraries
  /// take.
  bool isPlain() const {
    return (columnStride == 1 && rowStride >= columns) || (rowStride == 1 && columnStride >= rows);
  }
  bool isRowMajor() const { return columnStride == 1 && rowStride >= columns; }
};

/// out[b.., m, n] (+)= sum over k of lhs[b.., m, k] * rhs[b.., k, n] + addends[b.., m, n].
struct ContractionProblem {
  std::vector<BatchAxis> batch;
  MatrixLayout lhs, rhs, out;
  std::vector<MatrixLayout> addends; ///< a stride of 0: the same along rows or columns
  bool swapped = false; ///< lhs and rhs are exchanged: the transposed product is computed

  int64_t m() const { return out.rows; }
  int64_t n() const { return out.columns; }
  int64_t k() const { return lhs.columns; }
  int64_t entries() const;
  bool isEmpty() const { return m() == 0 || n() == 0 || entries() == 0; }
};

/// The same contraction with: no batch dimension of extent 1; a dimension along which one operand
/// is broadcast joined to m or n where strides allow; batch dimensions in order of falling strides
/// and merged where strides allow; the transposed product where that makes the result row-major;
/// dense strides for extents of 1.
ContractionProblem simplifyContraction(const MtcContraction &contraction);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_PROBLEM_H
