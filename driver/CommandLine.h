//===- CommandLine.h - From the words of a command line to a command and its options ----------===//

#ifndef MTC_DRIVER_COMMANDLINE_H
#define MTC_DRIVER_COMMANDLINE_H

#include "driver/Options.h"

namespace mtc::tool {

/// Parses the command line and sets the options. Prints help, the version, a completion script or
/// the manual page if one was asked for, and ends the process. Reports every problem of the line
/// and ends the process with exit code 1 if there is one.
Command parseCommandLine(int argc, char **argv, Options &options);

} // namespace mtc::tool

#endif // MTC_DRIVER_COMMANDLINE_H
