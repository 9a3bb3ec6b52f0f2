//===- OutputActivation.h - Recognition of a final softmax or sigmoid -------------------------===//
//
// Exported classifiers end in a softmax or a sigmoid, which cross-entropy applies itself: PyTorch's
// losses accept logits. These activations are recognized as one operator or in decomposed form,
// also if data movement and casts follow them.
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
  /// Name for diagnostics: "Softmax", "LogSoftmax", "Sigmoid".
  llvm::StringLiteral name;
  /// The operation that computes the activation, and its input.
  mlir::Operation *op;
  mlir::Value input;
  /// The output's axis along which a softmax normalizes; -1 for a sigmoid, and if the axis was
  /// sliced or merged with another.
  int64_t classAxis;
  /// Builds logits in the shape of the output. Their softmax along `classAxis`, or their sigmoid,
  /// is the output, or for LogSoftmax the exponential of the output.
  std::function<mlir::Value(TensorBuilder &)> buildLogits;
};

/// Returns the activation that computes a value; nothing if none is recognized.
///   - softmax: e^x / sum e^x and p / sum p of positive p; also [1 - s(x), s(x)], with the sigmoid
///   s
///   - logarithm of a softmax: x - ln sum e^x, and ln of the above
///   - sigmoid: s(x), 1 / (1 + e^-x), e^x / (1 + e^x), and 1 - s(x)
std::optional<ActivatedOutput> findActivation(mlir::Value output);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_OUTPUTACTIVATION_H
