//===- OptimizerOptions.h - Options of mtc-optimizer ------------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_OPTIMIZEROPTIONS_H
#define MTC_PASSES_OPTIMIZER_OPTIMIZEROPTIONS_H

#include "ir/Mtc.h"
#include "passes/OptionTable.h"
#include "passes/optimizer/ParameterGroup.h"
#include "passes/optimizer/ScheduleOptions.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Returns all optimizers.
std::vector<OptionChoice> optimizerChoices();
/// Returns the hyperparameters of all optimizers, each name once.
std::vector<OptionText> hyperparameterTexts();

/// Options of mtc-optimizer.
struct OptimizerOptions {
  std::string optimizer = "adamw";
  /// Hyperparameters by name: numbers and choices; none or "" if not given.
  llvm::StringMap<std::optional<double>> numbers;
  llvm::StringMap<std::string> choices;
  std::optional<double> clipNorm, clipValue;
  bool gradientNorm = false;
  std::optional<double> ema;
  ScheduleOptions schedule;
  bool noDecay1d = false;
  int64_t optimizerBits = 32;
  std::vector<std::string> groups;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&OptimizerOptions::optimizer, {"optimizer", "NAME", "Optimizer", optimizerChoices()});
    for (OptionText &text : hyperparameterTexts()) {
      llvm::StringRef name = text.name;
      auto check = [name](const OptimizerOptions &all) { return all.checkHyperparameter(name); };
      if (text.choices.empty())
        option([name](OptimizerOptions &all) -> auto & { return all.numbers[name]; },
               std::move(text), check);
      else
        option([name](OptimizerOptions &all) -> auto & { return all.choices[name]; },
               std::move(text), check);
    }
    option(&OptimizerOptions::clipNorm,
           {.name = "clip-norm",
            .valueName = "NORM",
            .help = "Clip the global gradient norm",
            .defaultText = "no limit"},
           [](const OptimizerOptions &all) { return checkPositive(all.clipNorm, "a norm"); });
    option(&OptimizerOptions::clipValue,
           {.name = "clip-value",
            .valueName = "LIMIT",
            .help = "Clip each gradient element to [-LIMIT, LIMIT]",
            .defaultText = "no limit"},
           [](const OptimizerOptions &all) { return checkPositive(all.clipValue, "a size"); });
    option(&OptimizerOptions::gradientNorm,
           {.name = "grad-norm",
            .valueName = "",
            .help = "Report the global gradient norm in the metrics",
            .detail = "The norm is taken after --clip-value and before --clip-norm."});
    option(&OptimizerOptions::ema,
           {.name = "ema",
            .valueName = "DECAY",
            .help = "Keep an exponential moving average of the weights",
            .detail = "average = DECAY * average + (1 - DECAY) * weight after each update; "
                      "--use-ema of the program evaluates and exports it."},
           [](const OptimizerOptions &all) -> std::string {
             bool isValid = !all.ema || (*all.ema >= 0.0 && *all.ema < 1.0);
             return isValid ? "" : "expected a decay of at least 0 and less than 1";
           });
    visitScheduleOptions(option);
    option(&OptimizerOptions::noDecay1d,
           {"no-decay-1d", "", "Disable weight decay for one-dimensional parameters"});
    option(&OptimizerOptions::optimizerBits,
           {.name = "optimizer-bits",
            .valueName = "BITS",
            .help = "Bits of an element of optimizer state",
            .choices = {{"32", "f32"},
                        {"8", "quantized in blocks of 256, as bitsandbytes"},
                        {"4", "quantized in blocks of 128, as torchao"}},
            .detail = "Embeddings and parameters of fewer than 4096 elements keep f32 state."});
    option(&OptimizerOptions::groups,
           {.name = "group",
            .valueName = "SETTINGS",
            .help = "Override optimizer settings for matching parameters",
            .detail = "Such as 'match=*.bias weight-decay=0 lr-factor=0.1', 'match=head.* "
                      "optimizer=sgd lr=1e-2' or 'match=embed* frozen=true'. If several groups "
                      "match, the pattern with the most literal characters wins."},
           [](const OptimizerOptions &all) { return all.checkGroups(); });
  }

  /// Returns an optimizer's defaults overridden by the given hyperparameters. The options must be
  /// valid.
  UpdateRule makeRule(const OptimizerKind &kind) const;

  /// Returns the base learning rate of the run, which is the maximum of its schedule. The options
  /// must be valid.
  double getLearningRate() const;

private:
  template <typename Visitor> static void visitScheduleOptions(Visitor &&option) {
    using All = const OptimizerOptions &;
    option([](auto &all) -> auto & { return all.schedule.kind; },
           {"schedule", "NAME", "Learning-rate schedule after the warm-up", scheduleChoices()},
           [](All all) { return all.schedule.checkKind(); });
    option([](auto &all) -> auto & { return all.schedule.minRate; },
           {.name = "min-lr",
            .valueName = "RATE",
            .help = "Final learning rate of the schedule",
            .defaultText = "0; one-cycle: lr / 25e4"},
           [](All all) { return all.checkMinRate(); });
    option([](auto &all) -> auto & { return all.schedule.warmup; },
           {"warmup", "STEPS", "Steps of linear learning-rate warm-up"},
           [](All all) { return all.schedule.checkWarmup(); });
    option([](auto &all) -> auto & { return all.schedule.decay; },
           {"decay-steps", "STEPS", "Decay steps of the wsd schedule; 0: a tenth of the run"},
           [](All all) { return all.schedule.checkDecay(); });
    option([](auto &all) -> auto & { return all.schedule.points; },
           {.name = "schedule-table",
            .valueName = "STEP:RATE,...",
            .help = "Points of the table schedule, or a file with one per line",
            .detail =
                "The learning rate is interpolated linearly between points. A file has a step "
                "and a rate on each line."},
           [](All all) { return all.schedule.checkPoints(); });
  }
  std::string checkMinRate() const;
  std::string checkGroups() const;
  /// Returns the optimizer, the fallback for parameters outside its domain, and the optimizers of
  /// groups; empty if the optimizer is unknown.
  llvm::SmallVector<const OptimizerKind *> findKinds() const;
  /// Returns the given value of a hyperparameter, or nothing if it is not given or not a valid
  /// choice.
  std::optional<double> findGiven(const Hyperparameter &hyperparameter) const;
  /// Returns why a given hyperparameter is invalid for the selected optimizers; "" if it is valid.
  std::string checkHyperparameter(llvm::StringRef name) const;
};

std::unique_ptr<mlir::Pass> createOptimizer(const OptimizerOptions &options);

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_OPTIMIZEROPTIONS_H
