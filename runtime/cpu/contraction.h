// One contraction, prepared once and run in every step.
//
// oneDNN's matmul runs it. Measured with 2.6.3 on AVX-512: dense operands, transposed or with
// permuted batch dimensions, take its fast path (`brg`); operands with gaps between rows take
// `gemm:jit`, as fast but with buffers of its own; a result that is not row-major, a broadcast
// batch or a matrix without a unit stride would take `ref`, 700 times slower. The last group never
// reaches the library: the problem is simplified, cut into entries of the batch, or packed first.
#ifndef MTC_RUNTIME_CPU_CONTRACTION_H
#define MTC_RUNTIME_CPU_CONTRACTION_H

#include "runtime/abi/contraction.h"
#include "runtime/cpu/library_call.h"

#include <memory>

namespace mtc::runtime {

/// Plans for exactly `threads` threads. See LibraryCall::create.
std::unique_ptr<LibraryCall> createContraction(const MtcContraction &contraction, int threads,
                                               bool executable = true);

/// How many of `threads` threads are worth waking: a contraction of microseconds is done before
/// they come.
int usefulThreads(const MtcContraction &contraction, int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CPU_CONTRACTION_H
