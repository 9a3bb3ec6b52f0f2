//===- FusedConvolveOp.cpp - Convolutions with epilogues --------------------------------------===//

#include "ir/ops/Convolution.h"

using namespace mlir;
using namespace mtc;

static constexpr unsigned firstAddend = 2;

/// Returns whether a value of the output's type has one element for each channel, broadcast along
/// the other axes. Axes of extent 1 are ignored.
static bool repeatsChannels(RankedTensorType type, ArrayRef<int64_t> strides) {
  for (auto [i, extent] : llvm::enumerate(type.getShape()))
    if (extent != 1 && strides[i] != (static_cast<int64_t>(i) + 1 == type.getRank() ? 1 : 0))
      return false;
  return true;
}

/// Returns whether a value may be an addend: it has the output's extents and an element type that
/// may hold the sums.
template <typename Op> static bool mayAdd(Op op, Value value) {
  return shapeOf(value) == shapeOf(op.getOutput()) &&
         holdsSumsOf(typeOf(op.getInput()).getElementType(), typeOf(value).getElementType());
}

LogicalResult FusedConvolveOp::verify() {
  if (failed(verifyConvolution(*this)))
    return failure();
  RankedTensorType type = getOutput().getType();
  auto isOther = [&](Value value) { return value && !mayAdd(*this, value); };
  if ((!getBias() && !getAddend() && !getActivation()) || isOther(getBias()) ||
      isOther(getAddend()) || getActivation().value_or(Activation::Relu) != Activation::Relu)
    return emitOpError()
           << "expected a bias or an addend of the extents of " << type
           << ", of the operands' element type, or f32 if that is narrower, or relu as its "
              "activation (fused_convolve_c1)";
  return success();
}

bool FusedConvolveOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return operand == firstAddend && getBias() ? repeatsChannels(getOutput().getType(), strides)
                                             : isDense(*this, operand, strides);
}

SmallVector<int64_t> FusedConvolveOp::getDenseOrder(unsigned operand) {
  return naturalOrder(*this, operand);
}

CallAttrInterface FusedConvolveOp::describeCall(std::optional<unsigned>) {
  MtcConvolution c = describeConvolution(*this);
  c.has_bias = getBias() != nullptr;
  c.has_addend = getAddend() != nullptr;
  if (getBias())
    c.bias_type = typeCode(typeOf(getBias()).getElementType());
  if (getAddend())
    c.addend_type = typeCode(typeOf(getAddend()).getElementType());
  if (std::optional<Activation> activation = getActivation())
    c.activation = static_cast<uint32_t>(*activation);
  return ConvolutionCallAttr::get(getContext(), c);
}

Cost FusedConvolveOp::getCost() { return describeCall(std::nullopt).getCost(); }

//===------------------------------------------------------------------------------------------===//
// Epilogues
//===------------------------------------------------------------------------------------------===//

namespace {

/// The epilogue of `mtc.fused_convolve`.
struct Epilogue {
  Value bias = {}, addend = {};
  std::optional<Activation> activation = {};
};

Epilogue epilogueOf(ConvolveOp) { return {}; }

Epilogue epilogueOf(FusedConvolveOp op) {
  return {op.getBias(), op.getAddend(), op.getActivation()};
}

template <typename Op> Operation *buildFused(OpBuilder &builder, Op op, const Epilogue &epilogue) {
  ActivationAttr activation = epilogue.activation
                                  ? ActivationAttr::get(builder.getContext(), *epilogue.activation)
                                  : ActivationAttr();
  auto fused =
      FusedConvolveOp::create(builder, op.getLoc(), op.getOutput().getType(), op.getInput(),
                              op.getWeights(), epilogue.bias, epilogue.addend, activation,
                              op.getGroups(), op.getBefore(), op.getStrides(), op.getDilations());
  fused->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return fused;
}

/// Adds a bias or an addend, of which there is at most one each, before an activation.
template <typename Op> Operation *addTo(OpBuilder &builder, Op op, Value value) {
  Epilogue epilogue = epilogueOf(op);
  RankedTensorType type = op.getOutput().getType();
  if (epilogue.activation || !mayAdd(op, value))
    return nullptr;
  SmallVector<int64_t> strides = stridesOf(value);
  if (!epilogue.bias && repeatsChannels(type, strides))
    epilogue.bias = value;
  else if (!epilogue.addend && strides == rowMajorStrides(type.getShape()))
    epilogue.addend = value;
  else
    return nullptr;
  return buildFused(builder, op, epilogue);
}

template <typename Op>
Operation *activate(OpBuilder &builder, Op op, Activation activation, bool hasAuxiliary) {
  Epilogue epilogue = epilogueOf(op);
  if (epilogue.activation || activation != Activation::Relu || hasAuxiliary)
    return nullptr;
  epilogue.activation = activation;
  return buildFused(builder, op, epilogue);
}

} // namespace

Operation *ConvolveOp::buildAdding(OpBuilder &builder, Value value) {
  return addTo(builder, *this, value);
}
Operation *ConvolveOp::buildActivated(OpBuilder &builder, Activation activation, bool hasAuxiliary,
                                      Value) {
  return activate(builder, *this, activation, hasAuxiliary);
}
Operation *ConvolveOp::buildSumming(OpBuilder &, Value, ArrayRef<int64_t>) { return nullptr; }
bool ConvolveOp::mayAccumulate(unsigned) { return false; }

Operation *FusedConvolveOp::buildAdding(OpBuilder &builder, Value value) {
  return addTo(builder, *this, value);
}
Operation *FusedConvolveOp::buildActivated(OpBuilder &builder, Activation activation,
                                           bool hasAuxiliary, Value) {
  return activate(builder, *this, activation, hasAuxiliary);
}
Operation *FusedConvolveOp::buildSumming(OpBuilder &, Value, ArrayRef<int64_t>) { return nullptr; }
bool FusedConvolveOp::mayAccumulate(unsigned) { return false; }
