// The properties of a program that its checkpoints depend on, as JSON.
#ifndef MTC_RUNTIME_STATE_PROGRAM_DESCRIPTION_H
#define MTC_RUNTIME_STATE_PROGRAM_DESCRIPTION_H

#include "runtime/abi/program.h"
#include "runtime/io/json_object.h"

#include <string>

namespace mtc::runtime {

/// Returns the optimizer, the loss, the variables and their layouts in the user's module, but not
/// the batch.
nlohmann::json describeProgram(const MtcProgram &program);

/// Returns how the program of a checkpoint differs from this one, as clauses joined by "; "; "" if
/// it does not. `saved` may be any JSON.
std::string describeDifferences(const nlohmann::json &saved, const nlohmann::json &own);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_PROGRAM_DESCRIPTION_H
