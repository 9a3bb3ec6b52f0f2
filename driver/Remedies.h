//===- Remedies.h - Suggestions to meet the memory budget -------------------------------------===//

#ifndef MTC_DRIVER_REMEDIES_H
#define MTC_DRIVER_REMEDIES_H

#include "driver/Compilation.h"

#include "llvm/Support/JSON.h"

namespace mtc::tool {

/// Flags that lower the peak memory of a program, and the peak with these flags.
struct Remedy {
  std::string flags; ///< In command-line syntax.
  int64_t peak;
};

/// Plans a program that exceeds its budget again, with each unset flag that may lower its memory
/// and with all of them. Flags that do not lower the peak are omitted. Returns nothing if the model
/// is a stage's text, for which these flags are already decided.
std::vector<Remedy> findRemedies(const Options &options, Compilation &compilation, int64_t peak);

/// Returns "it would need 1.25 GiB with --precision bf16, …", or an empty string without remedies.
std::string describe(llvm::ArrayRef<Remedy> remedies);
llvm::json::Array toJson(llvm::ArrayRef<Remedy> remedies);

} // namespace mtc::tool

#endif // MTC_DRIVER_REMEDIES_H
