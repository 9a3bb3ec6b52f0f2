//===- LayerParameters.cpp - The layers that parameters belong to -----------------------------===//

#include "passes/program/LayerParameters.h"

#include "ir/attributes/TensorImage.h"
#include "ir/builders/TensorBuilder.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mtc;

/// Returns whether an operation rearranges or repeats the elements of its only operand.
static bool isMovement(Operation *op) {
  return isa<CastOp, TransposeOp, ReshapeOp, BroadcastOp>(op);
}

/// Returns the value that movements rearrange; in training, if it depends on the mode.
static Value sourceOf(Value value) {
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (op && isMovement(op))
      value = op->getOperand(0);
    else if (auto select = value.getDefiningOp<SelectByModeOp>())
      value = select.getTraining();
    else
      return value;
  }
}

static bool isConstant(Value value) { return matchPattern(sourceOf(value), m_Constant()); }

static int64_t elementsOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shape[axis];
  return count;
}

/// Returns the weight of a contraction with an operand that is one.
static std::optional<LayerParameter> weightOf(ContractOp op, unsigned operand) {
  const bool isRhs = operand == 1;
  const ArrayRef<int64_t> contracted = isRhs ? op.getRhsContract() : op.getLhsContract();
  if (!op.getLhsBatch().empty() || contracted.empty())
    return std::nullopt;
  const ArrayRef<int64_t> shape = shapeOf(op->getOperand(operand));
  return LayerParameter{LayerRole::Weight, elementsOf(shape, contracted),
                        elementsOf(shape, isRhs ? op.getRhsFree() : op.getLhsFree())};
}

/// Returns the weight of a layer; nothing if the operand is not its weight. PyTorch's fan of a
/// convolution, and of a transposed one, follows from the first two axes.
static std::optional<LayerParameter> weightOf(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto contraction = dyn_cast<ContractOp>(op))
    return weightOf(contraction, use.getOperandNumber());
  if (!isa<ConvolveOp, TransposedConvolveOp>(op) || use.getOperandNumber() != 1)
    return std::nullopt;
  const ArrayRef<int64_t> shape = shapeOf(use.get());
  const int64_t count = typeOf(use.get()).getNumElements();
  return LayerParameter{LayerRole::Weight, count / shape[0], count / shape[1]};
}

/// Returns whether the value is the square root of a mean with a term for stability.
static bool isDeviation(Value value) {
  auto root = sourceOf(value).getDefiningOp<SqrtOp>();
  auto sum = root ? sourceOf(root.getOperand()).getDefiningOp<AddOp>() : AddOp();
  return sum && (isConstant(sum.getLhs()) || isConstant(sum.getRhs()));
}

static bool isInverseDeviation(Value value) {
  Value source = sourceOf(value);
  if (auto root = source.getDefiningOp<RsqrtOp>()) {
    auto sum = sourceOf(root.getOperand()).getDefiningOp<AddOp>();
    return sum && (isConstant(sum.getLhs()) || isConstant(sum.getRhs()));
  }
  auto quotient = source.getDefiningOp<DivOp>();
  return quotient && isConstant(quotient.getLhs()) && isDeviation(quotient.getRhs());
}

/// Returns whether the value is normalized, before a scale.
static bool isNormalized(Value value) {
  if (isInverseDeviation(value))
    return true;
  Value source = sourceOf(value);
  if (auto product = source.getDefiningOp<MulOp>())
    return isInverseDeviation(product.getLhs()) || isInverseDeviation(product.getRhs());
  auto quotient = source.getDefiningOp<DivOp>();
  return quotient && isDeviation(quotient.getRhs());
}

/// Returns whether the value is normalized, after a scale or without one.
static bool isScaled(Value value) {
  if (isNormalized(value))
    return true;
  auto product = sourceOf(value).getDefiningOp<MulOp>();
  return product && (isNormalized(product.getLhs()) || isNormalized(product.getRhs()));
}

/// Returns whether the value is a variable, possibly rearranged.
static bool isVariable(Value value) { return bool(sourceOf(value).getDefiningOp<ReadOp>()); }

/// Returns the layer of a bias with `count` elements that is added to a value.
static std::optional<LayerParameter> biasOf(Value sum, int64_t count) {
  if (isScaled(sum))
    return LayerParameter{LayerRole::Shift};
  Operation *op = sourceOf(sum).getDefiningOp();
  if (!isa_and_nonnull<ContractOp, ConvolveOp, TransposedConvolveOp>(op))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isVariable(operand.get()))
      continue;
    std::optional<LayerParameter> weight = weightOf(operand);
    const int64_t units = isa<ContractOp>(op)   ? (weight ? weight->fanOut : 0)
                          : isa<ConvolveOp>(op) ? shapeOf(operand.get())[0]
                                                : typeOf(op->getResult(0)).getShape().back();
    if (weight && units == count)
      return LayerParameter{LayerRole::Bias, weight->fanIn, weight->fanOut};
  }
  return std::nullopt;
}

