//===- OutputActivation.h - The softmax or sigmoid that an output ends in --------------------===//
//
// Exported classifiers end in a softmax or a sigmoid, which cross-entropy applies itself: PyTorch's
// losses take logits. These are found here, as one operator or in parts, behind movements and
// casts.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_LOSSES_OUTPUTACTIVATION_H
#define MTC_PASSES_LOSSES_OUTPUTACTIVATION_H

#include "ir/builders/TensorBuilder.h"

#include <functional>
#include <optional>

namespace mtc {

enum class OutputActivation { None, Softmax, Sigmoid };

/// An output that is an activation of logits.
struct ActivatedOutput {
  OutputActivation activation;
  /// For messages: "Softmax", "LogSoftmax", "Sigmoid".
  llvm::StringLiteral name;
  /// The operation that computes the activation, and what it is computed from.
  mlir::Operation *op;
  mlir::Value input;
  /// The output's axis along which a softmax normalizes; -1 where the output has no such axis as a
  /// whole, because the axis is cut or joined with another, and for a sigmoid.
  int64_t classAxis;
  /// Logits in the shape of the output. A softmax of theirs along `classAxis`, or a sigmoid, is the
  /// output, or for LogSoftmax the output's exponential.
  std::function<mlir::Value(TensorBuilder &)> buildLogits;
};

/// The activation that a value is of; nothing where it is of none.
///   - softmax: e^x / sum e^x and p / sum p of positive p; also [1 - s(x), s(x)], with the sigmoid
///   s
///   - logarithm of a softmax: x - ln sum e^x, and ln of the above
///   - sigmoid: s(x), 1 / (1 + e^-x), e^x / (1 + e^x), and 1 - s(x)
std::optional<ActivatedOutput> findActivation(mlir::Value output);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_OUTPUTACTIVATION_H
