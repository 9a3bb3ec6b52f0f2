//===- PlanOps.cpp - Verifiers of the placed program ------------------------------------------===//

#include "ir/Mtc.h"
#include "ir/TypeCode.h"

using namespace mlir;
using namespace mtc;

LogicalResult CallOp::verify() {
  CallShapes shapes = getCall().getShapes();
  auto agree = [&](StringRef what, ArrayAttr slices,
                   ArrayRef<CallShapes::Shape> expected) -> LogicalResult {
    if (slices.size() != expected.size())
      return emitOpError("has ") << slices.size() << ' ' << what << ", but its library takes "
                                 << expected.size() << " (call_c1)";
    for (auto [slice, shape] : llvm::zip_equal(slices.getAsRange<AtAttr>(), expected)) {
      RankedTensorType type = slice.getType();
      int64_t elements = shape.elements.value_or(type.getNumElements());
      if (typeCode(type.getElementType()) != shape.type || type.getNumElements() != elements)
        return emitOpError("has ") << type << " among its " << what << ", expected " << elements
                                   << " elements of " << typeName(shape.type) << " (call_c1)";
    }
    return success();
  };
  return success(succeeded(agree("inputs", getInputs(), shapes.operands)) &&
                 succeeded(agree("outputs", getOutputs(), shapes.results)));
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelFunctionOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("launches ")
           << getKernelAttr() << ", which is no kernel function (launch_c1)";
  auto agree = [](ArrayAttr slices, ArrayRef<RankedTensorType> types) {
    if (slices.size() != types.size())
      return false;
    return llvm::all_of(llvm::zip_equal(slices, types), [](auto pair) {
      return cast<AtAttr>(std::get<0>(pair)).getType() == std::get<1>(pair);
    });
  };
  if (!agree(getInputs(), kernel.getInputTypes()) || !agree(getOutputs(), kernel.getOutputTypes()))
    return emitOpError("has other slices than ") << getKernelAttr() << " has operands (launch_c1)";
  return success();
}
