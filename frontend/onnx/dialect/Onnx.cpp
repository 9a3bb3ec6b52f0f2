//===- Onnx.cpp - The onnx dialect ------------------------------------------------------------===//

#include "frontend/onnx/dialect/Onnx.h"

#include "frontend/onnx/dialect/Tensor.h"
#include "ir/attributes/TensorImage.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace mtc::onnx;

#include "frontend/onnx/dialect/OnnxDialect.cpp.inc"

void OnnxDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "frontend/onnx/dialect/OnnxOps.cpp.inc"
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
  if (!getModuleImages() && !getPretrainedImages() && !getFileImages())
    return success();
  if (!type || !type.hasStaticShape())
    return emitOpError() << "has module images, but is " << getType()
                         << ", expected a tensor of static shape";
  return verifyTensorImages([&] { return emitOpError(); }, type,
                            {getModuleImagesAttr(), getPretrainedImagesAttr()},
                            getFileImagesAttr());
}

void ReturnOp::build(OpBuilder &, OperationState &) {}

LogicalResult ConstantOp::verify() {
  auto value = dyn_cast<RankedTensorType>(getValue().getShapedType());
  auto output = cast<RankedTensorType>(getOutput().getType());
  if (value == output)
    return success();
  auto isRepeated = [](auto extents) {
    const auto [own, whole] = extents;
    return own == whole || own == 1;
  };
  if (!isa<DenseElementsAttr>(getValue()) || !value || !Tensor::holds(value.getElementType()) ||
      value.getElementType() != output.getElementType() || value.getRank() != output.getRank() ||
      !llvm::all_of(llvm::zip_equal(value.getShape(), output.getShape()), isRepeated))
    return emitOpError("value has type ") << getValue().getShapedType() << ", the result " << output
                                          << "; expected one type, except for an extent of 1 in "
                                             "the value along which elements repeat";
  return success();
}

void NodeOp::build(OpBuilder &builder, OperationState &state, TypeRange outputs, StringAttr opType,
                   IntegerAttr version, StringAttr domain, DictionaryAttr attributes,
                   ValueRange inputs) {
  build(builder, state, outputs, opType, version, domain, attributes, inputs,
        /*graph_names=*/nullptr, /*graphsCount=*/0);
}

void NodeOp::build(OpBuilder &builder, OperationState &state, TypeRange outputs, StringRef opType,
                   uint64_t version, StringAttr domain, DictionaryAttr attributes,
                   ValueRange inputs) {
  build(builder, state, outputs, opType, version, domain, attributes, inputs,
        /*graph_names=*/nullptr, /*graphsCount=*/0);
}

LogicalResult NodeOp::verify() {
  size_t names = getGraphNames() ? getGraphNames()->size() : 0;
  if (names != getGraphs().size())
    return emitOpError("has ") << names << " graph names, but " << getGraphs().size() << " graphs";
  for (Region &graph : getGraphs())
    if (graph.front().empty() || !isa<ReturnOp>(graph.front().back()))
      return emitOpError("has a graph that does not end with onnx.return");
  return success();
}

Region *NodeOp::getGraph(StringRef name) {
  if (ArrayAttr names = getGraphNamesAttr())
    for (auto [known, graph] : llvm::zip(names.getAsRange<StringAttr>(), getGraphs()))
      if (known.getValue() == name)
        return &graph;
  return nullptr;
}

#define GET_OP_CLASSES
#include "frontend/onnx/dialect/OnnxOps.cpp.inc"
