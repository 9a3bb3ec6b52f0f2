//===- Settings.h - Settings of the runs of a sweep -------------------------------------------===//

#ifndef MTC_TOOLS_MTC_SWEEP_SETTINGS_H
#define MTC_TOOLS_MTC_SWEEP_SETTINGS_H

#include "driver/Options.h"

#include "llvm/Support/Error.h"

namespace mtc::tool {

/// Flags of one run, which other runs give other values.
struct Setting {
  /// Names without dashes, and values; "true" for a switch.
  std::vector<std::pair<std::string, std::string>> flags;

  /// Returns "lr=1e-3, seed=0".
  std::string describe() const;
  /// Returns a file name for the run.
  std::string folderName() const;
  /// Returns the arguments for the program.
  std::vector<std::string> arguments() const;
  /// Returns the value of a flag; "" if it is not given.
  llvm::StringRef valueOf(llvm::StringRef name) const;
};

/// Returns the combinations of the values of `--set` with each line of `--list`, in the order of
/// the command line.
llvm::Expected<std::vector<Setting>> listSettings(const SweepOptions &options);

} // namespace mtc::tool

#endif // MTC_TOOLS_MTC_SWEEP_SETTINGS_H
