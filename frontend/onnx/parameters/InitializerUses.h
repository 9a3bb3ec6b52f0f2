//===- InitializerUses.h - Uses of initializers -----------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_INITIALIZERUSES_H
#define MTC_FRONTEND_ONNX_PARAMETERS_INITIALIZERUSES_H

#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/operators/Operators.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

namespace mtc::onnx {

/// Returns whether tensors of this element type can be parameters: f64, f32, f16 and bf16.
bool isTrainable(mlir::Type elementType);

/// Returns the initializers with a trainable element type, in graph order.
llvm::SmallVector<InitializerOp> trainableInitializers(GraphOp graph);

/// A use of an initializer as an operand of a node.
struct InitializerUse {
  NodeOp node;
  unsigned operand;
  /// The operand in the main graph through which the node uses the initializer: this operand, or
  /// the operand of the Identity before the outermost inlined function call that contains the node.
  mlir::OpOperand *site;
};

/// Returns the uses of each initializer by name. Uses through Identity nodes count as uses of the
/// initializer.
llvm::StringMap<std::vector<InitializerUse>> initializerUses(GraphOp graph);

/// Returns whether a node's operator defines this role of the operand.
bool hasRole(NodeOp node, unsigned operand, OperandRole role);
bool hasRole(const InitializerUse &use, OperandRole role);
/// Returns whether there is at least one use and all uses have this role.
bool haveRole(llvm::ArrayRef<InitializerUse> uses, OperandRole role);

/// Returns the values on which the graph's outputs depend, including the outputs.
llvm::DenseSet<mlir::Value> reachedValues(GraphOp graph);

/// Returns whether a node is an RNN, GRU or LSTM.
bool isRecurrent(NodeOp node);

/// Returns the dotted path of the module that a node came from, or an empty string if it is
/// unknown.
std::string modulePath(NodeOp node);

/// Returns the names of the module's parameters that the file lists; empty if it has no list.
std::vector<std::string> signatureParameters(GraphOp graph);

/// Returns whether the file names this tool as its producer; PyTorch's exporters write `pytorch`.
bool isProducedBy(GraphOp graph, llvm::StringRef producer);

/// Returns whether the file lists the module's parameters, as files of the torch.export-based
/// exporter and mtc.export do.
bool hasSignature(GraphOp graph);

/// Returns whether the operand is a bias or the shift of a normalization.
bool isBiasOperand(const InitializerUse &use);

/// Returns the name among `candidates`, full parameter names in the module, that matches a use by
/// module path and operand; empty if there is no unique match.
std::string parameterOfUse(const InitializerUse &use, const llvm::StringSet<> &candidates);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_INITIALIZERUSES_H
