//===- OptimizerOptions.h - What mtc-optimizer is told ----------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_OPTIMIZEROPTIONS_H
#define MTC_PASSES_OPTIMIZER_OPTIMIZEROPTIONS_H

#include "ir/Mtc.h"
#include "passes/OptionTable.h"
#include "passes/optimizer/Optimizer.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// All optimizers.
std::vector<OptionChoice> optimizerChoices();
/// The hyperparameters of all optimizers, each name once.
std::vector<OptionText> hyperparameterTexts();
/// What the rate does after the warm-up.
llvm::StringRef describeSchedule(ScheduleKind schedule);

/// The options of mtc-optimizer.
struct OptimizerOptions {
  std::string optimizer = "adamw";
  /// Those that are given, by their names.
  llvm::StringMap<std::optional<double>> numbers;
  std::optional<double> clipNorm;
  ScheduleKind schedule = ScheduleKind::Constant;
  int64_t warmup = 0;
  bool noDecay1d = false;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&OptimizerOptions::optimizer,
           {"optimizer", "name", "how parameters are updated", optimizerChoices()});
    for (OptionText &text : hyperparameterTexts()) {
      llvm::StringRef name = text.name;
      option([name](OptimizerOptions &all) -> auto & { return all.numbers[name]; }, std::move(text),
             [name](const OptimizerOptions &all) { return all.checkNumber(name); });
    }
    option(
        &OptimizerOptions::clipNorm,
        {"clip-norm", "norm", "scale gradients down to this norm over all parameters (no limit)"},
        [](const OptimizerOptions &all) -> std::string {
          bool isValid = !all.clipNorm || *all.clipNorm > 0.0;
          return isValid ? "" : "expected a norm greater than 0";
        });
    option(&OptimizerOptions::schedule, {"schedule", "name", "the learning rate after the warm-up",
                                         choicesOf(describeSchedule)});
    option(&OptimizerOptions::warmup, {"warmup", "steps", "steps in which the rate rises"},
           [](const OptimizerOptions &all) -> std::string {
             return all.warmup >= 0 ? "" : "expected a number of steps that is not negative";
           });
    option(&OptimizerOptions::noDecay1d,
           {"no-decay-1d", "", "no weight decay for one-dimensional parameters (biases, norms)"});
  }

private:
  /// What the optimizer has against the number that is given; "" if nothing.
  std::string checkNumber(llvm::StringRef name) const;
};

std::unique_ptr<mlir::Pass> createOptimizer(const OptimizerOptions &options);

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_OPTIMIZEROPTIONS_H
