//===- Parameters.h - Classification of initializers ------------------------------------------===//
//
// An ONNX file does not mark which initializers are parameters of the module. The rules below
// classify the initializers that exporters write; the user's patterns override them.
//   1. Running mean and variance of BatchNormalization are state. Those of a batch normalization
//      that Keras decomposed are constants.
//   2. If the file lists the module's parameters (the torch.export-based exporter, mtc.export),
//      these and the initializers folded from them are parameters, others are constants. If the
//      exporter does not record what it folded, `val_N` of rank 2 or more are parameters too,
//      except initial states of recurrent layers and tensors of equal elements that no matrix
//      multiplication or convolution uses. Weights that onnxruntime's optimizer merged for its
//      attention operators are parameters.
//   3. Otherwise floating-point initializers of rank 1 or more are parameters, except position
//      tables, scales of quantized tensors, initializers whose use, elements or name show that they
//      are constants (ConstantEvidence.h) and, in files of skl2onnx, initializers that are not used
//      like weights. Constant nodes are constants, also if an optimizer stored them as
//      initializers.
// Parameters with `requires_grad=False` in the module are frozen.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_PARAMETERS_H
#define MTC_FRONTEND_ONNX_PARAMETERS_PARAMETERS_H

#include "frontend/Parameters.h"
#include "frontend/onnx/dialect/Onnx.h"
#include "support/compiler/Problems.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace mtc::onnx {

/// A frozen parameter is not trained, but unlike a constant its value is not part of the program.
enum class InitializerRole { Parameter, Constant, State, Frozen };

/// Returns the name of a role in the `role` attribute of `onnx.initializer`.
llvm::StringRef roleName(InitializerRole role);

/// The role of an initializer and the reasons for it.
struct InitializerClass {
  InitializerRole role = InitializerRole::Constant;
  std::string reason;
  std::string moduleName;       // Name in the user's module; empty if it equals the initializer's.
  bool isParameter = false;     // Classification by the rules, before patterns.
  bool isKnownConstant = false; // The exporter or its use shows that it is no parameter.
  bool looksTrainable = false;  // A constant that is used like a parameter.
  bool isInferred = false;      // The reason is evidence from use, elements or name.
  bool isDoubtful = false;      // The evidence is weak.
};

/// Returns whether the torch.export-based exporter generated this name for a folded tensor:
/// `val_12`, or `val_0_2` in a subgraph, to which onnxruntime may add a prefix.
bool isFoldedName(llvm::StringRef name);
/// Returns whether the TorchScript-based exporter generated this name for a folded tensor:
/// `onnx::MatMul_12`, or `12` in a scripted module.
bool isTorchScriptFoldedName(llvm::StringRef name);
/// Returns whether the TorchScript-based exporter generated this name for the result of a Constant
/// node: `/encoder/Constant_12_output_0`. onnxruntime's optimizers store such nodes as
/// initializers.
bool isConstantNodeName(llvm::StringRef name);

/// Returns whether an exporter or optimizer generated this name: one of the above, or a number such
/// as `12` and `_v_12`.
bool isGeneratedName(llvm::StringRef name);

/// Classifies each initializer of a trainable element type by the rules; keyed by name.
llvm::StringMap<InitializerClass> classifyInitializers(GraphOp graph);

/// Classifies initializers by the rules and the patterns, and sets their `role`, `reason` and
/// `module_name`. Patterns that match nothing, or that name an initializer which cannot be trained,
/// are errors. Constant nodes that `train` matches become initializers of the graph, named after
/// the node's result.
llvm::StringMap<InitializerClass> chooseParameters(GraphOp graph, const ParameterPatterns &patterns,
                                                   Problems &problems);

/// Returns the classes of a graph whose parameters have been chosen.
llvm::StringMap<InitializerClass> chosenClasses(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_PARAMETERS_H
