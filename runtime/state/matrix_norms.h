// Norms of matrices, for adapters with a magnitude (DoRA).
#ifndef MTC_RUNTIME_STATE_MATRIX_NORMS_H
#define MTC_RUNTIME_STATE_MATRIX_NORMS_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// The Euclidean norms of a row-major matrix of floats over `axis`, computed in f64.
class MatrixNorms {
public:
  MatrixNorms(uint32_t axis, const MtcTensor &matrix);

  /// Adds elements from byte `at` of the matrix on. Each element must be added once, in order.
  void add(const char *elements, int64_t at, int64_t bytes);
  std::vector<double> norms() const;

private:
  uint32_t axis, type;
  int64_t columns;
  std::vector<double> squares;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_MATRIX_NORMS_H
