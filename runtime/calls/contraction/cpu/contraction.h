// One contraction, prepared once and run in every step.
//
// oneDNN's matmul runs it. Measured with 2.6.3 on AVX-512: dense operands, transposed or with
// permuted batch dimensions, take its fast path (`brg`); operands with gaps between rows take
// `gemm:jit`, as fast but with buffers of its own; a result that is not row-major, a broadcast
// batch or a matrix without a unit stride would take `ref`, 700 times slower. The last group never
// reaches the library: the problem is simplified, cut into entries of the batch, or packed first.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_CONTRACTION_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_CONTRACTION_H

#include "runtime/abi/contraction.h"
#include "runtime/devices/cpu/library_call.h"

#include <memory>

namespace mtc::runtime {

extern const CallKind contractionCalls;

/// Plans for exactly `threads` threads. See LibraryCall::create.
std::unique_ptr<LibraryCall> createContraction(const MtcContraction &contraction, int threads,
                                               bool executable = true);

/// Whether plain loops of a generated kernel are faster. Measured with oneDNN 2.6.3 on AVX-512, one
/// thread: 1024 products of 4x4 or 6x6 matrices take 0.3 of the library's time, those of 8x8 nine
/// times as long; a matrix of 1024 rows times a vector 0.06 to 0.74 where the sum runs through
/// memory in order; sums of two terms 0.1 to 0.4.
bool isFasterAsKernel(const MtcContraction &contraction);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_CONTRACTION_H
