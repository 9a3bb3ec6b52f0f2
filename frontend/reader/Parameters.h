//===- Parameters.h - Which initializers are trained ------------------------------------------===//
//
// An ONNX file does not say which of its initializers are parameters. These rules say it for what
// exporters write; patterns of the user override them:
//   1. Running mean and variance of BatchNormalization are state. Those of a batch normalization
//      that Keras decomposed are constants.
//   2. With the metadata of PyTorch's newer exporter: what it marks PARAMETER, and `val_N` of two
//      or more dimensions, which it made of a parameter by folding a transposition. Others are
//      constants.
//   3. Otherwise: floating-point ones of one or more dimensions; constants are Constant nodes.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_PARAMETERS_H
#define MTC_FRONTEND_READER_PARAMETERS_H

#include "frontend/reader/Model.h"

#include <vector>

namespace mtc::onnx {

enum class InitializerRole { Parameter, Constant, State };

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
/// wildcard only parameters and constants that look trainable.
struct ParameterPatterns {
  std::vector<std::string> train, freeze;
};

/// `val_12`: the name that PyTorch's newer exporter gives to what it computed.
bool isFoldedName(llvm::StringRef name);

/// The class of each floating-point initializer, by name. Patterns that match nothing, or name what
/// cannot be trained, are problems. Constant nodes that `train` matches become initializers of the
/// model.
llvm::StringMap<InitializerClass>
classifyInitializers(Model &model, const ParameterPatterns &patterns, Problems &problems);

/// A parameter that holds the same matrix as an earlier one, transposed or not. Those whose data is
/// missing are passed over.
struct EqualMatrix {
  std::string first, second; // `first` is the earliest of all that are equal.
  bool isTransposed;
};
std::vector<EqualMatrix> findEqualMatrices(Model &model,
                                           const llvm::StringMap<InitializerClass> &classes);

/// Warnings about parameters that may not be what the user's module had: equal matrices, which may
/// have been one weight, and normalizations that the exporter took apart.
std::vector<std::string> parameterWarnings(Model &model,
                                           const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_PARAMETERS_H
