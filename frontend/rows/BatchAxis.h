//===- BatchAxis.h - Which inputs hold rows of the data ---------------------------------------===//
//
// A step of training takes rows of some inputs, and others whole: a mask, the edges of a graph. The
// file says which only by the names and extents of first axes.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ROWS_BATCHAXIS_H
#define MTC_FRONTEND_ROWS_BATCHAXIS_H

#include "frontend/Problems.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>

namespace mtc::onnx {

/// An input of the steps: one of the graph, or the labels that a loss adds.
struct StepInput {
  std::string name;
  /// The first axis as the file gives it: a name, an expression, a number; "" of added labels.
  std::string firstDim;
  llvm::SmallVector<int64_t> shape;
  bool isLabel = false;
};

struct BatchAxis {
  int64_t batch = 1;        // Rows that a step takes; 1 if no input has rows.
  llvm::StringSet<> inputs; // Those whose first axis counts rows; the others are taken whole.
  /// One line for the user that says what is taken whole and why; "" if nothing is, or if it was
  /// asked for.
  std::string note;
};

/// Finds the inputs with rows. `batchInputs` names them (`none`: there are none). Where it is
/// empty:
///   - inputs whose first axis has a name with "batch" in it have rows; failing that, those whose
///     first axis has the only name there is, if every other first axis is 1;
///   - in a file without names, inputs of the first one's extent, if every other first axis is 1;
///   - where labels do not have as many rows, or neither holds, no input has rows: a first axis of
///     another meaning (nodes of a graph, tokens of a text) must not be sliced and shuffled.
/// Names that are no inputs and batches of different sizes are problems.
std::optional<BatchAxis> chooseBatchAxis(llvm::ArrayRef<StepInput> inputs,
                                         llvm::ArrayRef<std::string> batchInputs,
                                         Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ROWS_BATCHAXIS_H
