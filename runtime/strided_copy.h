// Copies between strided and dense tensors, for contractions whose layout no library takes.
#ifndef MTC_RUNTIME_STRIDED_COPY_H
#define MTC_RUNTIME_STRIDED_COPY_H

#include "runtime/contraction_problem.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// A batch of matrices: extents and strides in elements, the matrix's two last.
struct StridedTensor {
  std::vector<int64_t> extents, strides;
};

/// destination[i..] = source[i..], or += with `add` (elements of 4 or 8 bytes that are floating
/// then; of 2, 4 or 8 bytes otherwise). Both have the same extents.
void copyStrided(const StridedTensor &source, const char *from, const StridedTensor &destination,
                 char *to, int elementBytes, bool add, int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STRIDED_COPY_H
