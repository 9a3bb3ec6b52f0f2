//===- RecomputeOptions.h - Options of mtc-recompute ------------------------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_RECOMPUTEOPTIONS_H
#define MTC_PASSES_RECOMPUTE_RECOMPUTEOPTIONS_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Options of mtc-recompute.
struct RecomputeOptions {
  std::string recompute = "auto";

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&RecomputeOptions::recompute,
           {"recompute",
            "MODE",
            "Recompute activations in the backward pass",
            {{"none", "save every activation that is not free to recompute"},
             {"sqrt", "save a checkpoint every sqrt(N) of N layers, as Chen et al. (2016)"},
             {"auto", "only as needed to meet --memory, cheapest first"},
             {"all", "every recomputation that lowers the peak at a reasonable cost"}}});
  }
};

std::unique_ptr<mlir::Pass> createRecompute(const RecomputeOptions &options);

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_RECOMPUTEOPTIONS_H
