//===- TensorBuilder.cpp - Builder for tensor expressions -------------------------------------===//

#include "ir/builders/TensorBuilder.h"

#include "ir/ops/AttentionParts.h"

#include <numeric>

using namespace mlir;
using namespace mtc;

static RankedTensorType withElement(Value like, Type element) {
  return RankedTensorType::get(shapeOf(like), element);
}

Value TensorBuilder::neg(Value x) { return create<NegOp>(x); }
Value TensorBuilder::abs(Value x) { return create<AbsOp>(x); }
Value TensorBuilder::exp(Value x) { return create<ExpOp>(x); }
Value TensorBuilder::expm1(Value x) { return create<Expm1Op>(x); }
Value TensorBuilder::log(Value x) { return create<LogOp>(x); }
Value TensorBuilder::log1p(Value x) { return create<Log1pOp>(x); }
Value TensorBuilder::sqrt(Value x) { return create<SqrtOp>(x); }
Value TensorBuilder::rsqrt(Value x) { return create<RsqrtOp>(x); }
Value TensorBuilder::tanh(Value x) { return create<TanhOp>(x); }
Value TensorBuilder::logistic(Value x) { return create<LogisticOp>(x); }
Value TensorBuilder::erf(Value x) { return create<ErfOp>(x); }
Value TensorBuilder::sin(Value x) { return create<SinOp>(x); }
Value TensorBuilder::cos(Value x) { return create<CosOp>(x); }
Value TensorBuilder::sign(Value x) { return create<SignOp>(x); }
Value TensorBuilder::logicalNot(Value x) { return create<NotOp>(x); }
Value TensorBuilder::isNan(Value x) { return create<IsNanOp>(withElement(x, getI1Type()), x); }
Value TensorBuilder::add(Value a, Value b) { return create<AddOp>(a, b); }
Value TensorBuilder::sub(Value a, Value b) { return create<SubOp>(a, b); }
Value TensorBuilder::mul(Value a, Value b) { return create<MulOp>(a, b); }
Value TensorBuilder::div(Value a, Value b) { return create<DivOp>(a, b); }
Value TensorBuilder::rem(Value a, Value b) { return create<RemOp>(a, b); }
Value TensorBuilder::max(Value a, Value b) { return create<MaxOp>(a, b); }
Value TensorBuilder::min(Value a, Value b) { return create<MinOp>(a, b); }
Value TensorBuilder::pow(Value a, Value b) { return create<PowOp>(a, b); }
Value TensorBuilder::logicalAnd(Value a, Value b) { return create<AndOp>(a, b); }
Value TensorBuilder::logicalOr(Value a, Value b) { return create<OrOp>(a, b); }

Value TensorBuilder::compare(Predicate predicate, Value a, Value b) {
  return create<CompareOp>(withElement(a, getI1Type()), predicate, a, b);
}

Value TensorBuilder::select(Value condition, Value a, Value b) {
  return create<SelectOp>(condition, a, b);
}

Value TensorBuilder::selectByMode(Value training, Value inference) {
  return create<SelectByModeOp>(training, inference);
}

Value TensorBuilder::cast(Value x, Type element) {
  if (typeOf(x).getElementType() == element)
    return x;
  return create<CastOp>(withElement(x, element), x);
}

Value TensorBuilder::detach(Value x) { return create<DetachOp>(x); }

Value TensorBuilder::averageOverRanks(Value x, int64_t ranks) {
  return ranks == 1 ? x : create<AverageOverRanksOp>(x, static_cast<uint64_t>(ranks));
}

Value TensorBuilder::splat(Value like, double value) { return splat(typeOf(like), value); }

Value TensorBuilder::splat(RankedTensorType type, double value) {
  Type element = type.getElementType();
  Attribute attribute;
  if (auto floatType = dyn_cast<FloatType>(element))
    attribute = getFloatAttr(floatType, value);
  else if (element.isInteger(1))
    attribute = getBoolAttr(value != 0);
  else
    attribute = IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(),
                                                static_cast<uint64_t>(static_cast<int64_t>(value)),
                                                /*isSigned=*/true, /*implicitTrunc=*/true));
  return constant(DenseElementsAttr::get(type, attribute));
}

Value TensorBuilder::constant(ElementsAttr value) {
  return create<ConstantOp>(cast<RankedTensorType>(value.getShapedType()), value);
}

