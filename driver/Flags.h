//===- Flags.h - Every flag of mtc ------------------------------------------------------------===//

#ifndef MTC_DRIVER_FLAGS_H
#define MTC_DRIVER_FLAGS_H

#include "driver/FlagTable.h"

namespace mtc::tool {

extern llvm::cl::SubCommand compileCommand, planCommand, inspectCommand;

/// The flags of all commands. LLVM knows them from the first call on, and its help shows no others.
const FlagTable &getFlags();
/// What stands on the command line without a flag.
llvm::StringRef getModelFile();

} // namespace mtc::tool

#endif // MTC_DRIVER_FLAGS_H
