// Entry point of the runtime.
#ifndef MTC_RUNTIME_RUN_PROGRAM_H
#define MTC_RUNTIME_RUN_PROGRAM_H

#include "runtime/abi/program.h"
#include "runtime/collectives/transport.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// Runs the program with the given arguments (without the program's name). Prints the message of a
/// failure and returns the exit status. `programPath` is the path of the executable, whose folder
/// contains the weights file. `open` opens the transport of a program with several ranks; null for
/// a program of one process.
int runProgram(const MtcProgram &program, const std::string &programPath,
               const std::vector<std::string> &arguments, OpenTransport open = nullptr);

/// Runs the program of this executable with the arguments of `main`.
int runMain(const MtcProgram &program, int count, char **arguments, OpenTransport open);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_RUN_PROGRAM_H
