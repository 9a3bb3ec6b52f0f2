// Entry point of the runtime.
#ifndef MTC_RUNTIME_RUN_PROGRAM_H
#define MTC_RUNTIME_RUN_PROGRAM_H

#include "runtime/abi/program.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// Runs the program with the given arguments (without the program's name). Prints the message of a
/// failure and returns the exit status. `programPath` is the path of the executable, whose folder
/// contains the weights file.
int runProgram(const MtcProgram &program, const std::string &programPath,
               const std::vector<std::string> &arguments);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_RUN_PROGRAM_H
