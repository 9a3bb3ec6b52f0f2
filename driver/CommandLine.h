//===- CommandLine.h - Command-line parser ----------------------------------------------------===//

#ifndef MTC_DRIVER_COMMANDLINE_H
#define MTC_DRIVER_COMMANDLINE_H

#include "driver/Options.h"

namespace mtc::tool {

/// Parses the command line into `options` and returns the command. If help, the version, a
/// completion script or the manual page is requested, prints it and exits. Reports all problems of
/// the command line and exits with code 1 if there are any.
Command parseCommandLine(int argc, char **argv, Options &options);

} // namespace mtc::tool

#endif // MTC_DRIVER_COMMANDLINE_H
