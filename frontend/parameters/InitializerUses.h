//===- InitializerUses.h - Who reads an initializer -------------------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_INITIALIZERUSES_H
#define MTC_FRONTEND_PARAMETERS_INITIALIZERUSES_H

#include "frontend/dialect/Onnx.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

namespace mtc::onnx {

/// Whether tensors of this element type can be parameters.
bool isTrainable(mlir::Type elementType);

/// The initializers of a graph that can be parameters, in its order.
llvm::SmallVector<InitializerOp> trainableInitializers(GraphOp graph);

/// An operand of a node.
struct InitializerUse {
  NodeOp node;
  unsigned operand;
  /// Where the file's main graph reads the initializer: this operand, or the entrance of the
  /// outermost call of a function that holds it.
  mlir::OpOperand *site;
};

/// The uses of each initializer by name, through Identity nodes.
llvm::StringMap<std::vector<InitializerUse>> initializerUses(GraphOp graph);

/// The values that the graph's outputs follow from, the outputs included.
llvm::DenseSet<mlir::Value> reachedValues(GraphOp graph);

/// Whether a node is RNN, GRU or LSTM.
bool isRecurrent(NodeOp node);

/// The dotted path of the module that a node came from; empty if unknown.
std::string modulePath(NodeOp node);

/// The parameters that the file lists, by their names in the module; empty where it lists none.
std::vector<std::string> signatureParameters(GraphOp graph);

/// Whether a file names this tool as its producer; PyTorch's exporters write `pytorch`.
bool isProducedBy(GraphOp graph, llvm::StringRef producer);

/// Whether the file has that list, as PyTorch's newer exporter writes it.
bool hasSignature(GraphOp graph);

/// Whether an operator reads this operand as a bias, or a norm's shift.
bool isBiasOperand(const InitializerUse &use);

/// The parameter of the module that a use stands for, out of `candidates`, full names without
/// order; empty if none fits.
std::string parameterOfUse(const InitializerUse &use, const llvm::StringSet<> &candidates);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_INITIALIZERUSES_H
