//===- LowRank.h - Low-rank adapter specifications --------------------------------------------===//

#ifndef MTC_PASSES_ADAPTERS_LOWRANK_H
#define MTC_PASSES_ADAPTERS_LOWRANK_H

#include "ir/Mtc.h"

#include "llvm/Support/Error.h"

namespace mtc {

/// Specifies the adapters for all weights whose name matches a glob pattern:
/// "PATTERN:rank=8,alpha=16,dropout=0.1,rslora,dora", or "PATTERN:8" for a rank. The defaults are
/// those of PEFT's LoraConfig.
struct LowRankSpec {
  std::string text; ///< The specification as the user wrote it.
  std::string pattern;
  int64_t rank = 8;
  double alpha = 8;
  double dropout = 0;           ///< Probability with which training drops elements of the input.
  bool rankStabilized = false;  ///< Scale by alpha / sqrt(rank) instead of alpha / rank.
  bool trainsMagnitude = false; ///< DoRA: rescale each row to a trained norm.

  /// Returns the factor of the low-rank update.
  double scale() const;

  /// Parses a specification; fails on unknown, repeated or invalid settings and patterns.
  static llvm::Expected<LowRankSpec> parse(llvm::StringRef text);

  /// Returns the number of literal characters in the pattern if it matches the variable's symbol
  /// name, its name in the user's module, or one of these names without ".weight", which is the
  /// path of the layer, as in PEFT's target_modules.
  std::optional<size_t> findMatch(VariableOp variable) const;
};

} // namespace mtc

#endif // MTC_PASSES_ADAPTERS_LOWRANK_H
