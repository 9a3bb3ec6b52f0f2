//===- RecomputeOptions.h - What mtc-recompute is told ----------------------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_RECOMPUTEOPTIONS_H
#define MTC_PASSES_RECOMPUTE_RECOMPUTEOPTIONS_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The options of mtc-recompute.
struct RecomputeOptions {
  std::string recompute = "auto";

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(
        &RecomputeOptions::recompute,
        {"recompute",
         "choice",
         "compute again what the backward pass needs, so as not to keep it",
         {{"none", "keep all that is not recomputed by the way"},
          {"sqrt",
           "all but a checkpoint every root of so many layers as there are, as Chen et al. (2016)"},
          {"auto", "where --memory asks for it, what costs the least time"},
          {"all", "all that lowers the peak, but for the last bytes, which take the most time"}}});
  }
};

std::unique_ptr<mlir::Pass> createRecompute(const RecomputeOptions &options);

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_RECOMPUTEOPTIONS_H
