//===- PassSelection.h - Optional passes to skip ----------------------------------------------===//

#ifndef MTC_PASSES_PLANNING_PASSSELECTION_H
#define MTC_PASSES_PLANNING_PASSSELECTION_H

#include "ir/Mtc.h"
#include "passes/OptionTable.h"

namespace mtc {

/// A pass that is not required for correctness and can be skipped, with the stage of its pipeline.
struct OptionalPass {
  std::string name; ///< Pass argument.
  std::string summary;
  Stage stage;
};
/// Returns the optional passes of all pipelines. Defined with the pipelines.
llvm::ArrayRef<OptionalPass> getOptionalPasses();
std::vector<OptionChoice> optionalPassChoices();

/// Optional passes to skip. May contain passes of other pipelines.
struct PassSelection {
  std::vector<std::string> skipped;

  /// Returns whether the pass is skipped.
  bool skips(llvm::StringRef pass) const { return llvm::is_contained(skipped, pass); }

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&PassSelection::skipped,
           {"skip-pass", "PASS", "Skip an optimization pass", optionalPassChoices()});
  }
};

} // namespace mtc

#endif // MTC_PASSES_PLANNING_PASSSELECTION_H
