// Contraction calls of the target `cpu` by oneDNN's matmul. Measured with 2.6.3 on AVX-512: dense
// operands, transposed or with permuted batch dimensions, use the fast path (`brg`). Operands with
// gaps between rows use `gemm:jit`, which is as fast but allocates its own buffers. A result that
// is not row-major, a broadcast batch or a matrix without a unit stride would use `ref`, which is
// 700 times slower. To avoid `ref`, the problem is simplified, split into batch entries, or packed
// first.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_ONEDNN_CONTRACTION_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_ONEDNN_CONTRACTION_H

#include "runtime/abi/contraction.h"
#include "runtime/devices/cpu/library_call.h"

#include <memory>

namespace mtc::runtime {

extern const CallKind onednnContractionCalls;

/// Plans a call for exactly `threads` threads. See LibraryCall::create.
std::unique_ptr<LibraryCall> createContraction(const MtcContraction &contraction, int threads,
                                               bool executable = true);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_ONEDNN_CONTRACTION_H
