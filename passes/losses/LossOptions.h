//===- LossOptions.h - Options of mtc-attach-loss ---------------------------------------------===//

#ifndef MTC_PASSES_LOSSES_LOSSOPTIONS_H
#define MTC_PASSES_LOSSES_LOSSOPTIONS_H

#include "passes/OptionTable.h"

namespace mtc {

/// Returns the choices of the option `loss`, including `output`.
std::vector<OptionChoice> lossChoices();

/// Parameters of single losses, with the names and meanings of PyTorch. Each loss lists the
/// parameters that it uses (`Loss::parameters`); a parameter that the loss does not use is an
/// error.
struct LossParameters {
  std::optional<double> labelSmoothing, huberDelta, smoothL1Beta;
  std::vector<std::string> classWeights, positiveWeight; ///< Numbers.
  int64_t ignoredLabel = -100;                           ///< Targets with this label are ignored.
  bool softLabels = false, logTarget = false, zeroInfinity = false;
  int64_t blank = 0, targetLength = 0; ///< The length is 0 if it is not given.
  std::string inputLengths;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    using All = const LossParameters &;
    option(
        &LossParameters::labelSmoothing,
        {.name = "label-smoothing",
         .valueName = "E",
         .help = "Label smoothing of cross-entropy, from 0 to 1",
         .detail = "The target is 1 - E for the label's class, plus E / C for each of C classes.",
         .defaultText = "0"},
        [](All all) { return all.checkSmoothing(); });
    option(&LossParameters::classWeights,
           {.name = "class-weights",
            .valueName = "W,...|FILE.npy",
            .help = "Weight of each class in cross-entropy",
            .detail = "The loss is divided by the sum of the weights of the labels.",
            .defaultText = "1"},
           [](All all) { return checkWeights(all.classWeights); });
    option(&LossParameters::positiveWeight,
           {.name = "pos-weight",
            .valueName = "W,...|FILE.npy",
            .help = "Weight of positive labels in bce-with-logits",
            .detail = "One number, or one for each element of the output's last axis.",
            .defaultText = "1"},
           [](All all) { return checkWeights(all.positiveWeight); });
    option(&LossParameters::ignoredLabel,
           {"ignore-index", "LABEL", "Label of targets that the loss and the metrics ignore"});
    option(&LossParameters::softLabels,
           {.name = "soft-labels",
            .valueName = "",
            .help = "Labels of cross-entropy are class probabilities",
            .detail = "The labels have the output's shape. Implied by floating-point labels in the "
                      "graph."});
    option(&LossParameters::logTarget,
           {"log-target", "", "Labels of kl-div are logarithms of probabilities"});
    option(&LossParameters::huberDelta,
           {.name = "huber-delta",
            .valueName = "D",
            .help = "Error at which huber becomes linear",
            .defaultText = "1"},
           [](All all) { return checkPositive(all.huberDelta); });
    option(&LossParameters::smoothL1Beta,
           {.name = "smooth-l1-beta",
            .valueName = "B",
            .help = "Error at which smooth-l1 becomes linear",
            .defaultText = "1"},
           [](All all) { return checkNotNegative(all.smoothL1Beta); });
    option(&LossParameters::blank, {"blank", "CLASS", "Blank class of ctc"},
           [](All all) -> std::string { return all.blank >= 0 ? "" : "expected a class, from 0"; });
    option(&LossParameters::zeroInfinity,
           {"zero-infinity", "", "Count infinite losses of ctc, and their gradients, as 0"});
    option(&LossParameters::targetLength,
           {.name = "target-length",
            .valueName = "N",
            .help = "Maximum number of labels of a sample of ctc",
            .detail = "Needed if the graph has no labels. Shorter labels end in --ignore-index.",
            .defaultText = "that of the graph's labels"},
           [](All all) -> std::string {
             return all.targetLength >= 0 && all.targetLength <= 1000000
                        ? ""
                        : "expected 1 to 1000000 labels";
           });
    option(&LossParameters::inputLengths,
           {.name = "input-lengths",
            .valueName = "NAME",
            .help = "Input with the number of frames of each sample of ctc",
            .detail = "A graph input or a new input. The input `input_lengths` of a graph is used "
                      "without the flag.",
            .defaultText = "all frames"});
  }

  /// Calls `visit` with the name and the value of each parameter that differs from its default.
  void
  visitGiven(llvm::function_ref<void(llvm::StringRef name, const std::string &value)> visit) const;

private:
  std::string checkSmoothing() const;
  static std::string checkWeights(llvm::ArrayRef<std::string> weights);
};

/// Options of mtc-attach-loss; empty options are inferred from the graph.
struct LossOptions {
  std::string loss, output, labels;
  std::string lossWeights; ///< Empty: `none`.
  LossParameters parameters;
  int64_t microSteps = 1; ///< Number of micro-steps per update.

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&LossOptions::loss, {.name = "loss",
                                .valueName = "NAME",
                                .help = "Loss function",
                                .choices = lossChoices(),
                                .defaultText = "inferred from the outputs"});
    option(&LossOptions::output, {.name = "output",
                                  .valueName = "NAME",
                                  .help = "Value that the loss is computed from",
                                  .detail = "An output or an inner value of the graph.",
                                  .defaultText = "first float output"});
    option(&LossOptions::labels, {.name = "labels",
                                  .valueName = "NAME",
                                  .help = "Name of the labels: a graph input or a new input",
                                  .defaultText = "labels"});
    option(&LossOptions::lossWeights,
           {.name = "loss-weights",
            .valueName = "MODE",
            .help = "Add the input loss_weights: the weight of each sample in the loss",
            .choices = {{"none", "no input"},
                        {"auto", "if the loss cannot ignore labels"},
                        {"always", "for every loss"}},
            .detail =
                "The loss is divided by the sum of the weights. All weights are 1 if the input "
                "has no data. With the input, batches can have fewer samples.",
            .defaultText = "none"});
    visitMember(&LossOptions::parameters, option);
    option(&LossOptions::microSteps,
           {.name = "accumulate",
            .valueName = "N",
            .help = "Accumulate the gradients of N batches before each update",
            .detail = "A step reads N batches, one at a time, and has the loss and the update of "
                      "one batch N times as large.",
            .isOfUpdate = true},
           [](const LossOptions &all) -> std::string {
             bool isValid = all.microSteps >= 1 && all.microSteps <= 1000000;
             return isValid ? "" : "expected 1 to 1000000 batches";
           });
  }
};

} // namespace mtc

#endif // MTC_PASSES_LOSSES_LOSSOPTIONS_H
