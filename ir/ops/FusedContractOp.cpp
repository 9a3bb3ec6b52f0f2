//===- FusedContractOp.cpp - Contractions with epilogues --------------------------------------===//

#include "ir/builders/Shape.h"
#include "ir/ops/Contraction.h"

using namespace mlir;
using namespace mtc;

LogicalResult FusedContractOp::verify() {
  Contraction contraction(*this);
  if (failed(contraction.verify()))
    return failure();
  RankedTensorType type = getType();
  if (!contraction.isLibraryCall())
    return emitOpError() << "returns " << type << " over " << getLhsContract().size()
                         << " axes, expected floats of at most 32 bits and a contracted axis "
                            "(fused_contract_c1)";
  if (getAddends().empty() && !getActivation() && !getSummed())
    return emitOpError("has neither an addend nor an activation nor a sum (fused_contract_c2)");
  if (getAddends().size() > maxAddends ||
      !llvm::all_of(getAddends().getTypes(), [&](Type other) { return contraction.mayAdd(other); }))
    return emitOpError() << "adds values of types " << getAddends().getTypes()
                         << ", expected at most " << maxAddends << " of the extents of " << type
                         << ", of the operands' element type, or f32 if that is narrower "
                            "(fused_contract_c6)";
  bool needsPreactivation = getActivation() == Activation::GeluGradient;
  if (needsPreactivation != !!getPreactivation() ||
      (getPreactivation() && getPreactivation().getType() != type)) {
    InFlightDiagnostic error = emitOpError("has ");
    getPreactivation() ? error << "a pre-activation of type " << getPreactivation().getType()
                       : error << "no pre-activation";
    needsPreactivation ? error << ", expected one of type " << type : error << ", expected none";
    return error << " (fused_contract_c3)";
  }
  if (getAuxiliary() && (getActivation() != Activation::Gelu || getAuxiliary().getType() != type))
    return emitOpError() << "has an auxiliary result of type " << getAuxiliary().getType()
                         << ", expected one of gelu, of type " << type << " (fused_contract_c4)";
  if (getSums() && !getSummed())
    return emitOpError("returns sums, but has no `summed` attribute (fused_contract_c5)");
  if (!getSummed())
    return success();
  RankedTensorType expected = contraction.getSumsType(*getSummed());
  if (!getSums() || getSums().getType() != expected || !getLhsBatch().empty())
    return emitOpError() << "returns sums of " << stringifySummed(*getSummed()) << " and has "
                         << getLhsBatch().size() << " batch axes, expected sums of type "
                         << expected << " and no batch axes (fused_contract_c5)";
  return success();
}

/// Counts one operation per element for an activation and for a sum.
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

/// The pre-activation has the dense layout of the result.
bool FusedContractOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  if (operand >= firstAddend + getAddends().size())
    return strides == ArrayRef(rowMajorStrides(getType().getShape()));
  return Contraction(*this).takesLayout(operand, strides);
}

SmallVector<int64_t> FusedContractOp::getDenseOrder(unsigned operand) {
  return Contraction(*this).getDenseOrder(operand);
}

//===------------------------------------------------------------------------------------------===//
// Epilogues
//===------------------------------------------------------------------------------------------===//

static Epilogue epilogueOf(FusedContractOp op) {
  return {SmallVector<Value>(op.getAddends()), op.getActivation(), op.getAuxiliary() != nullptr,
          op.getPreactivation(), op.getSummed()};
}

/// Returns whether the epilogue consists of addends only, so that more operations may follow.
static bool onlyAdds(FusedContractOp op) { return !op.getActivation() && !op.getSummed(); }

Operation *FusedContractOp::buildAdding(OpBuilder &builder, Value value) {
  if (!onlyAdds(*this) || getAddends().size() == maxAddends ||
      !Contraction(*this).mayAdd(value.getType()))
    return nullptr;
  Epilogue epilogue = epilogueOf(*this);
  epilogue.addends = Contraction(*this).appendAddend(value);
  return Contraction(*this).buildFused(builder, epilogue);
}

Operation *FusedContractOp::buildActivated(OpBuilder &builder, Activation activation,
                                           bool hasAuxiliary, Value preactivation) {
  if (!onlyAdds(*this) || (hasAuxiliary && activation != Activation::Gelu))
    return nullptr;
  Epilogue epilogue = epilogueOf(*this);
  epilogue.activation = activation;
  epilogue.hasAuxiliary = hasAuxiliary;
  epilogue.preactivation = preactivation;
  return Contraction(*this).buildFused(builder, epilogue);
}

/// Libraries can reduce their result only after an activation.
Operation *FusedContractOp::buildSumming(OpBuilder &builder, Value summed, ArrayRef<int64_t> kept) {
  Epilogue epilogue = epilogueOf(*this);
  epilogue.summed = Contraction(*this).findSummed(summed, kept);
  if (getSummed() || !epilogue.summed || (epilogue.summed == Summed::Result && !getActivation()))
    return nullptr;
  return Contraction(*this).buildFused(builder, epilogue);
}

bool FusedContractOp::mayAccumulate(unsigned operand) {
  return Contraction(*this).mayAccumulate(operand);
}

//===------------------------------------------------------------------------------------------===//
// Library call
//===------------------------------------------------------------------------------------------===//

CallAttrInterface FusedContractOp::describeCall(std::optional<unsigned> accumulated) {
  MtcContraction c = Contraction(*this).describe(accumulated);
  if (std::optional<Activation> activation = getActivation())
    c.activation = static_cast<uint32_t>(*activation);
  c.has_auxiliary = getAuxiliary() != nullptr;
  if (std::optional<Summed> summed = getSummed())
    c.summed = static_cast<uint32_t>(*summed);
  return ContractionCallAttr::get(getContext(), c);
}
