// Maps a contraction to one matmul primitive of oneDNN.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_ONEDNN_LIBRARY_MATMUL_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_ONEDNN_LIBRARY_MATMUL_H

#include "runtime/calls/contraction/problem.h"
#include "runtime/devices/cpu/onednn.h"

#include <array>
#include <memory>

namespace mtc::runtime {

/// The maximum number of batch axes of one matmul.
constexpr size_t maxMatmulBatchAxes = DNNL_MAX_NDIMS - 2;

/// Element types. Accumulation is in f32.
struct MatmulTypes {
  dnnl_data_type_t operands, result;
  std::array<dnnl_data_type_t, MTC_MAX_ADDENDS> addends;
};

/// Plans a matmul over the last `inner` batch axes of the problem, including its addends, for
/// `threads` threads. Returns null if the library has no implementation, or only its reference one.
/// The operands are lhs, rhs, out and the addends.
std::unique_ptr<LibraryPrimitive> planMatmul(const ContractionProblem &problem, size_t inner,
                                             const MatmulTypes &types, bool accumulate,
                                             int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_ONEDNN_LIBRARY_MATMUL_H
