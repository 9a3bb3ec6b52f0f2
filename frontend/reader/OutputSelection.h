//===- OutputSelection.h - Which values a graph returns, and which it can do without ---------===//

#ifndef MTC_FRONTEND_READER_OUTPUTSELECTION_H
#define MTC_FRONTEND_READER_OUTPUTSELECTION_H

#include "frontend/Problems.h"

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
  bool isOptional; ///< Left out where it cannot be computed.
};

/// The outputs of the file and the value that `--output` names. The named value is required and all
/// others are optional. Without a name, outputs that no loss can be computed from, because their
/// declared types are not floating-point tensors, are optional where there is another output. A map
/// of classes to probabilities (ZipMap) is optional, and the tensor that it is made of is selected.
struct OutputSelection {
  std::vector<SelectedOutput> outputs;
  /// The nodes that optional outputs alone follow from, by their position, and their results.
  llvm::BitVector optionalNodes;
  llvm::StringSet<> optionalValues;
};

/// `named` is empty where the user left the choice open. A name that the graph does not define is a
/// problem. With `allOptional` nothing is required.
OutputSelection selectOutputs(const ::onnx::GraphProto &graph, llvm::StringRef named,
                              bool allOptional, Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_OUTPUTSELECTION_H
