//===- Reduction.cpp - Reductions over axes ---------------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"
#include "frontend/onnx/operators/support/Formulas.h"

#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Returns the reduced axes in ascending order. Axes are an attribute, or an operand since version
/// 13 (ReduceSum) or 18. Without axes, all are reduced, or none with `noop_with_empty_axes`.
FailureOr<Extents> reducedAxes(NodeView &node) {
  auto given = node.intsOperandOrAttribute(1, "axes");
  bool noop = node.flag("noop_with_empty_axes", false);
  if (failed(given) || node.failed())
    return failure();
  Extents axes;
  if (*given && !(*given)->empty())
    axes = node.normalizedAxes(**given, node.rank(0), "axes");
  else if (!noop)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  if (node.failed())
    return failure();
  llvm::sort(axes);
  return axes;
}

LogicalResult inferReduce(Inference &node) {
  bool keep = node.flag("keepdims", true);
  FailureOr<Extents> axes = reducedAxes(node);
  if (failed(axes))
    return failure();
  Extents shape;
  for (auto [axis, extent] : llvm::enumerate(node.shape(0))) {
    if (!llvm::is_contained(*axes, static_cast<int64_t>(axis)))
      shape.push_back(extent);
    else if (keep)
      shape.push_back(1);
  }
  return node.result(0, node.elementType(0), shape);
}

LogicalResult inferReduceFloats(Inference &node) {
  return success(node.floatElements(0) && succeeded(inferReduce(node)));
}

//===--- Evaluation ---------------------------------------------------------------------------===//

/// Folds result = finish(combination of each(x) over the axes, number of combined elements),
/// starting with `initial`.
template <typename T, typename Each, typename Combine, typename Finish>
void reduce(Inference &node, T initial, Each each, Combine combine, Finish finish) {
  Extents axes = *reducedAxes(node), kept(node.shape(0));
  int64_t combined = 1;
  for (int64_t axis : axes) {
    combined *= kept[axis];
    kept[axis] = 1;
  }
  if (elementCount(kept) > maxFoldedElements)
    return;
  std::vector<T> values = node.tensor(0).values<T>(), results(elementCount(kept), initial);
  walkIndices(node.shape(0), std::array{broadcastStrides(kept, node.shape(0))},
              [&](int64_t i, const std::array<int64_t, 1> &at) {
                results[at[0]] = combine(results[at[0]], each(values[i]));
              });
  for (T &result : results)
    result = finish(result, combined);
  if (results.empty())
    return node.fold(0, Tensor::allocate(node.resultType()));
  node.fold(0, Tensor::fromValues<T>(node.resultType(), results));
}

using Evaluate = std::function<void(Inference &)>;

/// Returns a constant folder for all element types; the functions are generic.
template <typename Initial, typename Each, typename Combine, typename Finish>
Evaluate overNumbers(Initial initial, Each each, Combine combine, Finish finish) {
  return [=](Inference &node) {
    auto fold = [&](auto kind) {
      reduce<decltype(kind)>(node, initial(kind), each, combine, finish);
    };
    if (isa<FloatType>(node.elementType(0)))
      fold(double()); // Sums accumulate in f64 and are rounded once.
    else
      dispatchInteger(node.elementType(0), fold);
  };
}

/// Returns a constant folder for float types; nodes on integers are not folded.
template <typename Each, typename Finish> Evaluate overFloats(Each each, Finish finish) {
  return [=](Inference &node) {
    if (!isa<FloatType>(node.elementType(0)))
      return;
    reduce<double>(node, 0, each, [](double a, double b) { return a + b; }, finish);
  };
}

/// Minimum and maximum value of a type, the results of an empty maximum and minimum.
template <typename T> T bottom(T) {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::min();
}
template <typename T> T top(T) {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}

//===--- Conversion ---------------------------------------------------------------------------===//

