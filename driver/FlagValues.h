//===- FlagValues.h - Values of flags that need parsing ---------------------------------------===//

#ifndef MTC_DRIVER_FLAGVALUES_H
#define MTC_DRIVER_FLAGVALUES_H

#include "driver/Options.h"

#include <string>

namespace mtc::tool {

// Each function stores the value of a flag in the options. It returns an error message without the
// flag, or "".

std::string takeEmit(Options &options, llvm::StringRef text);
std::string takeDim(Options &options, llvm::StringRef text);
std::string takeLora(Options &options, llvm::StringRef text);
std::string takeDropout(Options &options, llvm::StringRef text);
std::string takeBatchNorm(Options &options, llvm::StringRef text);
std::string takeBatchTokens(Options &options, llvm::StringRef text);
std::string takeUnroll(Options &options, llvm::StringRef text);
std::string takeThreads(Options &options, llvm::StringRef text);
std::string takeMemory(Options &options, llvm::StringRef text);
std::string takeOffloadWindow(Options &options, llvm::StringRef text);
std::string takeSearchSeconds(Options &options, llvm::StringRef text);
std::string takeAllow(Options &options, llvm::StringRef name);
std::string takeSkippedPass(Options &options, llvm::StringRef name);
std::string takeParameters(Options &options, llvm::StringRef text);

} // namespace mtc::tool

#endif // MTC_DRIVER_FLAGVALUES_H
