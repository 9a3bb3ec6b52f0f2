// Copies between strided and dense tensors, for contractions whose layout no library supports.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_STRIDED_COPY_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_STRIDED_COPY_H

#include "runtime/calls/contraction/problem.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// A batch of matrices: extents, and strides in elements; the last two axes are the matrix.
struct StridedTensor {
  std::vector<int64_t> extents, strides;
};

/// Copies destination[i..] = source[i..] for elements of 2 or 4 bytes. Both tensors have the same
/// extents.
void copyStrided(const StridedTensor &source, const char *from, const StridedTensor &destination,
                 char *to, int elementBytes, int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_STRIDED_COPY_H
