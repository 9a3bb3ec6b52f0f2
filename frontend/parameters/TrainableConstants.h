//===- TrainableConstants.h - Constants that the user may take for parameters -----------------===//
//
// Exporters compute with a module's parameters: `1 + w` of a norm, an embedding of fixed positions
// or exp(logit_scale) are constants in the file. They are followed through whatever is computed
// from constants alone, as constant folding does it, to the node that reads them beside the
// model's own values.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_TRAINABLECONSTANTS_H
#define MTC_FRONTEND_PARAMETERS_TRAINABLECONSTANTS_H

#include "frontend/parameters/Parameters.h"

namespace mtc::onnx {

/// A floating-point constant of the main graph that is used like a parameter: as an operand of a
/// product, a sum, a normalization, a table that is looked up, or a part of a concatenation, and is
/// no plain literal.
///
/// Where the file lists the module's parameters (PyTorch's newer exporter), the constant's user
/// belongs to a module of which the file lacks a parameter. Otherwise its values differ, are finite
/// and no mask's; a single number must be an initializer of PyTorch's, and neither a short decimal
/// nor a root or inverse root of a whole number. PyTorch's older exporter writes a module's
/// parameters as initializers, so that Constant nodes beside them are literals of the code, unless
/// products, convolutions or recurrent layers read them, or rows of them are looked up.
struct TrainableConstant {
  std::string name; // Of the initializer, or of the Constant node's result.
  std::vector<int64_t> shape;
  std::string moduleName; // The parameter, or the module, that it seems to be of; may be empty.
};

/// Those of a graph, in the order of their first use. `classes` are by the rules.
std::vector<TrainableConstant>
findTrainableConstants(GraphOp graph, const llvm::StringMap<InitializerClass> &classes);

/// All Constant nodes of the file's main graph that hold a tensor that can be trained, and what the
/// file calls such a node's result.
llvm::SmallVector<ConstantOp> floatConstantNodes(GraphOp graph);
llvm::StringRef resultName(mlir::Operation *node);

/// Puts an initializer in the place of a Constant node, named as its result; and whether one is
/// such.
void makeInitializer(GraphOp graph, ConstantOp node);
bool wasConstantNode(InitializerOp initializer);

/// The last initializer of a graph, behind which new ones go; null if there is none.
InitializerOp lastInitializer(GraphOp graph);

/// The parameters that the file lists of the module, and neither an initializer nor a constant of
/// `classes` stands for.
std::vector<std::string> findMissingParameters(GraphOp graph,
                                               const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_TRAINABLECONSTANTS_H
