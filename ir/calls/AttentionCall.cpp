//===- AttentionCall.cpp - Attention as a library call ----------------------------------------===//

#include "ir/Mtc.h"
#include "ir/TypeCode.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mtc;

/// Returns whether a target's library, or its own implementation, may support the element type.
static bool isCall(Value query) {
  Type element = typeOf(query).getElementType();
  return element.isF32() || element.isF64() || isNarrowFloat(element);
}

/// The last axis of queries, keys and values must be contiguous, and logsumexp and offsets dense;
/// bias and mask may have any strides.
template <typename Op> static bool takes(Op op, unsigned operand, ArrayRef<int64_t> strides) {
  Value value = op->getOperand(operand);
  ArrayRef<int64_t> shape = shapeOf(value);
  if (shape.size() == 3)
    return strides == ArrayRef<int64_t>(rowMajorStrides(shape));
  return value == op.getBias() || value == op.getMask() || shape.back() == 1 || strides.back() == 1;
}

static SmallVector<int64_t> naturalOrder(Value value) {
  return llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()));
}

/// Returns the strides of a result with axis order `order` along [batch, heads, length, width].
static SmallVector<int64_t> resultStrides(Value result, ArrayRef<int64_t> order) {
  return pick(rowMajorStrides(shapeOf(result)), invertPermutationVector(order));
}

/// Returns the strides of a bias or a mask with 0 along broadcast axes; empty if it is absent.
static SmallVector<int64_t> repeatedStrides(Value value) {
  if (!value)
    return {};
  SmallVector<int64_t> strides = stridesOf(value);
  for (auto [stride, extent] : llvm::zip_equal(strides, shapeOf(value)))
    stride = extent == 1 ? 0 : stride;
  return strides;
}

/// Fills in the part of the record that is common to all attention calls.
template <typename Op> static MtcAttention describe(Op op) {
  MtcAttention a = {};
  ArrayRef<int64_t> q = shapeOf(op.getQuery()), k = shapeOf(op.getKey());
  a.type = typeCode(typeOf(op.getQuery()).getElementType());
  a.has_bias = op.getBias() != nullptr;
  a.has_mask = op.getMask() != nullptr;
  a.is_causal = op.getCausal().has_value();
  a.causal_offset = static_cast<int64_t>(op.getCausal().value_or(0));
  a.batch = q[0];
  a.heads = q[1];
  a.key_heads = k[1];
  a.queries = q[2];
  a.keys = k[2];
  a.width = q[3];
  a.value_width = shapeOf(op.getValue())[3];
  a.scale = op.getScale().convertToDouble();
  llvm::copy(stridesOf(op.getQuery()), a.query);
  llvm::copy(stridesOf(op.getKey()), a.key);
  llvm::copy(stridesOf(op.getValue()), a.value);
  llvm::copy(repeatedStrides(op.getBias()), a.bias);
  llvm::copy(repeatedStrides(op.getMask()), a.mask);
  return a;
}

/// Returns the type of a result with permuted axes; null if the permutation moves the last axis.
static RankedTensorType permuted(Value result, ArrayRef<int64_t> permutation) {
  if (permutation.size() != 4 || permutation.back() != 3)
    return {};
  return RankedTensorType::get(pick(shapeOf(result), permutation), typeOf(result).getElementType());
}

//===------------------------------------------------------------------------------------------===//
// mtc.attention
//===------------------------------------------------------------------------------------------===//

bool AttentionOp::isLibraryCall() { return isCall(getQuery()); }

bool AttentionOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return takes(*this, operand, strides);
}

SmallVector<int64_t> AttentionOp::getDenseOrder(unsigned operand) {
  return naturalOrder(getOperand(operand));
}

Operation *AttentionOp::buildTransposed(OpBuilder &builder, unsigned result,
                                        ArrayRef<int64_t> permutation) {
  RankedTensorType type = permuted(getResult(result), permutation);
  if (!type)
    return nullptr;
  return PermutedAttentionOp::create(builder, getLoc(), type, getLogsumexp().getType(), getQuery(),
                                     getKey(), getValue(), getBias(), getMask(), getCausalAttr(),
                                     getScaleAttr(), builder.getDenseI64ArrayAttr(permutation));
}

CallAttrInterface AttentionOp::describeCall(std::optional<unsigned>) {
  MtcAttention a = describe(*this);
  llvm::copy(rowMajorStrides(shapeOf(getOut())), a.out);
  return AttentionCallAttr::get(getContext(), a);
}

//===------------------------------------------------------------------------------------------===//
// mtc.permuted_attention
//===------------------------------------------------------------------------------------------===//

bool PermutedAttentionOp::isLibraryCall() { return isCall(getQuery()); }

bool PermutedAttentionOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return takes(*this, operand, strides);
}

SmallVector<int64_t> PermutedAttentionOp::getDenseOrder(unsigned operand) {
  return naturalOrder(getOperand(operand));
}

Operation *PermutedAttentionOp::buildTransposed(OpBuilder &, unsigned, ArrayRef<int64_t>) {
  return nullptr;
}

CallAttrInterface PermutedAttentionOp::describeCall(std::optional<unsigned>) {
  MtcAttention a = describe(*this);
  llvm::copy(resultStrides(getOut(), getOutOrder()), a.out);
  return AttentionCallAttr::get(getContext(), a);
}

//===------------------------------------------------------------------------------------------===//
// mtc.attention_gradient
//===------------------------------------------------------------------------------------------===//

bool AttentionGradientOp::isLibraryCall() { return isCall(getQuery()); }

bool AttentionGradientOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return takes(*this, operand, strides);
}

SmallVector<int64_t> AttentionGradientOp::getDenseOrder(unsigned operand) {
  return naturalOrder(getOperand(operand));
}

Operation *AttentionGradientOp::buildTransposed(OpBuilder &builder, unsigned result,
                                                ArrayRef<int64_t> permutation) {
  RankedTensorType type = permuted(getResult(result), permutation);
  if (!type)
    return nullptr;
  ArrayRef<int64_t> orders[] = {getQueryOrder(), getKeyOrder(), getValueOrder()};
  StringAttr names[] = {getQueryOrderAttrName(), getKeyOrderAttrName(), getValueOrderAttrName()};
  Operation *transposed = builder.clone(**this);
  transposed->setAttr(names[result],
                      builder.getDenseI64ArrayAttr(pick(orders[result], permutation)));
  transposed->getResult(result).setType(type);
  return transposed;
}

CallAttrInterface AttentionGradientOp::describeCall(std::optional<unsigned>) {
  MtcAttention a = describe(*this);
  llvm::copy(stridesOf(getDOut()), a.out);
  if (getOut()) {
    a.has_out = 1;
    llvm::copy(stridesOf(getOut()), a.saved_out);
  }
  llvm::copy(resultStrides(getDQuery(), getQueryOrder()), a.d_query);
  llvm::copy(resultStrides(getDKey(), getKeyOrder()), a.d_key);
  llvm::copy(resultStrides(getDValue(), getValueOrder()), a.d_value);
  return AttentionGradientCallAttr::get(getContext(), a);
}
