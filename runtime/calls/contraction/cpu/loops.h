// Contractions in plain loops: for f64, which gradient checks use, and for empty reductions.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_LOOPS_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_LOOPS_H

#include "runtime/abi/contraction.h"
#include "runtime/calls/contraction/problem.h"
#include "runtime/devices/cpu/library_call.h"

#include <memory>

namespace mtc::runtime {

/// Returns a call for f32 and f64; null for other types. Terms are summed in the order of k.
std::unique_ptr<LibraryCall> createLoopContraction(const MtcContraction &contraction,
                                                   const ContractionProblem &problem, int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_LOOPS_H