Value TensorBuilder::iota(RankedTensorType type, int64_t axis) {
  return create<IotaOp>(type, axis);
}

Value TensorBuilder::broadcast(Value x, ArrayRef<int64_t> axes, ArrayRef<int64_t> shape) {
  if (axes.empty())
    return x;
  return create<BroadcastOp>(RankedTensorType::get(shape, typeOf(x).getElementType()), x, axes);
}

Value TensorBuilder::broadcastTo(Value x, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(x);
  if (from == shape)
    return x;
  assert(from.size() <= shape.size() && "broadcast cannot lower the rank");
  size_t missing = shape.size() - from.size();
  SmallVector<int64_t> axes(missing), kept;
  std::iota(axes.begin(), axes.end(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == shape[missing + i]) {
      kept.push_back(from[i]);
    } else {
      assert(from[i] == 1 && "an extent that is repeated is 1");
      axes.push_back(missing + i);
    }
  }
  return broadcast(reshape(x, kept), axes, shape);
}

Value TensorBuilder::sumTo(Value x, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(x);
  if (from == shape)
    return x;
  size_t missing = from.size() - shape.size();
  SmallVector<int64_t> axes(missing);
  std::iota(axes.begin(), axes.end(), 0);
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 1 && from[missing + i] != 1)
      axes.push_back(missing + i);
  return reshape(axes.empty() ? x : sum(x, axes), shape);
}

Value TensorBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == shape)
    return x;
  return create<ReshapeOp>(RankedTensorType::get(shape, typeOf(x).getElementType()), x);
}

Value TensorBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape;
  bool isIdentity = true;
  for (auto [to, from] : llvm::enumerate(permutation)) {
    shape.push_back(shapeOf(x)[from]);
    isIdentity &= static_cast<int64_t>(to) == from;
  }
  if (isIdentity)
    return x;
  return create<TransposeOp>(RankedTensorType::get(shape, typeOf(x).getElementType()), x,
                             permutation);
}

Value TensorBuilder::slice(Value x, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
                           ArrayRef<int64_t> strides) {
  return create<SliceOp>(RankedTensorType::get(sizes, typeOf(x).getElementType()), x, offsets,
                         strides);
}

Value TensorBuilder::pad(Value x, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                         ArrayRef<int64_t> interior, double value) {
  SmallVector<int64_t> shape;
  for (auto [i, extent] : llvm::enumerate(shapeOf(x)))
    shape.push_back(low[i] + high[i] + extent + std::max<int64_t>(extent - 1, 0) * interior[i]);
  Type element = typeOf(x).getElementType();
  TypedAttr attribute;
  if (auto floatType = dyn_cast<FloatType>(element))
    attribute = getFloatAttr(floatType, value);
  else if (element.isInteger(1))
    attribute = getBoolAttr(value != 0);
  else
    attribute = getIntegerAttr(element, static_cast<int64_t>(value));
  return create<PadOp>(RankedTensorType::get(shape, element), x, low, high, interior, attribute);
}

Value TensorBuilder::reverse(Value x, ArrayRef<int64_t> axes) {
  return create<ReverseOp>(x.getType(), x, axes);
}

Value TensorBuilder::concatenate(ValueRange inputs, int64_t axis) {
  if (inputs.size() == 1)
    return inputs.front();
  SmallVector<int64_t> shape(shapeOf(inputs.front()));
  for (Value input : inputs.drop_front())
    shape[axis] += shapeOf(input)[axis];
  return create<ConcatenateOp>(
      RankedTensorType::get(shape, typeOf(inputs.front()).getElementType()), inputs, axis);
}

Value TensorBuilder::windows(Value x, ArrayRef<int64_t> axes, ArrayRef<int64_t> positions,
                             ArrayRef<int64_t> taps, ArrayRef<int64_t> strides,
                             ArrayRef<int64_t> dilations) {
  SmallVector<int64_t> shape(shapeOf(x));
  for (auto [axis, extent] : llvm::zip_equal(axes, positions))
    shape[axis] = extent;
  llvm::append_range(shape, taps);
  return create<WindowsOp>(RankedTensorType::get(shape, typeOf(x).getElementType()), x, axes,
                           strides, dilations);
}

Value TensorBuilder::overlapAdd(Value y, ArrayRef<int64_t> axes, ArrayRef<int64_t> offsets,
                                ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations,
                                ArrayRef<int64_t> shape) {
  return create<OverlapAddOp>(RankedTensorType::get(shape, typeOf(y).getElementType()), y, axes,
                              offsets, strides, dilations);
}

