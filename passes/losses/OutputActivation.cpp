//===- OutputActivation.cpp - Recognition of a final softmax or sigmoid -----------------------===//

#include "passes/losses/OutputActivation.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Maximum number of operations between an activation and the output.
constexpr int deepest = 32;

/// Returns the activation that computes `output`. With `onlySigmoid`, other activations are not
/// matched, which takes time linear in the budget.
std::optional<ActivatedOutput> find(Value output, int budget, bool onlySigmoid = false);

bool isSplat(Value value, double expected) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat() ||
      !isa<FloatType>(elements.getElementType()))
    return false;
  return elements.getSplatValue<APFloat>().convertToDouble() == expected;
}

/// Returns the value before reshapes: row sums are often kept with an axis of size 1.
Value throughReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

bool isFloatCast(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  return cast && isa<FloatType>(typeOf(cast.getInput()).getElementType()) &&
         isa<FloatType>(typeOf(cast).getElementType());
}

/// Returns the value that is broadcast along exactly this one axis; null if there is none.
Value repeatedAlong(Value value, std::optional<int64_t> axis = {}) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  bool isAlong = broadcast && broadcast.getAxes().size() == 1 &&
                 (!axis || broadcast.getAxes().front() == *axis);
  return isAlong ? broadcast.getInput() : Value();
}

/// Returns the value that is summed along this axis. Masked rows, which a guarded softmax divides
/// by 1, are ignored.
Value summedAlong(Value value, int64_t axis) {
  value = throughReshapes(value);
  if (auto guard = value.getDefiningOp<SelectOp>(); guard && isSplat(guard.getOnTrue(), 1))
    value = guard.getOnFalse();
  auto reduce = value.getDefiningOp<ReduceOp>();
  bool isSum = reduce && reduce.getKind() == ReductionKind::Add &&
               reduce.getAxes() == ArrayRef<int64_t>{axis};
  return isSum ? reduce.getInput() : Value();
}

/// Strips a shift, since the softmax of x - c equals that of x if c is broadcast along the softmax
/// axis.
Value withoutShift(Value value, int64_t axis) {
  auto shifted = value.getDefiningOp<SubOp>();
  return shifted && repeatedAlong(shifted.getRhs(), axis) ? shifted.getLhs() : value;
}

/// Builds ln s(x) without overflow.
Value logSigmoid(TensorBuilder &b, Value x) {
  return b.sub(b.min(x, b.splat(x, 0.0)), b.log1p(b.exp(b.neg(b.abs(x)))));
}

/// Returns whether a value is at most 1 where sums of probabilities are 0: scikit-learn's exporter
/// adds such a value to both operands of a division.
bool isZeroGuard(Value value) {
  for (int i = 0; i < deepest; ++i) {
    Operation *op = value.getDefiningOp();
    if (auto cast = dyn_cast_or_null<CastOp>(op);
        cast && typeOf(cast.getInput()).getElementType().isInteger(1))
      return true;
    bool isPassed = op && (isa<ReshapeOp, BroadcastOp>(op) || isFloatCast(op) ||
                           (isa<MulOp>(op) && matchPattern(op->getOperand(1), m_Constant())));
    if (!isPassed)
      return false;
    value = op->getOperand(0);
  }
  return false;
}

Value withoutZeroGuard(Value value) {
  auto add = throughReshapes(value).getDefiningOp<AddOp>();
  if (add && isZeroGuard(add.getRhs()))
    return add.getLhs();
  return add && isZeroGuard(add.getLhs()) ? add.getRhs() : value;
}

ActivatedOutput activated(OutputActivation activation, StringLiteral name, Value output,
                          Value input, int64_t axis) {
  return {activation, name, output.getDefiningOp(),
          input,      axis, [input](TensorBuilder &) { return input; }};
}

/// Returns the other operand of an addition of a splat; null for other values.
Value plus(Value value, double splat) {
  auto add = value.getDefiningOp<AddOp>();
  if (add && isSplat(add.getRhs(), splat))
    return add.getLhs();
  return add && isSplat(add.getLhs(), splat) ? add.getRhs() : Value();
}

