//===- Loss.h - The losses that can be attached to a graph ------------------------------------===//
//
// A loss is a record: which labels it takes, and what each target contributes. The mean over the
// batch and the sums over its rows follow from that in one place (AttachLoss.cpp). Records stand in
// the files of `kinds/`, each of which has `void addNAMELosses(std::vector<Loss> &losses)`; CMake
// finds them.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_LOSSES_LOSS_H
#define MTC_PASSES_LOSSES_LOSS_H

#include "ir/builders/TensorBuilder.h"
#include "passes/OptionTable.h"
#include "passes/losses/OutputActivation.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Labels of this value do not count.
inline constexpr int64_t ignoredLabel = -100;

/// What a loss expects of its labels.
struct LabelLayout {
  llvm::SmallVector<int64_t> shape;
  /// The output's axis of classes; -1 for losses of elements.
  int64_t classAxis = -1;
};

/// What each target contributes to the loss.
struct LossTerms {
  /// One for each target, the batch's axis first; 0 for targets that do not count.
  mlir::Value losses;
  /// 1 for targets that count, 0 for others, in the shape and type of `losses`; null where all
  /// count.
  mlir::Value weights;
};

struct Loss {
  llvm::StringLiteral name;
  /// For the help: "(x - y)², the mean over all elements".
  llvm::StringLiteral help;
  /// Labels are integers, classes of the output; otherwise they have the output's type.
  bool classifies;
  /// Labels for an output; `given` is the type of labels that the graph already has, null where it
  /// has none. If they do not fit each other, says in `expected` what would, as the object of
  /// "needs".
  mlir::FailureOr<LabelLayout> (*layout)(mlir::RankedTensorType output,
                                         mlir::RankedTensorType given, std::string &expected);
  /// The output is f32 or f64; labels are integers or have the output's type.
  LossTerms (*build)(TensorBuilder &b, mlir::Value output, mlir::Value labels, int64_t classAxis);
  /// 1 for each target that counts and whose class has the largest output (ties count), 0 for
  /// others, in the type of the losses; null for losses that do not classify.
  mlir::Value (*buildCorrect)(TensorBuilder &b, mlir::Value output, mlir::Value labels,
                              int64_t classAxis);
  /// The activation that the loss applies to the output. The loss of an output that is such an
  /// activation is taken of its logits.
  OutputActivation activation = OutputActivation::None;
  /// Labels that are left out are the next tokens of the input of token ids.
  bool predictsNextToken = false;
};

/// All but `output`, which is no computation.
llvm::ArrayRef<Loss> getLosses();
/// Null if there is none of this name.
const Loss *findLoss(llvm::StringRef name);
/// All, `output` included.
std::vector<OptionChoice> lossChoices();

/// The options of mtc-attach-loss; empty ones are chosen from the graph.
struct LossOptions {
  std::string loss, output, labels;
  int64_t microSteps = 1; ///< Whose gradients make an update.

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
