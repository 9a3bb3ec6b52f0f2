//===- LowRank.h - What a user says of adapters -----------------------------------------------===//

#ifndef MTC_PASSES_ADAPTERS_LOWRANK_H
#define MTC_PASSES_ADAPTERS_LOWRANK_H

#include "ir/Mtc.h"

#include "llvm/Support/Error.h"

namespace mtc {

/// Adapters of the weights whose names match: "PATTERN:rank=8,alpha=16". The defaults are those of
/// PEFT's LoraConfig.
struct LowRankSpec {
  std::string text; ///< As it was given.
  std::string pattern;
  int64_t rank = 8;
  double alpha = 8;

  static llvm::Expected<LowRankSpec> parse(llvm::StringRef text);

  /// How many literal characters the pattern has, if it matches the variable's name here or in the
  /// user's module.
  std::optional<size_t> findMatch(VariableOp variable) const;
};

} // namespace mtc

#endif // MTC_PASSES_ADAPTERS_LOWRANK_H