Value TensorBuilder::gather(Value x, Value indices, int64_t axis, int64_t batch) {
  SmallVector<int64_t> shape(shapeOf(x).take_front(axis));
  llvm::append_range(shape, shapeOf(indices).drop_front(batch));
  llvm::append_range(shape, shapeOf(x).drop_front(axis + 1));
  return create<GatherOp>(RankedTensorType::get(shape, typeOf(x).getElementType()), x, indices,
                          axis, batch);
}

Value TensorBuilder::scatterAdd(Value updates, Value indices, int64_t axis, int64_t batch,
                                int64_t extent) {
  int64_t indexAxes = typeOf(indices).getRank() - batch;
  SmallVector<int64_t> shape(shapeOf(updates).take_front(axis));
  shape.push_back(extent);
  llvm::append_range(shape, shapeOf(updates).drop_front(axis + indexAxes));
  return create<ScatterAddOp>(RankedTensorType::get(shape, typeOf(updates).getElementType()),
                              updates, indices, axis, batch, /*onto=*/Value());
}

Value TensorBuilder::reduce(ReductionKind kind, Value x, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return x;
  SmallVector<int64_t> shape;
  for (auto [i, extent] : llvm::enumerate(shapeOf(x)))
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      shape.push_back(extent);
  return create<ReduceOp>(RankedTensorType::get(shape, typeOf(x).getElementType()), kind, x, axes);
}

Value TensorBuilder::contract(Value lhs, Value rhs, ArrayRef<int64_t> lhsBatch,
                              ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContract,
                              ArrayRef<int64_t> rhsContract, Type element) {
  SmallVector<int64_t> shape;
  for (int64_t axis : lhsBatch)
    shape.push_back(shapeOf(lhs)[axis]);
  auto appendFree = [&](Value x, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracted) {
    for (int64_t i = 0; i < typeOf(x).getRank(); ++i)
      if (!llvm::is_contained(batch, i) && !llvm::is_contained(contracted, i))
        shape.push_back(shapeOf(x)[i]);
  };
  appendFree(lhs, lhsBatch, lhsContract);
  appendFree(rhs, rhsBatch, rhsContract);
  if (!element)
    element = typeOf(lhs).getElementType();
  return create<ContractOp>(RankedTensorType::get(shape, element), lhs, rhs, lhsBatch, rhsBatch,
                            lhsContract, rhsContract);
}

Value TensorBuilder::attention(Value query, Value key, Value value, Value bias, Value mask,
                               std::optional<int64_t> causal, double scale) {
  SmallVector<int64_t> shape(shapeOf(query));
  Type element = typeOf(query).getElementType();
  auto sums =
      RankedTensorType::get(ArrayRef<int64_t>(shape).drop_back(), attentionSumType(element));
  shape.back() = shapeOf(value).back();
  return create<AttentionOp>(RankedTensorType::get(shape, element), sums, query, key, value, bias,
                             mask, causal ? getI64IntegerAttr(*causal) : IntegerAttr(),
                             llvm::APFloat(scale))
      .getOut();
}

Value TensorBuilder::cumulativeSum(Value x, int64_t axis, bool exclusive, bool reverse) {
  return create<CumulativeSumOp>(x.getType(), x, axis, exclusive, reverse);
}

Value TensorBuilder::extremumShare(Value dy, Value a, Value other, Value y) {
  Value half = mul(dy, splat(dy, 0.5)), zero = splat(dy, 0.0);
  Value attained = select(compare(Predicate::Eq, a, y), dy, zero);
  return select(compare(Predicate::Eq, a, other), half, attained);
}

Value TensorBuilder::powBaseGradient(Value dy, Value a, Value b) {
  Value zero = splat(b, 0.0);
  Value slope = mul(b, pow(a, sub(b, splat(b, 1.0))));
  return mul(dy, select(compare(Predicate::Eq, b, zero), zero, slope));
}

Value TensorBuilder::powExponentGradient(Value dy, Value a, Value b, Value y) {
  Value zero = splat(a, 0.0);
  Value flat = logicalAnd(compare(Predicate::Eq, a, zero), compare(Predicate::Ge, b, zero));
  return mul(dy, select(flat, zero, mul(y, log(a))));
}
