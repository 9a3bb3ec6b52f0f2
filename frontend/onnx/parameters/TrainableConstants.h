//===- TrainableConstants.h - Constants that may be parameters --------------------------------===//
//
// Exporters fold expressions of a module's parameters, such as `1 + w` of a norm, an embedding of
// fixed positions or exp(logit_scale), to constants. Such constants are followed through nodes that
// only depend on constants, as constant folding does, to the node that combines them with
// non-constant values.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_TRAINABLECONSTANTS_H
#define MTC_FRONTEND_ONNX_PARAMETERS_TRAINABLECONSTANTS_H

#include "frontend/TrainingSummary.h"
#include "frontend/onnx/parameters/Parameters.h"

namespace mtc::onnx {

/// Returns the trainable constants in the order of their first use. `classes` are the classes by
/// the rules.
///
/// A trainable constant is a floating-point constant of the main graph that is used like a
/// parameter: as an operand of a contraction, an elementwise operation or a normalization, as a
/// lookup table, or as a part of a concatenation. Its elements must not be mask values (infinite or
/// huge), and a single number must not look like a literal: a short decimal, or the root or inverse
/// root of an integer.
///
/// If the file lists the module's parameters, the constant's user must belong to a module with a
/// parameter that the file lacks. Otherwise the elements must differ, and a single number must be
/// an initializer of a PyTorch file. The TorchScript-based exporter stores parameters as
/// initializers, so Constant nodes in the same file are literals of the code, unless they are used
/// by contractions, convolutions, recurrent layers or lookups.
std::vector<TrainableConstant>
findTrainableConstants(GraphOp graph, const llvm::StringMap<InitializerClass> &classes);

/// Returns all Constant nodes of the main graph with a trainable element type.
llvm::SmallVector<ConstantOp> floatConstantNodes(GraphOp graph);
/// Returns the name that the file gives to the first result of a node.
llvm::StringRef resultName(mlir::Operation *node);

/// Replaces a Constant node by an initializer with the name of its result.
void makeInitializer(GraphOp graph, ConstantOp node);
/// Returns whether `makeInitializer` created this initializer.
bool wasConstantNode(InitializerOp initializer);

/// Returns the last initializer of a graph, after which new ones are inserted, or null if there is
/// none.
InitializerOp lastInitializer(GraphOp graph);

/// Returns the listed parameters of the module that neither an initializer nor a constant in
/// `classes` represents.
std::vector<std::string> findMissingParameters(GraphOp graph,
                                               const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_TRAINABLECONSTANTS_H
