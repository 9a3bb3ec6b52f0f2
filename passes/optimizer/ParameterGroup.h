//===- ParameterGroup.h - Per-group optimizer settings ----------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_PARAMETERGROUP_H
#define MTC_PASSES_OPTIMIZER_PARAMETERGROUP_H

#include "passes/optimizer/Optimizer.h"

#include "llvm/Support/Error.h"

#include <map>

namespace mtc {

/// Optimizer settings for the parameters whose names match one of the group's patterns, given as
/// shell words: "match=*.bias lr=1e-4 weight-decay=0".
struct ParameterGroup {
  std::string text; ///< As given by the user.
  std::vector<std::string> patterns;
  bool isFrozen = false;
  const OptimizerKind *optimizer = nullptr; ///< Null if not given.
  /// Hyperparameter values by name. `rateFactor` scales the base learning rate of the run.
  std::map<std::string, double, std::less<>> numbers;
  std::optional<double> rateFactor;
  std::optional<unsigned> stateBits; ///< As for --optimizer-bits.

  static llvm::Expected<ParameterGroup> parse(llvm::StringRef text);

  /// Returns the number of literal characters of the most specific pattern that matches the
  /// parameter, by its name in this module or in the user's model, or nothing if no pattern
  /// matches.
  std::optional<size_t> findMatch(VariableOp parameter) const;

private:
  llvm::Error take(llvm::StringRef key, llvm::StringRef value);
  llvm::Error takeNumbers(llvm::StringRef key, llvm::StringRef value);
  llvm::Error check() const;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_PARAMETERGROUP_H
