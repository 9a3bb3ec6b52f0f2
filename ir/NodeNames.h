//===- NodeNames.h - Names of ONNX nodes from locations ---------------------------------------===//

#ifndef MTC_IR_NODENAMES_H
#define MTC_IR_NODENAMES_H

#include "mlir/IR/Location.h"
#include <string>

namespace mtc {

/// Returns the name of an operation in diagnostics, profile and memory report: the ONNX node's
/// name, `backward(NAME)` for its gradient, several names joined by " + ", or "" if no name is
/// known.
std::string nodeNames(mlir::Location location);

/// Returns the location for the gradient of an operation at `location`.
mlir::Location backwardLocation(mlir::Location location);

/// Returns the names as `nodeNames` does, but without distinguishing a node from its gradient.
std::string forwardNodeNames(mlir::Location location);

/// Returns whether an operation at this location computes a gradient, alone or fused with other
/// operations.
bool isBackward(mlir::Location location);

/// Returns the location for the update of parameters by an optimizer.
mlir::Location updateLocation(mlir::MLIRContext *context, llvm::StringRef optimizer);

/// Returns whether an operation at this location updates parameters, alone or fused with other
/// operations.
bool isUpdate(mlir::Location location);

} // namespace mtc

#endif // MTC_IR_NODENAMES_H
