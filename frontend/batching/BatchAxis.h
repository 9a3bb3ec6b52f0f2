//===- BatchAxis.h - Detection of the batch axis of inputs ------------------------------------===//
//
// A training step reads a slice of samples of some inputs, and other inputs as a whole (a mask, the
// edges of a graph). The ONNX file distinguishes them only by the names and extents of the first
// axes.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_BATCHING_BATCHAXIS_H
#define MTC_FRONTEND_BATCHING_BATCHAXIS_H

#include "support/compiler/Problems.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>

namespace mtc {

/// An input of the training step: a graph input, or the labels that the loss adds.
struct StepInput {
  std::string name;
  /// The first axis as declared in the file: a name, an expression or a number; "" for added
  /// labels.
  std::string firstDim;
  llvm::SmallVector<int64_t> shape;
  bool isLabel = false;
};

struct BatchAxis {
  int64_t batch = 1;        // Samples per step; 1 if no input has a batch axis.
  llvm::StringSet<> inputs; // Inputs with a batch axis; others are passed whole.
  /// A one-line remark that names the inputs passed whole and the reason; "" if there are none, or
  /// if the user chose them.
  std::string note;
};

/// Finds the inputs with a batch axis. `batchInputs` names them (`none`: there are none). If it is
/// empty:
///   - inputs whose first axis has a name that contains "batch" have a batch axis; otherwise inputs
///     whose first axis has the only symbolic name, if every other first axis is 1;
///   - in a model without symbolic dimensions, inputs whose first axis has the extent of the first
///     input's, if every other first axis is 1;
///   - no input has a batch axis if the labels have another number of samples, or if none of the
///     above applies: a first axis of another meaning (nodes of a graph, tokens of a text) must not
///     be sliced and shuffled.
/// Names that are not inputs and batches of different sizes are reported as problems.
std::optional<BatchAxis> chooseBatchAxis(llvm::ArrayRef<StepInput> inputs,
                                         llvm::ArrayRef<std::string> batchInputs,
                                         Problems &problems);

} // namespace mtc

#endif // MTC_FRONTEND_BATCHING_BATCHAXIS_H
