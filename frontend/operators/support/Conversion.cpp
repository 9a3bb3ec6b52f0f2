//===- Conversion.cpp - Node view for operator conversions ------------------------------------===//

#include "frontend/operators/support/Conversion.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {

RankedTensorType Conversion::resultType(size_t i) const {
  return cast<RankedTensorType>(op().getOutputs()[i].getType());
}

LogicalResult Conversion::result(size_t i, Value value) {
  if (!wants(i))
    return success();
  if (value.getType() != resultType(i))
    return failure("result " + Twine(i) + " has type " + llvm::to_string(resultType(i)) +
                   ", but its definition returns " + llvm::to_string(value.getType()));
  owner.define(op().getOutputs()[i], value);
  return success();
}

} // namespace mtc::onnx
