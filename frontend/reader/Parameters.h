//===- Parameters.h - Which initializers are parameters
//-----------------------------------------===//
//
// The file's types do not say. The rule, right on the exports of PyTorch's exporters:
//   1. Inputs 3 and 4 of BatchNormalization are state.
//   2. Where the graph's metadata has torch.export's signature: those marked PARAMETER, and those
//   named
//      val_N of two or more dimensions, into which the exporter folded a transposition. Others are
//      constants.
//   3. Otherwise: floating-point ones of one or more dimensions; constants are Constant nodes
//   there.
//
//===----------------------------------------------------------------------------------------------===//

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

/// Patterns with * and ? over initializers' and modules' names that override the rule; `freeze`
/// wins.
struct ParameterPatterns {
  std::vector<std::string> train, freeze;
};

/// The class of each floating-point initializer, by name. Patterns that match nothing, or match an
/// initializer that cannot be trained, are problems.
llvm::StringMap<InitializerClass>
classifyInitializers(const Model &model, const ParameterPatterns &patterns, Problems &problems);

/// Warnings about parameters that are not what the user's module had: initializers that the
/// exporter merged because their values were equal, so that several modules share one.
std::vector<std::string> findMergedParameters(const Model &model,
                                              const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_PARAMETERS_H
