// Contractions in f32 of 16-bit elements, where the processor has no products of them, and of
// matrices that are stored in fewer bits.
//
// Operands are converted to f32 on their way into panels, which a product needs anyway: blocks of
// rows of lhs and of columns of rhs, as vectors read them. Panels and sums of a block are bounded,
// whatever the operands' extents, and the same on every machine. Any strides are packed alike.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANELS_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANELS_H

#include "runtime/abi/contraction.h"
#include "runtime/calls/contraction/problem.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/vector_set.h"

#include <memory>

namespace mtc::runtime {

/// Null for other types than bf16 and f16, unless an operand is stored otherwise. The result's bits
/// do not depend on the number of threads.
std::unique_ptr<LibraryCall> createPanelContraction(const MtcContraction &contraction,
                                                    const ContractionProblem &problem, int threads,
                                                    VectorSet set);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANELS_H
