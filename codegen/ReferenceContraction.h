//===- ReferenceContraction.h - Contraction by plain loops ------------------------------------===//

#ifndef MTC_CODEGEN_REFERENCECONTRACTION_H
#define MTC_CODEGEN_REFERENCECONTRACTION_H

#include "runtime/abi/program.h"

namespace mtc {

/// out (+)= lhs * rhs as MtcContraction describes, one element after another; sums are f64 for
/// floats. False for element types that no contraction has.
bool contractByLoops(const MtcContraction &contraction, const char *lhs, const char *rhs,
                     char *out);

} // namespace mtc

#endif // MTC_CODEGEN_REFERENCECONTRACTION_H
