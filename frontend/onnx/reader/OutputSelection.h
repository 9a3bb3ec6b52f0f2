//===- OutputSelection.h - Required and optional graph outputs --------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_OUTPUTSELECTION_H
#define MTC_FRONTEND_ONNX_READER_OUTPUTSELECTION_H

#include "support/compiler/Problems.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

namespace onnx {
class GraphProto;
} // namespace onnx

namespace mtc::onnx {

/// A value that the imported graph returns.
struct SelectedOutput {
  std::string name;
  bool isOptional; ///< Whether the output is omitted if it cannot be computed.
};

/// The outputs of the file and the value named by `--output`. The named value is required, and all
/// other outputs are optional. Without a name, outputs whose declared type excludes a loss (not a
/// floating-point tensor) are optional if there is another output. A map of classes to
/// probabilities (ZipMap) is optional, and its tensor operand is selected in addition.
struct OutputSelection {
  std::vector<SelectedOutput> outputs;
  /// Nodes (by index) that only optional outputs depend on, and their results.
  llvm::BitVector optionalNodes;
  llvm::StringSet<> optionalValues;
};

/// Selects the outputs. `named` is empty if the user did not choose one; an undefined name is a
/// problem. With `allOptional`, no output is required. `hidden` names outputs that are not
/// selected.
OutputSelection selectOutputs(const ::onnx::GraphProto &graph, llvm::StringRef named,
                              bool allOptional, const llvm::StringSet<> &hidden,
                              Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_OUTPUTSELECTION_H