/// Matches s(x) as one operation, 1 / (1 + e^-x), and e^x / (1 + e^x).
std::optional<ActivatedOutput> matchSigmoid(Value output) {
  auto sigmoidOf = [&](Value x) {
    return activated(OutputActivation::Sigmoid, "Sigmoid", output, x, /*axis=*/-1);
  };
  if (auto logistic = output.getDefiningOp<LogisticOp>())
    return sigmoidOf(logistic.getInput());
  auto division = output.getDefiningOp<DivOp>();
  Value term = division ? plus(division.getRhs(), 1) : Value();
  auto exponential = term ? term.getDefiningOp<ExpOp>() : ExpOp();
  if (!exponential)
    return std::nullopt;
  Value exponent = exponential.getInput();
  if (division.getLhs() == exponential.getResult())
    return sigmoidOf(exponent);
  if (!isSplat(division.getLhs(), 1))
    return std::nullopt;
  if (auto neg = exponent.getDefiningOp<NegOp>())
    return sigmoidOf(neg.getInput());
  ActivatedOutput found = sigmoidOf(exponent);
  found.buildLogits = [exponent](TensorBuilder &b) { return b.neg(exponent); };
  return found;
}

/// Matches 1 - s(x) = s(-x).
std::optional<ActivatedOutput> matchComplement(Value output, int budget) {
  auto sub = output.getDefiningOp<SubOp>();
  if (!sub || !isSplat(sub.getLhs(), 1))
    return std::nullopt;
  std::optional<ActivatedOutput> found = find(sub.getRhs(), budget - 1);
  if (!found || found->activation != OutputActivation::Sigmoid)
    return std::nullopt;
  auto build = found->buildLogits;
  found->buildLogits = [build](TensorBuilder &b) { return b.neg(build(b)); };
  return found;
}

/// Matches p / sum p as a division or as a multiplication by the reciprocal; returns p and the axis
/// of the sum.
std::pair<Value, int64_t> matchNormalized(Value output) {
  auto match = [](Value p, Value repeated, bool isReciprocal) -> std::pair<Value, int64_t> {
    Value divisor = repeatedAlong(repeated);
    if (!divisor)
      return {};
    int64_t axis = repeated.getDefiningOp<BroadcastOp>().getAxes().front();
    if (isReciprocal) {
      auto inverse = throughReshapes(divisor).getDefiningOp<DivOp>();
      if (!inverse || !isSplat(inverse.getLhs(), 1))
        return {};
      divisor = inverse.getRhs();
    }
    p = withoutZeroGuard(p);
    Value terms = summedAlong(withoutZeroGuard(divisor), axis);
    if (auto absolute = terms ? terms.getDefiningOp<AbsOp>() : AbsOp())
      terms = absolute.getInput();
    return terms == p ? std::pair(p, axis) : std::pair<Value, int64_t>();
  };
  if (auto division = output.getDefiningOp<DivOp>())
    return match(division.getLhs(), division.getRhs(), /*isReciprocal=*/false);
  if (auto product = output.getDefiningOp<MulOp>()) {
    auto found = match(product.getLhs(), product.getRhs(), /*isReciprocal=*/true);
    return found.first ? found : match(product.getRhs(), product.getLhs(), true);
  }
  return {};
}

/// Returns a builder of the logarithm of sigmoids, which are one tensor or one tensor per class.
std::function<Value(TensorBuilder &)> logarithmOfSigmoids(Value p, int64_t axis) {
  SmallVector<Value> parts{p};
  if (auto concatenate = p.getDefiningOp<ConcatenateOp>();
      concatenate && static_cast<int64_t>(concatenate.getAxis()) == axis)
    parts.assign(concatenate.getInputs().begin(), concatenate.getInputs().end());
  std::vector<std::function<Value(TensorBuilder &)>> builders;
  for (Value part : parts) {
    std::optional<ActivatedOutput> sigmoid = find(part, deepest, /*onlySigmoid=*/true);
    if (!sigmoid)
      return nullptr;
    builders.push_back(sigmoid->buildLogits);
  }
  return [builders, axis](TensorBuilder &b) {
    SmallVector<Value> logarithms;
    for (const auto &build : builders)
      logarithms.push_back(logSigmoid(b, build(b)));
    return b.concatenate(logarithms, axis);
  };
}

