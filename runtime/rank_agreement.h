// Agreement of the ranks of a run.
#ifndef MTC_RUNTIME_RANK_AGREEMENT_H
#define MTC_RUNTIME_RANK_AGREEMENT_H

#include "runtime/run_inputs.h"

namespace mtc::runtime {

/// Compares what the run depends on with the other ranks. Throws a user error that names the
/// differences.
void agree(const MtcProgram &program, const Options &options, const RunInputs &inputs,
           Device &device, Ranks &ranks);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_RANK_AGREEMENT_H
