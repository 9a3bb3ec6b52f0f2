//===- OptimizerOptions.h - What mtc-optimizer is told ----------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_OPTIMIZEROPTIONS_H
#define MTC_PASSES_OPTIMIZER_OPTIMIZEROPTIONS_H

#include "ir/Mtc.h"
#include "passes/OptionTable.h"
#include "passes/optimizer/ParameterGroup.h"
#include "passes/optimizer/ScheduleOptions.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// All optimizers.
std::vector<OptionChoice> optimizerChoices();
/// The hyperparameters of all optimizers, each name once; a choice has choices.
std::vector<OptionText> hyperparameterTexts();

/// The options of mtc-optimizer.
struct OptimizerOptions {
  std::string optimizer = "adamw";
  /// Hyperparameters that are given, by their names: numbers, and choices, "" where left open.
  llvm::StringMap<std::optional<double>> numbers;
  llvm::StringMap<std::string> choices;
  std::optional<double> clipNorm, clipValue;
  bool gradientNorm = false;
  std::optional<double> ema;
  ScheduleOptions schedule;
  bool noDecay1d = false;
  std::string optimizerBits = "32";
  std::vector<std::string> groups;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&OptimizerOptions::optimizer,
           {"optimizer", "name", "how parameters are updated", optimizerChoices()});
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
    option(
        &OptimizerOptions::clipNorm,
        {"clip-norm", "norm", "scale gradients down to this norm over all parameters (no limit)"},
        [](const OptimizerOptions &all) -> std::string {
          bool isValid = !all.clipNorm || *all.clipNorm > 0.0;
          return isValid ? "" : "expected a norm greater than 0";
        });
    option(&OptimizerOptions::clipValue,
           {"clip-value", "limit", "limit each element of the gradients to this size (no limit)"},
           [](const OptimizerOptions &all) -> std::string {
             bool isValid = !all.clipValue || *all.clipValue > 0.0;
             return isValid ? "" : "expected a size greater than 0";
           });
    option(&OptimizerOptions::gradientNorm,
           {"grad-norm", "",
            "let metrics say the norm of all gradients, as --clip-norm does: after --clip-value, "
            "before --clip-norm"});
    option(&OptimizerOptions::ema,
           {"ema", "decay",
            "keep an average a = decay a + (1 - decay) w of the weights, which the program "
            "evaluates and exports with --use-ema (none)"},
           [](const OptimizerOptions &all) -> std::string {
             bool isValid = !all.ema || (*all.ema >= 0.0 && *all.ema < 1.0);
             return isValid ? "" : "expected a decay of at least 0 and less than 1";
           });
    visitScheduleOptions(option);
    option(&OptimizerOptions::noDecay1d,
           {"no-decay-1d", "", "no weight decay for one-dimensional parameters (biases, norms)"});
    option(&OptimizerOptions::optimizerBits,
           {"optimizer-bits",
            "bits",
            "what an element of the optimizer's state takes; embeddings, and parameters of fewer "
            "than 4096 elements, have 32",
            {{"32", ""},
             {"8", "codes in blocks of 256 with a scale, as bitsandbytes has them"},
             {"4", "codes in blocks of 128 with a scale, as torchao has them"}}});
    option(&OptimizerOptions::groups,
           {"group", "SETTINGS",
            "what holds of the parameters whose name matches: 'match=*.bias weight-decay=0 "
            "lr-factor=0.1', 'match=head.* optimizer=sgd lr=1e-2', 'match=embed* frozen=true'; "
            "where several match, the pattern with more literal characters decides"},
           [](const OptimizerOptions &all) { return all.checkGroups(); });
  }

  /// An optimizer's defaults, but for what is given. The options are valid.
  UpdateRule makeRule(const OptimizerKind &kind) const;

  /// The run's learning rate: the highest of its schedule. The options are valid.
  double getLearningRate() const;

private:
  template <typename Visitor> static void visitScheduleOptions(Visitor &&option) {
    using All = const OptimizerOptions &;
    option([](auto &all) -> auto & { return all.schedule.kind; },
           {"schedule", "name", "the learning rate after the warm-up", scheduleChoices()},
           [](All all) { return all.schedule.checkKind(); });
    option([](auto &all) -> auto & { return all.schedule.least; },
           {"min-lr", "rate", "learning rate that the schedule falls to (0; one-cycle lr / 25e4)"},
           [](All all) { return all.checkLeastRate(); });
    option([](auto &all) -> auto & { return all.schedule.warmup; },
           {"warmup", "steps", "steps in which the rate rises"},
           [](All all) { return all.schedule.checkWarmup(); });
    option(
        [](auto &all) -> auto & { return all.schedule.decay; },
        {"decay-steps", "steps", "steps in which the rate of wsd falls; 0: a tenth of the run's"},
        [](All all) { return all.schedule.checkDecay(); });
    option([](auto &all) -> auto & { return all.schedule.points; },
           {"schedule-table", "STEP:RATE",
            "learning rates, commas between them, on lines from one to the next; or a file with a "
            "step and a rate a line"},
           [](All all) { return all.schedule.checkPoints(); });
  }
  std::string checkLeastRate() const;
  std::string checkGroups() const;
  /// The optimizer, the one of what is outside of its domain, and those of groups; none where there
  /// is no such optimizer.
  llvm::SmallVector<const OptimizerKind *> findKinds() const;
  /// The value that is given of a hyperparameter; none if it is left open or no choice of it.
  std::optional<double> findGiven(const Hyperparameter &hyperparameter) const;
  /// What the optimizers have against a hyperparameter that is given; "" if nothing.
  std::string checkHyperparameter(llvm::StringRef name) const;
};

std::unique_ptr<mlir::Pass> createOptimizer(const OptimizerOptions &options);

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_OPTIMIZEROPTIONS_H
