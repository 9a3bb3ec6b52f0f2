//===- Reduction.cpp - Reductions, cumulative sum ---------------------------------------------===//

#include "frontend/convert/Converters.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Reduces float tensors over axes, which vanish.
using Rule = Value (*)(TensorBuilder &b, Value x, ArrayRef<int64_t> axes);

/// The axes, ascending: an attribute first, an operand since version 13 (ReduceSum) or 18; all
/// where absent, unless `noop_with_empty_axes`.
FailureOr<SmallVector<int64_t>> reducedAxes(Conversion &node) {
  bool noop = node.flag("noop_with_empty_axes", false);
  auto given = node.intsOperandOrAttribute(1, "axes");
  if (failed(given) || node.failed())
    return failure();
  SmallVector<int64_t> axes;
  if (*given && !(*given)->empty())
    axes = node.normalizedAxes(**given, node.rank(0), "axes");
  else if (!noop)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  llvm::sort(axes);
  if (node.failed())
    return failure();
  return axes;
}

int64_t extentOf(Value x, ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shapeOf(x)[axis];
  return count;
}

/// Repeats a reduced tensor along the axes that vanished.
Value repeatLike(TensorBuilder &b, Value reduced, Value x, ArrayRef<int64_t> axes) {
  return b.broadcast(reduced, axes, shapeOf(x));
}

Value sum(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) { return b.sum(x, axes); }

Value mean(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) {
  Value total = b.sum(x, axes);
  auto count = static_cast<double>(extentOf(x, axes));
  if (isa<FloatType>(typeOf(x).getElementType()))
    return b.mul(total, b.splat(total, 1.0 / count));
  return b.div(total, b.splat(total, count));
}

Value l1(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) { return b.sum(b.abs(x), axes); }

Value sumSquare(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) {
  return b.sum(b.mul(x, x), axes);
}

/// sqrt(sum x²). At 0 the gradient is 0, as PyTorch's norm has it, where the square root's alone
/// would be infinite.
Value l2(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) {
  Value square = sumSquare(b, x, axes), zero = b.splat(square, 0.0);
  Value isZero = b.compare(Predicate::Eq, square, zero);
  return b.select(isZero, zero, b.sqrt(b.select(isZero, b.splat(square, 1.0), square)));
}

Value logSum(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) { return b.log(b.sum(x, axes)); }

/// m + log sum e^(x - m) with the maximum m, or 0 where it is infinite (inf - inf would be NaN).
Value logSumExp(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) {
  Value maximum = b.detach(b.reduce(ReductionKind::Max, x, axes)), zero = b.splat(maximum, 0.0);
  Value infinite = b.compare(Predicate::Eq, b.abs(maximum), b.splat(maximum, INFINITY));
  Value shift = b.select(infinite, zero, maximum);
  Value shifted = b.sub(x, repeatLike(b, shift, x, axes));
  return b.add(b.log(b.sum(b.exp(shifted), axes)), shift);
}

/// Integers where the operator's arithmetic is that of reals.
enum class Integers { AsTheyAre, AsFloats };

/// What a reduction of no elements gives; integers have neither NaN nor infinity.
Value ofNothing(Conversion &node, double neutral) {
  bool representable = isa<FloatType>(node.resultType().getElementType()) || std::isfinite(neutral);
  return node.b.splat(node.resultType(), representable ? neutral : 0.0);
}

void add(Converters &converters, StringRef name, Rule rule, double neutral,
         Integers integers = Integers::AsTheyAre) {
  converters.add(name, 1, [=](Conversion &node) -> LogicalResult {
    FailureOr<SmallVector<int64_t>> axes = reducedAxes(node);
    if (failed(axes))
      return failure();
    TensorBuilder &b = node.b;
    if (node.type(0).getNumElements() == 0)
      return node.result(0, ofNothing(node, neutral));
    Type element = node.elementType(0);
    Value x = node.value(0);
    if (integers == Integers::AsFloats && !isa<FloatType>(element))
      x = b.cast(x, b.getF64Type());
    Value reduced = b.cast(rule(b, x, *axes), element);
    return node.result(0, b.reshape(reduced, node.resultShape()));
  });
}

