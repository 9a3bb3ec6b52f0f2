//===- RecomputeOptions.h - Options of mtc-recompute ------------------------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_RECOMPUTEOPTIONS_H
#define MTC_PASSES_RECOMPUTE_RECOMPUTEOPTIONS_H

#include "ir/Mtc.h"
#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Options of mtc-recompute.
struct RecomputeOptions {
  RecomputeMode recompute = RecomputeMode::Auto;

  static llvm::StringRef describe(RecomputeMode mode) {
    switch (mode) {
    case RecomputeMode::None:
      return "save every activation that is not free to recompute";
    case RecomputeMode::Sqrt:
      return "save a checkpoint every sqrt(N) of N layers, as Chen et al. (2016)";
    case RecomputeMode::Auto:
      return "only as needed to meet --memory, cheapest first";
    case RecomputeMode::All:
      return "every recomputation that lowers the peak at a reasonable cost";
    }
    llvm_unreachable("all modes are handled");
  }

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&RecomputeOptions::recompute,
           {"recompute", "MODE", "Recompute activations in the backward pass",
            choicesOf<RecomputeMode>(describe)});
  }
};

std::unique_ptr<mlir::Pass> createRecompute(const RecomputeOptions &options);

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_RECOMPUTEOPTIONS_H
