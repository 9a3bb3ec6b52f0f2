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

/// Whether the library chooses the layout of an operand.
struct ChosenLayouts {
  bool lhs = false, rhs = false;
};

/// A matmul, and the copies of its operands that it reads. A copy is null if the operand is read in
/// place.
struct LibraryMatmul {
  std::unique_ptr<LibraryPrimitive> primitive, lhsCopy, rhsCopy;
  int64_t lhsCopyBytes = 0, rhsCopyBytes = 0;
};

/// Plans a matmul over the last `inner` batch axes of the problem, including its addends, for
/// `threads` threads. The primitive is null if the library has no implementation, or only its
/// reference one. Its operands are lhs, rhs, out and the addends.
LibraryMatmul planMatmul(const ContractionProblem &problem, size_t inner, const MatmulTypes &types,
                         bool accumulate, ChosenLayouts chosen, int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_ONEDNN_LIBRARY_MATMUL_H
