//===- Parameters.h - Which initializers are trained ------------------------------------------===//
//
// An ONNX file does not say which of its initializers are parameters of the module. These rules say
// it for what exporters write; patterns of the user override them:
//   1. Running mean and variance of BatchNormalization are state. Those of a batch normalization
//      that Keras decomposed are constants.
//   2. Where the file lists the module's parameters (PyTorch's newer exporter, mtc.export): those,
//      and what the exporter folded from them. Others are constants. Files of exporters that do not
//      say what they folded: `val_N` of two or more dimensions too, but for the initial states of
//      recurrent layers and tensors of one value that no product reads.
//   3. Otherwise: floating-point ones of one or more dimensions, but for tables of positions, and
//      in files of scikit-learn's exporter for those that are not read like weights; constants are
//      Constant nodes.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_PARAMETERS_H
#define MTC_FRONTEND_PARAMETERS_PARAMETERS_H

#include "frontend/Problems.h"
#include "frontend/dialect/Onnx.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace mtc::onnx {

/// A frozen one is a parameter that patterns leave out: no step changes it, but its value is no
/// part of the program.
enum class InitializerRole { Parameter, Constant, State, Frozen };

/// What an `onnx.initializer` calls the role.
llvm::StringRef roleName(InitializerRole role);

struct InitializerClass {
  InitializerRole role = InitializerRole::Constant;
  std::string reason;
  std::string moduleName;   // The name in the user's module; empty where it is the initializer's.
  bool isParameter = false; // What the rules take it for, whatever patterns say.
  bool isKnownConstant = false; // The exporter or its use says that it is none.
  bool looksTrainable = false;  // A constant that is used like a parameter.
};

/// Glob patterns over initializers' and modules' names that override the rules. With a pattern in
/// `train`, only what these match is trained. Where several match, the one with more literal
/// characters decides; `freeze` among equals. A name in full trains any floating-point constant, a
/// wildcard only parameters and constants that look trainable. With adapters, nothing else is
/// trained but what `train` names.
struct ParameterPatterns {
  std::vector<std::string> train, freeze;
  bool hasAdapters = false;
};

/// `val_12`: the name that PyTorch's newer exporter gives to what it computed.
bool isFoldedName(llvm::StringRef name);
/// `onnx::MatMul_12`: the name that the TorchScript exporter gives to what it folded.
bool isTorchScriptFoldedName(llvm::StringRef name);

/// The class of each initializer that can be trained, by name, as the rules say it.
llvm::StringMap<InitializerClass> classifyInitializers(GraphOp graph);

/// The same after the patterns. Those that match nothing, or name what cannot be trained, are
/// problems. Constants of Constant nodes that `train` matches become initializers of the graph,
/// named after the node's result.
llvm::StringMap<InitializerClass> chooseParameters(GraphOp graph, const ParameterPatterns &patterns,
                                                   Problems &problems);

/// The classes of a graph whose parameters are chosen.
llvm::StringMap<InitializerClass> chosenClasses(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_PARAMETERS_H
