//===- NodeNames.h - The model's nodes behind a location --------------------------------------===//

#ifndef MTC_IR_NODENAMES_H
#define MTC_IR_NODENAMES_H

#include "mlir/IR/Location.h"
#include <string>

namespace mtc {

/// What diagnostics, profile and memory report call an operation: the ONNX node's name,
/// `backward(NAME)` for its gradient, several names joined by " + "; empty where nothing is known.
std::string nodeNames(mlir::Location location);

/// The location of what computes the gradient of an operation at `location`.
mlir::Location backwardLocation(mlir::Location location);

/// The same without telling a node from its gradient.
std::string forwardNodeNames(mlir::Location location);

/// Whether an operation at a location computes a gradient, alone or with others.
bool isBackward(mlir::Location location);

} // namespace mtc

#endif // MTC_IR_NODENAMES_H
