//===- InitializerUses.h - Who reads an initializer -------------------------------------------===//

#ifndef MTC_FRONTEND_READER_INITIALIZERUSES_H
#define MTC_FRONTEND_READER_INITIALIZERUSES_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

namespace onnx {
class ModelProto;
class NodeProto;
} // namespace onnx

namespace mtc::onnx {

/// An operand of a node.
struct InitializerUse {
  const ::onnx::NodeProto *node;
  int64_t index; // of the node in its graph or function
  unsigned operand;
  /// The operand of the main graph's node: this one, or the outermost call of a function that
  /// holds it.
  int64_t callIndex;
  unsigned callOperand;
};

/// The uses of each initializer of the main graph, through Identity nodes and into the bodies of
/// functions.
llvm::StringMap<std::vector<InitializerUse>> initializerUses(const ::onnx::ModelProto &model);

/// The values of the main graph that its outputs follow from, the outputs included.
llvm::StringSet<> reachedValues(const ::onnx::ModelProto &model);

/// The parameters that PyTorch's exporter lists in the graph's metadata, by their names in the
/// module: lines `p_name: PARAMETER target='the.name'`. Empty for other exporters.
std::vector<std::string> signatureParameters(const ::onnx::ModelProto &model);

/// Whether the graph has that metadata.
bool hasSignature(const ::onnx::ModelProto &model);

/// The parameter of the module that a use stands for, out of `candidates`, full names without
/// order; empty if none fits.
std::string parameterOfUse(const InitializerUse &use, const llvm::StringSet<> &candidates);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_INITIALIZERUSES_H