/// The least (for a maximum) or greatest value of the element type.
Value extremeOf(Conversion &node, bool isMaximum) {
  RankedTensorType type = node.resultType();
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  if (!integer || integer.getWidth() == 1)
    return ofNothing(node, isMaximum ? (integer ? 0 : -INFINITY) : (integer ? 1 : INFINITY));
  unsigned width = integer.getWidth();
  APInt value =
      integer.isUnsigned()
          ? (isMaximum ? APInt::getMinValue(width) : APInt::getMaxValue(width))
          : (isMaximum ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width));
  return node.b.constant(DenseElementsAttr::get(type, IntegerAttr::get(integer, value)));
}

void addExtremum(Converters &converters, StringRef name, bool isMaximum) {
  converters.add(name, 1, [=](Conversion &node) -> LogicalResult {
    FailureOr<SmallVector<int64_t>> axes = reducedAxes(node);
    if (failed(axes))
      return failure();
    if (node.type(0).getNumElements() == 0)
      return node.result(0, extremeOf(node, isMaximum));
    auto kind = isMaximum ? ReductionKind::Max : ReductionKind::Min;
    if (node.elementType(0).isInteger(1)) // Booleans since version 20.
      kind = isMaximum ? ReductionKind::Or : ReductionKind::And;
    Value reduced = node.b.reduce(kind, node.value(0), *axes);
    return node.result(0, node.b.reshape(reduced, node.resultShape()));
  });
}

LogicalResult convertCumSum(Conversion &node) {
  bool exclusive = node.flag("exclusive", false), reverse = node.flag("reverse", false);
  auto axis = node.constantInts(1);
  if (!axis)
    return node.needsConstant(1);
  int64_t normalized = node.normalized(axis->front(), node.rank(0), node.operandName(1));
  if (node.failed())
    return failure();
  return node.result(0, node.b.cumulativeSum(node.value(0), normalized, exclusive, reverse));
}

/// The mean over all axes behind the channels.
LogicalResult convertGlobalAveragePool(Conversion &node) {
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
  return node.result(0, node.b.reshape(mean(node.b, node.value(0), axes), node.resultShape()));
}

LogicalResult convertGlobalMaxPool(Conversion &node) {
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
  Value reduced = node.b.reduce(ReductionKind::Max, node.value(0), axes);
  return node.result(0, node.b.reshape(reduced, node.resultShape()));
}

} // namespace

void registerReductionConverters(Converters &converters) {
  add(converters, "ReduceSum", sum, 0.0);
  add(converters, "ReduceMean", mean, NAN);
  add(
      converters, "ReduceProd",
      [](TensorBuilder &b, Value x, ArrayRef<int64_t> axes) {
        return b.reduce(ReductionKind::Mul, x, axes);
      },
      1.0);
  add(converters, "ReduceL1", l1, 0.0);
  add(converters, "ReduceL2", l2, 0.0, Integers::AsFloats);
  add(converters, "ReduceSumSquare", sumSquare, 0.0);
  add(converters, "ReduceLogSum", logSum, -INFINITY, Integers::AsFloats);
  add(converters, "ReduceLogSumExp", logSumExp, -INFINITY, Integers::AsFloats);
  addExtremum(converters, "ReduceMax", /*isMaximum=*/true);
  addExtremum(converters, "ReduceMin", /*isMaximum=*/false);
  converters.add("CumSum", 11, convertCumSum);
  converters.add("GlobalAveragePool", 1, convertGlobalAveragePool);
  converters.add("GlobalMaxPool", 1, convertGlobalMaxPool);
}

} // namespace mtc::onnx
