//===- Remedies.h - What would make a program fit ---------------------------------------------===//

#ifndef MTC_DRIVER_REMEDIES_H
#define MTC_DRIVER_REMEDIES_H

#include "driver/Compilation.h"

#include "llvm/Support/JSON.h"

namespace mtc::tool {

/// Flags that lower what a program needs, and what it would need with them.
struct Remedy {
  std::string flags; ///< As one types them.
  int64_t peak;
};

/// Plans a program that does not fit again: with each flag that lowers its memory and that the user
/// has left open, and with all of them. Those with which it would need no less are left out; so is
/// everything where the model is a stage's text, for which they are decided.
std::vector<Remedy> findRemedies(const Options &options, Compilation &compilation, int64_t peak);

/// "it would need 1.25 GiB with --precision bf16, …"; empty without remedies.
std::string describe(llvm::ArrayRef<Remedy> remedies);
llvm::json::Array toJson(llvm::ArrayRef<Remedy> remedies);

} // namespace mtc::tool

#endif // MTC_DRIVER_REMEDIES_H
