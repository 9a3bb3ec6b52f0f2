//===- LossScaling.h - Options of dynamic loss scaling ----------------------------------------===//

#ifndef MTC_PASSES_LOSSES_LOSSSCALING_H
#define MTC_PASSES_LOSSES_LOSSSCALING_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Options of mtc-scale-loss.
struct LossScalingOptions {
  std::string scale;                            ///< Empty: chosen from the precision.
  std::optional<int64_t> window = std::nullopt; ///< Steps without overflow.

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&LossScalingOptions::scale,
           {.name = "loss-scale",
            .valueName = "N|none",
            .help = "Dynamic loss scaling with initial scale N",
            .detail = "A step whose gradients overflow is skipped and halves the scale.",
            .defaultText = "none; 65536 for f16"},
           [](const LossScalingOptions &all) { return all.checkScale(); });
    option(&LossScalingOptions::window,
           {.name = "loss-scale-window",
            .valueName = "STEPS",
            .help = "Double the loss scale after this many steps without overflow",
            .defaultText = "2000"},
           [](const LossScalingOptions &all) -> std::string {
             return all.getWindow() >= 1 ? "" : "expected a positive number of steps";
           });
  }

  /// Returns the initial scale; nothing if loss scaling is disabled or unspecified. The options
  /// must be valid.
  std::optional<float> getScale() const;
  int64_t getWindow() const { return window.value_or(2000); }

private:
  std::string checkScale() const;
};

std::unique_ptr<mlir::Pass> createScaleLoss(const LossScalingOptions &options);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_LOSSSCALING_H
