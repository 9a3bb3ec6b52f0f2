//===- Flags.h - Every flag of mtc ------------------------------------------------------------===//

#ifndef MTC_DRIVER_FLAGS_H
#define MTC_DRIVER_FLAGS_H

#include "driver/FlagTable.h"

namespace mtc::tool {

extern llvm::cl::SubCommand compileCommand, planCommand, inspectCommand;

/// The flags of all commands. LLVM knows them from the first call on, and its help shows no others.
const FlagTable &getFlags();
/// The arguments without a flag: one, unless the user made a mistake.
llvm::ArrayRef<std::string> getModelFiles();

} // namespace mtc::tool

#endif // MTC_DRIVER_FLAGS_H
