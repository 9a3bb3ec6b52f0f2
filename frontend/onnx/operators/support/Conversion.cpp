//===- Conversion.cpp - Node view for operator conversions ------------------------------------===//

#include "frontend/onnx/operators/support/Conversion.h"

#include "frontend/onnx/dialect/ElementTypes.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {

RankedTensorType Conversion::resultType(size_t i) const {
  return cast<RankedTensorType>(op().getOutputs()[i].getType());
}

LogicalResult Conversion::result(size_t i, Value value) {
  if (!wants(i))
    return success();
  RankedTensorType type = resultType(i);
  if (value.getType() != type.clone(storedElementType(type.getElementType())))
    return failure("result " + Twine(i) + " has type " + llvm::to_string(type) +
                   ", but its definition returns " + llvm::to_string(value.getType()));
  owner.define(op().getOutputs()[i], value);
  return success();
}

} // namespace mtc::onnx
