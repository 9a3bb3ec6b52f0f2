// The runtime's entry.
#ifndef MTC_RUNTIME_RUN_PROGRAM_H
#define MTC_RUNTIME_RUN_PROGRAM_H

#include "runtime/abi/program.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// Does what the arguments (without the program's name) say; prints the message of a failure and
/// returns the exit status. `programPath` is where the executable lies, for the weights beside it.
int runProgram(const MtcProgram &program, const std::string &programPath,
               const std::vector<std::string> &arguments);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_RUN_PROGRAM_H
