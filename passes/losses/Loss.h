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

#include "ir/Registry.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/losses/LossOptions.h"
#include "passes/losses/OutputActivation.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The properties of a graph that determine the labels of a loss.
struct LabelQuery {
  mlir::RankedTensorType output;
  mlir::RankedTensorType given;      ///< Type of labels that the graph already has, or null.
  llvm::ArrayRef<mlir::Type> inputs; ///< Types of the graph's inputs.
  const LossParameters &parameters;
};

/// The labels that a loss requires.
struct LabelLayout {
  llvm::SmallVector<int64_t> shape;
  /// Class axis of the output; -1 for elementwise losses.
  int64_t classAxis = -1;
  /// Valid integer labels, in addition to the ignored one: minimum <= label < limit.
  int64_t minimum = 0, limit = 0;
  /// Batch axis of the output.
  int64_t batchAxis = 0;
};

/// The values that a loss is computed from.
struct LossInputs {
  mlir::Value output; ///< f32 or f64.
  mlir::Value labels; ///< Integers, or values of the output's type.
  const LabelLayout &layout;
  mlir::Value inputLengths; ///< Integers [batch]; null: the whole sequence.
  const LossParameters &parameters;
};

/// Terms of the loss per target.
struct LossTerms {
  /// One loss per target, batch axis first; 0 for ignored targets.
  mlir::Value losses;
  /// Weight of each target in the mean, 0 for ignored targets, in the shape and type of `losses`;
  /// null if all targets have weight 1.
  mlir::Value weights;
};

/// A value of each sample for the metrics of an evaluation, under a name of
/// runtime/abi/row_values.h: floats [batch, …], which are summed over each sample unless they are
/// kept, or classes, i32 [batch, …].
struct RowValue {
  llvm::StringRef name;
  mlir::Value value;
};

struct Loss {
  llvm::StringLiteral name;
  /// Text for --help: "(x - y)², the mean over all elements".
  llvm::StringLiteral help;
  /// Labels are integer classes of the output; otherwise they have the output's type.
  bool classifies;
  /// Names of the parameters (LossParameters) that the loss uses.
  llvm::ArrayRef<llvm::StringLiteral> parameters = {};
  /// Returns the layout of labels. If output and labels do not match, describes the requirement in
  /// `expected`, as the object of "needs".
  mlir::FailureOr<LabelLayout> (*layout)(const LabelQuery &query, std::string &expected);
  /// Returns the problem with a parameter for an output, such as "--class-weights: ...", or "";
  /// null if the parameters fit every output.
  std::string (*checkParameters)(const LossParameters &parameters, mlir::RankedTensorType output,
                                 const LabelLayout &layout) = nullptr;
  /// Builds the terms.
  LossTerms (*build)(TensorBuilder &b, const LossInputs &inputs);
  /// Builds the values for metrics other than the loss; null if there are none.
  void (*buildMetrics)(TensorBuilder &b, const LossInputs &inputs, const LossTerms &terms,
                       llvm::SmallVectorImpl<RowValue> &values) = nullptr;
  /// The activation that the loss applies to the output. If the output already is this activation,
  /// the loss is computed from its logits.
  OutputActivation activation = OutputActivation::None;
  /// If labels are absent, they are the next tokens of the token input.
  bool predictsNextToken = false;
  /// Ignored labels pad sequences of labels, so that they exclude no sample from the loss. The
  /// number of frames of each sample may be an input.
  bool hasSequences = false;
  /// The loss of the same name for labels that are probabilities of classes; null if there is none.
  const Loss *ofProbabilities = nullptr;
};

template <> Registry<std::vector<Loss>> &Registry<std::vector<Loss>>::get();

/// Returns all losses except `output`, which needs no computation.
llvm::ArrayRef<Loss> getLosses();
/// Returns the loss of this name, or null.
const Loss *findLoss(llvm::StringRef name);

/// Parses valid numbers and returns them as a constant [count].
mlir::Value buildNumbers(TensorBuilder &b, llvm::ArrayRef<std::string> numbers, mlir::Type element);

/// Returns whether labels of an integer type can have the value.
bool isRepresentable(int64_t value, mlir::Type element);

std::unique_ptr<mlir::Pass> createAttachLoss(const LossOptions &options);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_LOSS_H
