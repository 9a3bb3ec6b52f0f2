//===- Onnx.cpp - The onnx dialect ------------------------------------------------------------===//

#include "frontend/dialect/Onnx.h"

#include "ir/TensorImage.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace mtc::onnx;

#include "frontend/dialect/OnnxDialect.cpp.inc"

void OnnxDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "frontend/dialect/OnnxOps.cpp.inc"
      >();
}

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void GraphOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

void InitializerOp::build(OpBuilder &builder, OperationState &state, RankedTensorType type,
                          StringRef name) {
  state.addTypes(type);
  state.addAttribute(getNameAttrName(state.name), builder.getStringAttr(name));
}

LogicalResult InitializerOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!getModuleImages() && !getFileImages())
    return success();
  if (!type || !type.hasStaticShape())
    return emitOpError() << "has images, but is " << getType()
                         << ", expected a tensor of known extents";
  return verifyTensorImages([&] { return emitOpError(); }, type, getModuleImagesAttr(),
                            getFileImagesAttr());
}

void ReturnOp::build(OpBuilder &, OperationState &) {}

LogicalResult ConstantOp::verify() {
  if (getValue().getShapedType() != getOutput().getType())
    return emitOpError("value has type ")
           << getValue().getShapedType() << ", the result " << getOutput().getType();
  return success();
}

#define GET_OP_CLASSES
#include "frontend/dialect/OnnxOps.cpp.inc"