/// Reduces a tensor over axes, which are removed.
using Formula = Value (*)(TensorBuilder &b, Value x, ArrayRef<int64_t> axes);

Value total(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) { return b.sum(x, axes); }

Value mean(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) {
  if (isa<FloatType>(typeOf(x).getElementType()))
    return meanOver(b, x, axes);
  Value total = b.sum(x, axes);
  return b.div(total, b.splat(total, static_cast<double>(extentOver(x, axes))));
}

Value multiplied(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) {
  return b.reduce(ReductionKind::Mul, x, axes);
}

Value l1(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) { return b.sum(b.abs(x), axes); }

Value sumSquare(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) {
  return b.sum(b.mul(x, x), axes);
}

/// sqrt(sum x²). The gradient at 0 is 0, as in PyTorch's norm.
Value l2(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) {
  return safeRoot(b, sumSquare(b, x, axes), 0.5);
}

Value logSum(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) { return b.log(b.sum(x, axes)); }

/// m + log sum e^(x - m), where m is the maximum, or 0 if the maximum is infinite (inf - inf would
/// be NaN).
Value logSumExp(TensorBuilder &b, Value x, ArrayRef<int64_t> axes) {
  Value maximum = b.detach(b.reduce(ReductionKind::Max, x, axes)), zero = b.splat(maximum, 0.0);
  Value infinite = b.compare(Predicate::Eq, b.abs(maximum), b.splat(maximum, INFINITY));
  Value shift = b.select(infinite, zero, maximum);
  Value shifted = b.sub(x, b.broadcast(shift, axes, shapeOf(x)));
  return b.add(b.log(b.sum(b.exp(shifted), axes)), shift);
}

/// Returns the result of an empty reduction; 0 for integers if the neutral element is not finite.
Value ofNothing(Conversion &node, double neutral) {
  bool representable = isa<FloatType>(node.resultType().getElementType()) || std::isfinite(neutral);
  return node.b.splat(node.resultType(), representable ? neutral : 0.0);
}

/// Whether a reduction computes integers as integers or as real numbers.
enum class Integers { AsTheyAre, AsFloats };

LogicalResult convertReduction(Conversion &node, Formula formula, double neutral,
                               Integers integers) {
  FailureOr<Extents> axes = reducedAxes(node);
  if (failed(axes))
    return failure();
  TensorBuilder &b = node.b;
  if (node.type(0).getNumElements() == 0)
    return node.result(0, ofNothing(node, neutral));
  Type element = node.elementType(0);
  Value x = node.value(0);
  if (integers == Integers::AsFloats && !isa<FloatType>(element))
    x = b.cast(x, b.getF64Type());
  Value reduced = b.cast(formula(b, x, *axes), element);
  return node.result(0, b.reshape(reduced, node.resultShape()));
}

/// Returns the minimum (for a maximum) or maximum value of the element type.
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

/// Returns the elements of x along one axis that are the first to equal the extremum.
Value firstOf(TensorBuilder &b, Value x, Value extremum, int64_t axis) {
  ArrayRef<int64_t> shape = shapeOf(x);
  Value isExtremum = b.compare(Predicate::Eq, x, b.broadcast(extremum, {axis}, shape));
  Value position = b.iota(RankedTensorType::get(shape, b.getI64Type()), axis);
  Value none = b.splat(position, static_cast<double>(shape[axis]));
  Value first = b.reduce(ReductionKind::Min, b.select(isExtremum, position, none), {axis});
  Value isFirst = b.compare(Predicate::Eq, position, b.broadcast(first, {axis}, shape));
  Value found = b.sum(b.select(isFirst, x, b.splat(x, 0.0)), {axis});
  return b.select(b.isNan(extremum), extremum, found);
}

