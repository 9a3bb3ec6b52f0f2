// Matrix layouts of the emulated cuBLASLt, which are column-major.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_MATRIX_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_MATRIX_H

#include "runtime/devices/cuda/blas_lt.h"
#include "runtime/support/element_type.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace mtc::runtime::cuda {

struct MatrixLayoutObject {
  int type;
  int64_t rows, columns, leading;
  int32_t batch = 1;
  int64_t stride = 0;
};

/// Returns the MtcType of a library type.
inline uint32_t elementType(int type) {
  const auto *found = std::find_if(std::begin(blasTypes), std::end(blasTypes),
                                   [&](const BlasType &each) { return each.scalar == type; });
  return found == std::end(blasTypes) ? MTC_F32 : found->type;
}

/// Calls `use` for every contiguous run of elements, and returns the first error message.
template <typename Use>
std::string forEachRun(const MatrixLayoutObject &matrix, char *start, const Use &use) {
  const int64_t element = typeBytes(elementType(matrix.type));
  const bool isDense = matrix.leading == matrix.rows;
  const int64_t runs = isDense ? 1 : matrix.columns,
                bytes = (isDense ? matrix.rows * matrix.columns : matrix.rows) * element;
  for (int64_t entry = 0; entry < (matrix.stride ? matrix.batch : 1); ++entry)
    for (int64_t i = 0; i < runs; ++i) {
      std::string fault =
          use(start + (entry * matrix.stride + i * matrix.leading) * element, bytes);
      if (!fault.empty())
        return "cuBLASLt: " + fault;
    }
  return "";
}

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_MATRIX_H
