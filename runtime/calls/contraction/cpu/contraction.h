// Contraction calls of the target `cpu`. Each is planned once and run in every step.
//
// oneDNN's matmul executes them. Measured with 2.6.3 on AVX-512: dense operands, transposed or with
// permuted batch dimensions, use the fast path (`brg`). Operands with gaps between rows use
// `gemm:jit`, which is as fast but allocates its own buffers. A result that is not row-major, a
// broadcast batch or a matrix without a unit stride would use `ref`, which is 700 times slower. To
// avoid `ref`, the problem is simplified, split into batch entries, or packed first.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_CONTRACTION_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_CONTRACTION_H

#include "runtime/abi/contraction.h"
#include "runtime/devices/cpu/library_call.h"

#include <memory>

namespace mtc::runtime {

extern const CallKind contractionCalls;

/// Plans a call for exactly `threads` threads. See LibraryCall::create.
std::unique_ptr<LibraryCall> createContraction(const MtcContraction &contraction, int threads,
                                               bool executable = true);

/// Returns whether the plain loops of a generated kernel are faster. Measured with oneDNN 2.6.3 on
/// AVX-512, one thread: 1024 multiplications of 4x4 or 6x6 matrices take 0.3 of the library's time,
/// those of 8x8 matrices nine times the library's time. A matrix of 1024 rows times a vector takes
/// 0.06 to 0.74 if the reduction is contiguous in memory; sums of two terms take 0.1 to 0.4.
bool isFasterAsKernel(const MtcContraction &contraction);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_CONTRACTION_H