/// Matches e^x / sum e^x = softmax(x), s(x) / sum s(x) = softmax(ln s(x)), and a softmax that is
/// divided by its sum, which is 1.
std::optional<ActivatedOutput> matchSoftmax(Value output, int budget) {
  auto [positive, axis] = matchNormalized(output);
  if (!positive)
    return std::nullopt;
  if (auto exponential = positive.getDefiningOp<ExpOp>())
    return activated(OutputActivation::Softmax, "Softmax", output,
                     withoutShift(exponential.getInput(), axis), axis);
  if (auto logarithm = logarithmOfSigmoids(positive, axis)) {
    ActivatedOutput found =
        activated(OutputActivation::Softmax, "normalized Sigmoid", output, positive, axis);
    found.buildLogits = logarithm;
    return found;
  }
  std::optional<ActivatedOutput> found = find(positive, budget - 1);
  bool isSoftmax = found && found->activation == OutputActivation::Softmax &&
                   found->name != "LogSoftmax" && found->classAxis == axis;
  return isSoftmax ? found : std::nullopt;
}

/// Matches x - ln sum e^x. The terms of the sum may be shifted, with the shift added to the
/// logarithm.
std::optional<ActivatedOutput> matchLogSoftmax(Value output) {
  auto sub = output.getDefiningOp<SubOp>();
  Value repeated = sub ? repeatedAlong(sub.getRhs()) : Value();
  if (!repeated)
    return std::nullopt;
  int64_t axis = sub.getRhs().getDefiningOp<BroadcastOp>().getAxes().front();
  auto logarithmOf = [](Value value) { return throughReshapes(value).getDefiningOp<LogOp>(); };
  auto logarithm = logarithmOf(repeated);
  if (auto add = throughReshapes(repeated).getDefiningOp<AddOp>()) {
    logarithm = logarithmOf(add.getLhs());
    if (!logarithm)
      logarithm = logarithmOf(add.getRhs());
  }
  Value terms = logarithm ? summedAlong(logarithm.getInput(), axis) : Value();
  auto exponential = terms ? terms.getDefiningOp<ExpOp>() : ExpOp();
  Value x = withoutShift(sub.getLhs(), axis);
  if (!exponential || withoutShift(exponential.getInput(), axis) != x)
    return std::nullopt;
  return activated(OutputActivation::Softmax, "LogSoftmax", output, x, axis);
}

/// Matches the logarithm of a softmax.
std::optional<ActivatedOutput> matchLogOfSoftmax(Value output, int budget) {
  auto logarithm = output.getDefiningOp<LogOp>();
  std::optional<ActivatedOutput> found;
  if (logarithm)
    found = find(logarithm.getInput(), budget - 1);
  if (!found || found->activation != OutputActivation::Softmax || found->name == "LogSoftmax")
    return std::nullopt;
  found->name = "LogSoftmax";
  return found;
}

/// Matches [1 - s(x), s(x)] = softmax([0, x]) and [s(x), 1 - s(x)] = softmax([x, 0]).
std::optional<ActivatedOutput> matchPair(Value output, int budget) {
  auto pair = output.getDefiningOp<ConcatenateOp>();
  if (!pair || pair.getInputs().size() != 2)
    return std::nullopt;
  auto axis = static_cast<int64_t>(pair.getAxis());
  for (unsigned positive : {1u, 0u}) {
    Value p = pair.getInputs()[positive];
    auto complement = pair.getInputs()[1 - positive].getDefiningOp<SubOp>();
    if (!complement || !isSplat(complement.getLhs(), 1) || complement.getRhs() != p ||
        shapeOf(p)[axis] != 1)
      continue;
    std::optional<ActivatedOutput> sigmoid = find(p, budget - 1);
    if (!sigmoid || sigmoid->activation != OutputActivation::Sigmoid)
      continue;
    ActivatedOutput found = *sigmoid;
    found.activation = OutputActivation::Softmax;
    found.name = "pair of a Sigmoid and its complement";
    found.classAxis = axis;
    found.buildLogits = [build = sigmoid->buildLogits, positive, axis](TensorBuilder &b) {
      Value x = build(b), zero = b.splat(x, 0.0);
      return b.concatenate(positive == 1 ? ValueRange{zero, x} : ValueRange{x, zero}, axis);
    };
    return found;
  }
  return std::nullopt;
}

/// Returns whether an operation only moves elements of its first operand, independently of their
/// values.
bool isMovement(Operation *op) {
  return isa<ReshapeOp, TransposeOp, SliceOp, ReverseOp, BroadcastOp, GatherOp>(op);
}

