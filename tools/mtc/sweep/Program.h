//===- Program.h - The program of a sweep -----------------------------------------------------===//

#ifndef MTC_TOOLS_MTC_SWEEP_PROGRAM_H
#define MTC_TOOLS_MTC_SWEEP_PROGRAM_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mtc::tool {

/// What a program says about itself (`--describe`).
struct SweptProgram {
  std::string path; ///< Absolute.
  llvm::StringSet<> outputFlags;
  llvm::StringMap<bool> isHigherBetter; ///< By metric.

  /// Asks a program that mtc compiled.
  static llvm::Expected<SweptProgram> find(const std::string &name);

  /// Returns whether higher values of a metric of steps or validations are better.
  bool ranksHigher(llvm::StringRef metric) const;
};

/// Start of the names of metrics of validations.
inline constexpr llvm::StringLiteral validationPrefix = "validation_";

} // namespace mtc::tool

#endif // MTC_TOOLS_MTC_SWEEP_PROGRAM_H
