//===- Loss.h - Losses that can be attached to a graph ----------------------------------------===//
//
// A loss is a record of the labels that it accepts and the terms that each target contributes.
// AttachLoss.cpp derives the mean over the batch and the sums per sample from these terms. Records
// are defined in the files of `kinds/`, each of which has `void addNAMELosses(std::vector<Loss>
// &losses)`; CMake finds them.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_LOSSES_LOSS_H
#define MTC_PASSES_LOSSES_LOSS_H

#include "ir/builders/TensorBuilder.h"
#include "passes/OptionTable.h"
#include "passes/losses/OutputActivation.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Targets with this label are ignored.
inline constexpr int64_t ignoredLabel = -100;

/// The labels that a loss requires.
struct LabelLayout {
  llvm::SmallVector<int64_t> shape;
  /// Class axis of the output; -1 for elementwise losses.
  int64_t classAxis = -1;
};

/// Terms of the loss per target.
struct LossTerms {
  /// One loss per target, batch axis first; 0 for ignored targets.
  mlir::Value losses;
  /// 1 for targets that count, 0 for ignored targets, in the shape and type of `losses`; null if
  /// all targets count.
  mlir::Value weights;
};

struct Loss {
  llvm::StringLiteral name;
  /// Text for --help: "(x - y)², the mean over all elements".
  llvm::StringLiteral help;
  /// Labels are integer classes of the output; otherwise they have the output's type.
  bool classifies;
  /// Returns the layout of labels for an output; `given` is the type of labels that the graph
  /// already has, or null. If output and labels do not match, describes the requirement in
  /// `expected`, as the object of "needs".
  mlir::FailureOr<LabelLayout> (*layout)(mlir::RankedTensorType output,
                                         mlir::RankedTensorType given, std::string &expected);
  /// Builds the terms. The output is f32 or f64; labels are integers or have the output's type.
  LossTerms (*build)(TensorBuilder &b, mlir::Value output, mlir::Value labels, int64_t classAxis);
  /// Builds 1 for each counted target whose class has the largest output (ties count), 0 for
  /// others, in the type of the losses. Null for losses that do not classify.
  mlir::Value (*buildCorrect)(TensorBuilder &b, mlir::Value output, mlir::Value labels,
                              int64_t classAxis);
  /// The activation that the loss applies to the output. If the output already is this activation,
  /// the loss is computed from its logits.
  OutputActivation activation = OutputActivation::None;
  /// If labels are absent, they are the next tokens of the token input.
  bool predictsNextToken = false;
};

/// Returns all losses except `output`, which needs no computation.
llvm::ArrayRef<Loss> getLosses();
/// Returns the loss of this name, or null.
const Loss *findLoss(llvm::StringRef name);
/// Returns the option's choices, including `output`.
std::vector<OptionChoice> lossChoices();

/// Options of mtc-attach-loss; empty options are inferred from the graph.
struct LossOptions {
  std::string loss, output, labels;
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
    option(&LossOptions::microSteps,
           {.name = "accumulate",
            .valueName = "N",
            .help = "Accumulate the gradients of N batches before each update",
            .detail = "A step reads N batches, one at a time, and has the loss and the update of "
                      "one batch N times as large."},
           [](const LossOptions &all) -> std::string {
             bool isValid = all.microSteps >= 1 && all.microSteps <= 1000000;
             return isValid ? "" : "expected 1 to 1000000 batches";
           });
  }
};

std::unique_ptr<mlir::Pass> createAttachLoss(const LossOptions &options);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_LOSS_H
