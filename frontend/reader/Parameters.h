//===- Parameters.h - Which initializers are trained ------------------------------------------===//
//
// An ONNX file does not say which of its initializers are parameters. Three rules say it for what
// PyTorch's exporters write; patterns of the user override them:
//   1. Running mean and variance of BatchNormalization are state.
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
  std::string moduleName; // The name in the user's module; empty where it is the initializer's.
};

/// Glob patterns over initializers' and modules' names that override the rules. Where a pattern of
/// either list matches, the one with more literal characters decides; `freeze` among equals.
struct ParameterPatterns {
  std::vector<std::string> train, freeze;
};

/// `val_12`: the name that PyTorch's newer exporter gives to what it computed.
bool isFoldedName(llvm::StringRef name);

/// The class of each floating-point initializer, by name. Patterns that match nothing, or name an
/// initializer that cannot be trained, are problems.
llvm::StringMap<InitializerClass>
classifyInitializers(const Model &model, const ParameterPatterns &patterns, Problems &problems);

/// Two parameters that hold the same matrix, the second transposed or not: a tied weight in two
/// copies, which are trained apart. Those whose data is missing are passed over.
struct TiedCopy {
  std::string first, second;
  bool isTransposed;
};
std::vector<TiedCopy> findTiedCopies(Model &model,
                                     const llvm::StringMap<InitializerClass> &classes);

/// Warnings about parameters that are not what the user's module had: copies of tied ones, and
/// normalizations that the exporter took into a convolution.
std::vector<std::string> parameterWarnings(Model &model,
                                           const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_PARAMETERS_H