/// Returns the result axis of a reshape that corresponds to an operand axis; -1 if the axis is
/// merged or split.
int64_t axisAfterReshape(ReshapeOp reshape, int64_t axis) {
  ArrayRef<int64_t> from = shapeOf(reshape.getInput()), to = shapeOf(reshape);
  int64_t before = ShapedType::getNumElements(from.take_front(axis)), product = 1;
  for (auto [i, extent] : llvm::enumerate(to)) {
    if (product == before && extent == from[axis] && extent != 1)
      return static_cast<int64_t>(i);
    product *= extent;
  }
  return -1;
}

/// Returns the result axis of a data movement that corresponds to an operand axis; -1 if no axis
/// does as a whole.
int64_t axisAfter(Operation *op, int64_t axis) {
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return axisAfterReshape(reshape, axis);
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return llvm::find(transpose.getPermutation(), axis) - transpose.getPermutation().begin();
  if (auto slice = dyn_cast<SliceOp>(op))
    return shapeOf(slice)[axis] == shapeOf(slice.getInput())[axis] ? axis : -1;
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (int64_t added : broadcast.getAxes()) // Ascending.
      axis += added <= axis;
    return axis;
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    auto gathered = static_cast<int64_t>(gather.getAxis());
    if (axis == gathered)
      return -1;
    int64_t added = typeOf(gather).getRank() - typeOf(gather.getInput()).getRank();
    return axis < gathered ? axis : axis + added;
  }
  return axis; // mtc.reverse.
}

/// Builds the same data movement of another value.
Value moved(TensorBuilder &b, Operation *movement, Value value) {
  Operation *copy = b.clone(*movement);
  copy->setOperand(0, value);
  Type element = typeOf(value).getElementType();
  copy->getResult(0).setType(typeOf(copy->getResult(0)).clone(element));
  return copy->getResult(0);
}

/// Returns the operand of a concatenation that a slice selects completely; null for other slices.
Value chosenOperand(Operation *op) {
  auto slice = dyn_cast_or_null<SliceOp>(op);
  auto concatenate = slice ? slice.getInput().getDefiningOp<ConcatenateOp>() : ConcatenateOp();
  if (!concatenate)
    return {};
  auto axis = static_cast<size_t>(concatenate.getAxis());
  for (size_t i = 0; i < shapeOf(slice).size(); ++i)
    if (i != axis && shapeOf(slice)[i] != shapeOf(concatenate)[i])
      return {};
  int64_t begin = 0;
  for (Value input : concatenate.getInputs()) {
    int64_t extent = shapeOf(input)[axis];
    if (begin == slice.getOffsets()[axis])
      return shapeOf(slice)[axis] == extent && (extent == 1 || slice.getStrides()[axis] == 1)
                 ? input
                 : Value();
    begin += extent;
  }
  return {};
}

std::optional<ActivatedOutput> matchHere(Value value, int budget, bool onlySigmoid) {
  std::optional<ActivatedOutput> found = matchSigmoid(value);
  if (!found && !onlySigmoid)
    found = matchLogSoftmax(value);
  if (found || onlySigmoid)
    return found;
  for (auto match : {matchComplement, matchSoftmax, matchLogOfSoftmax, matchPair})
    if (std::optional<ActivatedOutput> other = match(value, budget))
      return other;
  return std::nullopt;
}

std::optional<ActivatedOutput> find(Value output, int budget, bool onlySigmoid) {
  SmallVector<Operation *> movements; // From the output to the activation.
  for (; budget > 0; --budget) {
    if (std::optional<ActivatedOutput> found = matchHere(output, budget, onlySigmoid)) {
      for (Operation *movement : llvm::reverse(movements)) {
        if (found->classAxis >= 0)
          found->classAxis = axisAfter(movement, found->classAxis);
        found->buildLogits = [build = found->buildLogits, movement](TensorBuilder &b) {
          return moved(b, movement, build(b));
        };
      }
      return found;
    }
    Operation *op = output.getDefiningOp();
    if (Value chosen = chosenOperand(op)) {
      output = chosen;
      continue;
    }
    if (!op || (!isFloatCast(op) && !isMovement(op)))
      return std::nullopt;
    if (isMovement(op))
      movements.push_back(op);
    output = op->getOperand(0);
  }
  return std::nullopt;
}

} // namespace

std::optional<ActivatedOutput> mtc::findActivation(Value output) { return find(output, deepest); }