/// Returns the number of units of the recurrent layer to which all users of a parameter's value
/// belong; nothing if a user belongs to none. The parameter is contracted or added before.
static std::optional<int64_t> unitsOf(Value value, bool isParameter, unsigned depth = 12) {
  std::optional<int64_t> units;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    std::optional<int64_t> found;
    if (auto recurrence = dyn_cast<RecurrenceOp>(user)) {
      const bool isLayer = use.get() == recurrence.getGates() ||
                           use.get() == recurrence.getWeights() ||
                           use.get() == recurrence.getBias();
      if (isLayer)
        found = shapeOf(recurrence.getState()).back();
    } else if (depth > 0 && (isMovement(user) || isa<SliceOp, ConcatenateOp, PadOp>(user))) {
      found = unitsOf(user->getResult(0), isParameter, depth - 1);
    } else if (depth > 0 && (isa<AddOp>(user) || (isParameter && isa<ContractOp>(user)))) {
      found = unitsOf(user->getResult(0), /*isParameter=*/false, depth - 1);
    }
    if (!found || (units && *units != *found))
      return std::nullopt;
    units = found;
  }
  return units;
}

/// Returns whether all users add the value: consecutive rows of a position embedding.
static bool isAdded(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<AddOp>(user) || (isMovement(user) && isAdded(user->getResult(0)));
  });
}

/// Returns the row of an embedding whose gradient is 0: `ids == row` selects detached values.
static std::optional<int64_t> paddingRow(GatherOp gather) {
  for (Operation *user : gather->getUsers()) {
    auto select = dyn_cast<SelectOp>(user);
    auto isPadding =
        select ? sourceOf(select.getCondition()).getDefiningOp<CompareOp>() : CompareOp();
    DenseIntElementsAttr row;
    if (isPadding && isPadding.getPredicate() == Predicate::Eq &&
        select.getOnTrue().getDefiningOp<DetachOp>() &&
        matchPattern(sourceOf(isPadding.getRhs()), m_Constant(&row)) && row.isSplat())
      return row.getSplatValue<APInt>().getSExtValue();
  }
  return std::nullopt;
}

namespace {

/// The uses of one variable.
class Uses {
public:
  explicit Uses(VariableOp variable) : variable(variable) {}

  bool add(Value read);
  std::optional<LayerParameter> layer;

private:
  std::optional<LayerParameter> classify(OpOperand &use);
  std::optional<LayerParameter> classifyState(OpOperand &use);
  bool addUse(OpOperand &use);

  VariableOp variable;
};

} // namespace

/// Running statistics are recognized by inference, which normalizes with them.
std::optional<LayerParameter> Uses::classifyState(OpOperand &use) {
  Value result = use.getOwner()->getNumResults() ? use.getOwner()->getResult(0) : Value();
  auto reaches = [&](auto isWanted) {
    return llvm::any_of(result.getUsers(), [&](Operation *user) { return isWanted(user); });
  };
  if (isa<AddOp>(use.getOwner()) &&
      reaches([](Operation *user) { return isa<RsqrtOp, SqrtOp>(user); }))
    return LayerParameter{LayerRole::Scale};
  if (isa<SubOp>(use.getOwner()) && use.getOperandNumber() == 1 &&
      reaches([](Operation *user) { return isa<MulOp>(user) || isa<DivOp>(user); }))
    return LayerParameter{LayerRole::Shift};
  return std::nullopt;
}

std::optional<LayerParameter> Uses::classify(OpOperand &use) {
  Operation *user = use.getOwner();
  if (std::optional<LayerParameter> weight = weightOf(use))
    return weight;
  if (auto gather = dyn_cast<GatherOp>(user); gather && use.getOperandNumber() == 0)
    return gather.getAxis() == 0 && variable.getTensorType().getRank() == 2
               ? std::optional(LayerParameter{LayerRole::Embedding, 1, 1, paddingRow(gather)})
               : std::nullopt;
  if (isa<SliceOp>(user) && variable.getTensorType().getRank() == 2 && isAdded(user->getResult(0)))
    return LayerParameter{LayerRole::Embedding};
  if (!isa<AddOp, MulOp>(user))
    return std::nullopt;
  Value other = user->getOperand(1 - use.getOperandNumber());
  if (isa<AddOp>(user))
    return biasOf(other, variable.getTensorType().getNumElements());
  return isNormalized(other) ? std::optional(LayerParameter{LayerRole::Scale}) : std::nullopt;
}

bool Uses::addUse(OpOperand &use) {
  if (isMovement(use.getOwner()))
    return add(use.getOwner()->getResult(0));
  const bool isState = variable.getRole() == Role::State;
  std::optional<LayerParameter> found = isState ? classifyState(use) : classify(use);
  if (!found)
    return isState; // Training updates the state from its value.
  if (layer && layer->role == LayerRole::Embedding && found->role != LayerRole::Embedding)
    return found->role == LayerRole::Weight;
  if (layer && layer->role == LayerRole::Weight && found->role == LayerRole::Embedding)
    layer.reset();
  if (!layer)
    layer = found;
  return layer->role == found->role && layer->fanIn == found->fanIn;
}

/// Adds the uses of a value of the variable; returns false if one is of no layer.
bool Uses::add(Value read) {
  if (std::optional<int64_t> units = unitsOf(read, /*isParameter=*/true)) {
    const LayerParameter recurrent = {LayerRole::Recurrent, *units, *units};
    const bool isSame = !layer || *layer == recurrent;
    layer = recurrent;
    return isSame;
  }
  return llvm::all_of(read.getUses(), [&](OpOperand &use) { return addUse(use); });
}

std::optional<LayerParameter> mtc::findLayer(VariableOp variable, ArrayRef<ReadOp> reads) {
  Uses uses(variable);
  const bool isKnown = llvm::all_of(reads, [&](ReadOp read) { return uses.add(read.getResult()); });
  return isKnown ? uses.layer : std::nullopt;
}
