// Contractions in f32 of 16-bit elements, for processors without 16-bit multiply instructions, and
// of matrices in compressed storage.
//
// Operands are converted to f32 while they are packed into panels: blocks of rows of lhs and of
// columns of rhs, in the order in which vector code reads them. The size of the panels and of the
// accumulators of a block is bounded for any operand extents, and equal on every machine. Packing
// supports arbitrary strides.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANELS_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANELS_H

#include "runtime/abi/contraction.h"
#include "runtime/calls/contraction/problem.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/vector_set.h"

#include <memory>

namespace mtc::runtime {

/// Returns null unless the type is bf16 or f16, or an operand is in compressed storage. The result
/// is bit-identical for any number of threads.
std::unique_ptr<LibraryCall> createPanelContraction(const MtcContraction &contraction,
                                                    const ContractionProblem &problem, int threads,
                                                    VectorSet set);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANELS_H
