//===- FusedContractOp.cpp - Contractions with what libraries make of them --------------------===//

#include "ir/Contraction.h"
#include "ir/Shape.h"

using namespace mlir;
using namespace mtc;

LogicalResult FusedContractOp::verify() {
  Contraction contraction(*this);
  if (failed(contraction.verify()))
    return failure();
  RankedTensorType type = getType();
  if (!contraction.isLibraryCall())
    return emitOpError() << "gives " << type << " over " << getLhsContract().size()
                         << " axes, expected floats of at most 32 bits and a contracted axis "
                            "(fused_contract_c1)";
  if (!getActivation() && !getSummed())
    return emitOpError("has neither an activation nor a sum (fused_contract_c2)");
  bool needsPoint = getActivation() == Activation::GeluGradient;
  if (needsPoint != !!getPoint() || (getPoint() && getPoint().getType() != type)) {
    InFlightDiagnostic error = emitOpError("has ");
    getPoint() ? error << "a point of type " << getPoint().getType() : error << "no point";
    needsPoint ? error << ", expected one of type " << type : error << ", expected none";
    return error << " (fused_contract_c3)";
  }
  if (getKept() && (getActivation() != Activation::Gelu || getKept().getType() != type))
    return emitOpError() << "keeps sums of type " << getKept().getType()
                         << ", expected those of gelu, of type " << type << " (fused_contract_c4)";
  if (getSums() && !getSummed())
    return emitOpError("gives sums, but does not say of what (fused_contract_c5)");
  if (!getSummed())
    return success();
  RankedTensorType expected = contraction.getSumsType(*getSummed());
  if (!getSums() || getSums().getType() != expected || !getLhsBatch().empty())
    return emitOpError() << "sums " << stringifySummed(*getSummed()) << " over "
                         << getLhsBatch().size()
                         << " batch axes, expected none, and the sums to be " << expected
                         << " (fused_contract_c5)";
  return success();
}

/// An activation counts as one operation, a sum as one for each element.
Cost FusedContractOp::getCost() {
  Cost cost = Contraction(*this).getCost();
  if (getActivation())
    cost.flops += getType().getNumElements();
  if (getSummed()) {
    Value summed = getSummed() == Summed::Lhs   ? Value(getLhs())
                   : getSummed() == Summed::Rhs ? Value(getRhs())
                                                : Value(getResult());
    cost.flops += cast<RankedTensorType>(summed.getType()).getNumElements();
  }
  return cost;
}

/// The point is read as the result is written: densely.
bool FusedContractOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  if (operand >= ContractOp::firstAddend + getAddends().size())
    return strides == ArrayRef(rowMajorStrides(getType().getShape()));
  return Contraction(*this).takesLayout(operand, strides);
}

SmallVector<int64_t> FusedContractOp::getDenseOrder(unsigned operand) {
  return Contraction(*this).getDenseOrder(operand);
}

Operation *FusedContractOp::buildSumming(OpBuilder &builder, Value summed, ArrayRef<int64_t> kept) {
  std::optional<Summed> found = Contraction(*this).findSummed(summed, kept);
  if (getSummed() || !found)
    return nullptr;
  return Contraction(*this).buildFused(builder, getActivation(), !!getKept(), getPoint(), found);
}

bool FusedContractOp::mayWriteOver(unsigned result, unsigned operand) {
  return Contraction(*this).mayWriteOver(result, operand);
}

Operation *FusedContractOp::buildCall(OpBuilder &builder, const CallPlaces &places) {
  CallContractOp call = Contraction(*this).buildCall(builder, places);
  call.setActivationAttr(getActivationAttr());
  call.setSummedAttr(getSummedAttr());
  if (getPoint())
    call.setPointAttr(places.operands.back());
  if (getKept())
    call.setKeptAttr(places.results[1]);
  if (getSums())
    call.setSumsAttr(places.results.back());
  return call;
}