template <bool isMaximum> LogicalResult convertExtremum(Conversion &node) {
  FailureOr<Extents> axes = reducedAxes(node);
  if (failed(axes))
    return failure();
  if (node.type(0).getNumElements() == 0)
    return node.result(0, extremeOf(node, isMaximum));
  auto kind = isMaximum ? ReductionKind::Max : ReductionKind::Min;
  if (node.elementType(0).isInteger(1)) // Booleans are supported since version 20.
    kind = isMaximum ? ReductionKind::Or : ReductionKind::And;
  Value reduced = node.b.reduce(kind, node.value(0), *axes);
  if (node.op()->hasAttr(firstExtremumAttribute) && axes->size() == 1 &&
      isa<FloatType>(node.elementType(0)))
    reduced = firstOf(node.b, node.value(0), node.b.detach(reduced), axes->front());
  return node.result(0, node.b.reshape(reduced, node.resultShape()));
}

} // namespace

void addReductionOperators(Operators &operators) {
  auto zero = [](auto kind) { return decltype(kind)(0); };
  auto one = [](auto kind) { return decltype(kind)(1); };
  auto minimum = [](auto kind) { return bottom(kind); };
  auto greatest = [](auto kind) { return top(kind); };
  auto itself = [](auto x) { return x; };
  auto square = [](auto x) { return productOf(x, x); };
  auto magnitude = [](auto x) { return x < 0 ? productOf(x, decltype(x)(-1)) : x; };
  auto add = [](auto a, auto b) { return sumOf(a, b); };
  auto multiply = [](auto a, auto b) { return productOf(a, b); };
  auto larger = [](auto a, auto b) { return b != b || b > a ? b : a; };
  auto smaller = [](auto a, auto b) { return b != b || b < a ? b : a; };
  auto done = [](auto x, int64_t) { return x; };
  auto divided = [](auto x, int64_t count) -> decltype(x) {
    if constexpr (std::is_integral_v<decltype(x)>)
      return count == 0 ? 0 : x / static_cast<decltype(x)>(count);
    else
      return x / static_cast<decltype(x)>(count);
  };
  auto root = [](auto x, int64_t) { return std::sqrt(x); };
  auto logarithm = [](auto x, int64_t) { return std::log(x); };

  auto addReduction = [&](StringRef name, Evaluate evaluate, Formula formula, double neutral,
                          Integers integers = Integers::AsTheyAre) {
    auto convert = [=](Conversion &node) {
      return convertReduction(node, formula, neutral, integers);
    };
    operators.add(name, 1,
                  {.infer = inferReduce, .evaluate = std::move(evaluate), .convert = convert});
  };
  constexpr Integers asFloats = Integers::AsFloats;
  addReduction("ReduceSum", overNumbers(zero, itself, add, done), total, 0.0);
  addReduction("ReduceMean", overNumbers(zero, itself, add, divided), mean, NAN);
  addReduction("ReduceProd", overNumbers(one, itself, multiply, done), multiplied, 1.0);
  addReduction("ReduceL1", overNumbers(zero, magnitude, add, done), l1, 0.0);
  addReduction("ReduceL2", overFloats(square, root), l2, 0.0, asFloats);
  addReduction("ReduceSumSquare", overNumbers(zero, square, add, done), sumSquare, 0.0);
  addReduction("ReduceLogSum", overFloats(itself, logarithm), logSum, -INFINITY, asFloats);
  operators.add("ReduceLogSumExp", 1, {.infer = inferReduceFloats, .convert = [](Conversion &node) {
                                         return convertReduction(node, logSumExp, -INFINITY,
                                                                 Integers::AsTheyAre);
                                       }});
  operators.add("ReduceMax", 1,
                {.infer = inferReduce,
                 .evaluate = overNumbers(minimum, itself, larger, done),
                 .convert = convertExtremum<true>});
  operators.add("ReduceMin", 1,
                {.infer = inferReduce,
                 .evaluate = overNumbers(greatest, itself, smaller, done),
                 .convert = convertExtremum<false>});
}

} // namespace mtc::onnx
