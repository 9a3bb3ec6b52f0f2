//===- SharedParameters.h - Parameters that may be one in the module, or were taken apart -----===//

#ifndef MTC_FRONTEND_PARAMETERS_SHAREDPARAMETERS_H
#define MTC_FRONTEND_PARAMETERS_SHAREDPARAMETERS_H

#include "frontend/parameters/Parameters.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mtc::onnx {

/// The elements of an initializer of the model's file, row-major; fails where they are missing.
using InitializerBytes =
    llvm::function_ref<llvm::Expected<llvm::ArrayRef<char>>(llvm::StringRef name)>;

/// A parameter that holds the same matrix as an earlier one, transposed or not. Those whose data is
/// missing are passed over.
struct EqualMatrix {
  std::string first, second; // `first` is the earliest of all that are equal.
  bool isTransposed;
};
std::vector<EqualMatrix> findEqualMatrices(GraphOp graph,
                                           const llvm::StringMap<InitializerClass> &classes,
                                           InitializerBytes bytesOf);

/// Warnings about parameters that may not be what the user's module had: equal matrices, which may
/// have been one weight, and normalizations that the exporter took apart.
std::vector<std::string> parameterWarnings(GraphOp graph,
                                           const llvm::StringMap<InitializerClass> &classes,
                                           InitializerBytes bytesOf);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_SHAREDPARAMETERS_H
