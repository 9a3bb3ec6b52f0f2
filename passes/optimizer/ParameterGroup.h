//===- ParameterGroup.h - What a user says of some parameters ---------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_PARAMETERGROUP_H
#define MTC_PASSES_OPTIMIZER_PARAMETERGROUP_H

#include "passes/optimizer/Optimizer.h"

#include "llvm/Support/Error.h"

#include <map>

namespace mtc {

/// What a group of the user's says of the parameters whose names match one of its patterns:
/// "match=*.bias lr=1e-4 weight-decay=0", words as a shell takes them.
struct ParameterGroup {
  std::string text; ///< As it was given.
  std::vector<std::string> patterns;
  bool isFrozen = false;
  const OptimizerKind *optimizer = nullptr; ///< Null: left open.
  /// Values of hyperparameters by their names; `rateFactor` is of the run's learning rate.
  std::map<std::string, double, std::less<>> numbers;
  std::optional<double> rateFactor;
  std::optional<unsigned> stateBits; ///< As of --optimizer-bits.

  static llvm::Expected<ParameterGroup> parse(llvm::StringRef text);

  /// How many literal characters the longest of the patterns that match a parameter has: its name
  /// here or in the user's module. None if none matches.
  std::optional<size_t> findMatch(VariableOp parameter) const;

private:
  llvm::Error take(llvm::StringRef key, llvm::StringRef value);
  llvm::Error takeNumbers(llvm::StringRef key, llvm::StringRef value);
  llvm::Error check() const;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_PARAMETERGROUP_H
