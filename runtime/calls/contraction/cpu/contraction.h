// Contraction calls of the target `cpu` by the runtime's own code: panels, and plain loops.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_CONTRACTION_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_CONTRACTION_H

#include "runtime/abi/contraction.h"
#include "runtime/devices/cpu/library_call.h"

namespace mtc::runtime {

extern const CallKind contractionCalls;

/// Returns whether the plain loops of a generated kernel are faster. Measured with oneDNN 2.6.3 on
/// AVX-512, one thread: 1024 multiplications of 4x4 or 6x6 matrices take 0.3 of the library's time,
/// those of 8x8 matrices nine times the library's time. A matrix of 1024 rows times a vector takes
/// 0.06 to 0.74 if the reduction is contiguous in memory; sums of two terms take 0.1 to 0.4.
bool isFasterAsKernel(const MtcContraction &contraction);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_CONTRACTION_H
