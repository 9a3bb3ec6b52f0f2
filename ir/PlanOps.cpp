//===- PlanOps.cpp - Verifiers of the placed program ------------------------------------------===//

#include "ir/Mtc.h"

using namespace mlir;
using namespace mtc;

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelFunctionOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("launches ")
           << getKernelAttr() << ", which is no kernel function (launch_c1)";
  auto agree = [](ArrayAttr places, ArrayRef<RankedTensorType> types) {
    if (places.size() != types.size())
      return false;
    return llvm::all_of(llvm::zip_equal(places, types), [](auto pair) {
      return cast<AtAttr>(std::get<0>(pair)).getType() == std::get<1>(pair);
    });
  };
  if (!agree(getInputs(), kernel.getInputTypes()) || !agree(getOutputs(), kernel.getOutputTypes()))
    return emitOpError("has other places than ") << getKernelAttr() << " has operands (launch_c1)";
  return success();
}
