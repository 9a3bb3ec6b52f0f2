//===- PlanOps.cpp - Verifiers of the placed program ------------------------------------------===//

#include "ir/Mtc.h"

using namespace mlir;
using namespace mtc;

SmallVector<AtAttr> CallContractOp::getPlaces() {
  SmallVector<AtAttr> places = {getLhsAttr(), getRhsAttr()};
  llvm::append_range(places, getAddends().getAsRange<AtAttr>());
  if (getPoint())
    places.push_back(getPointAttr());
  places.push_back(getOutAttr());
  for (AtAttr result : {getKeptAttr(), getSumsAttr()})
    if (result)
      places.push_back(result);
  return places;
}

/// Operands and results, each counted once; a result that is added to, twice.
Cost CallContractOp::getCost() {
  int64_t m = getM(), n = getN(), k = getK(), flops = 2 * m * n * k;
  int64_t lhs = m * k, rhs = k * n, out = m * n * (getAccumulate() ? 2 : 1);
  for (auto [extent, lhsStride, rhsStride] :
       llvm::zip_first(getBatch(), getLhsStrides(), getRhsStrides())) {
    flops *= extent;
    // A stride of 0: the operand is the same along this axis.
    lhs *= lhsStride ? extent : 1;
    rhs *= rhsStride ? extent : 1;
    out *= extent;
  }
  for (AtAttr place : {getPointAttr(), getKeptAttr(), getSumsAttr()})
    if (place)
      out += place.getType().getNumElements();
  int64_t addends = 0;
  SmallVector<int64_t> shape(getBatch());
  shape.append({m, n});
  for (size_t i = 0; i < getAddends().size(); ++i) {
    int64_t elements = 1;
    for (auto [extent, stride] :
         llvm::zip_equal(shape, getAddendStrides().slice(i * shape.size(), shape.size())))
      elements *= stride ? extent : 1;
    addends += elements;
  }
  return {flops, (lhs + rhs + addends + out) * elementBytes(getOut().getType().getElementType())};
}

SmallVector<AtAttr> CallAttentionOp::getPlaces() {
  SmallVector<AtAttr> places(getInputs().getAsRange<AtAttr>());
  llvm::append_range(places, getOutputs().getAsRange<AtAttr>());
  return places;
}

Cost CallAttentionOp::getCost() {
  return {static_cast<int64_t>(getFlops()), static_cast<int64_t>(getBytes())};
}

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
