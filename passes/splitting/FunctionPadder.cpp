//===- FunctionPadder.cpp - Longer axes of a function's values --------------------------------===//

#include "passes/splitting/FunctionPadder.h"

#include "ir/builders/Scalar.h"
#include "passes/sharding/AxisParts.h"
#include "passes/splitting/LocalOperations.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mtc;

static int64_t blockOf(RankedTensorType type, AxisSplitAttr split) {
  return type.getDimSize(split.getAxis()) / split.getOuter();
}

/// Returns the type of a value with padding.
static RankedTensorType paddedType(RankedTensorType type, AxisSplitAttr split,
                                   AxisPadding padding) {
  SmallVector<int64_t> shape(type.getShape());
  shape[split.getAxis()] += split.getOuter() * padding.after(blockOf(type, split));
  return type.clone(shape);
}

bool mtc::canPad(Operation *op, const OperationSplit &split) {
  // The number of a random element is that in the tensor without padding.
  if (isa<RandomBitsOp, PartialOp, AllReduceOp, ReshardOp>(op) || split.isOfAddends() ||
      !split.operandsElsewhere.empty())
    return false;
  if (!split.partial)
    return true;
  if (auto gather = dyn_cast<GatherOp>(op))
    return split.operands[0] &&
           split.operands[0].getAxis() == static_cast<int64_t>(gather.getAxis());
  return isa<ReduceOp, ContractOp, ConvolveOp, TransposedConvolveOp, ConvolveWeightGradientOp>(op);
}

FunctionPadder::Padded FunctionPadder::paddedOf(TensorBuilder &b, Value original,
                                                AxisSplitAttr split, AxisPadding padding) {
  if (auto found = known.find(original);
      found != known.end() && found->second.split == split && found->second.padding == padding)
    return found->second;
  Value whole = wholeOf(b, original);
  const RankedTensorType type = typeOf(whole);
  if (DenseElementsAttr splat; matchPattern(whole, m_Constant(&splat)) && splat.isSplat())
    return {split, padding, b.constant(splat.resizeSplat(paddedType(type, split, padding)))};
  Value value =
      padBlocks(b, whole, split.getAxis(), split.getOuter(), padding.after(blockOf(type, split)));
  return {split, padding, value, /*isZero=*/true};
}

Value FunctionPadder::wholeOf(TensorBuilder &b, Value original) {
  auto found = known.find(original);
  if (found == known.end())
    return original;
  Padded &padded = found->second;
  if (!padded.whole)
    padded.whole = dropPadding(b, padded.value, padded.split.getAxis(), padded.split.getOuter(),
                               padded.padding.after(blockOf(typeOf(original), padded.split)));
  return padded.whole;
}

static Attribute neutralOf(ReductionKind kind, Type element) {
  TypedAttr neutral = neutralElement(kind, getScalarType(element), isUnsigned(element));
  if (auto number = dyn_cast<FloatAttr>(neutral))
    return FloatAttr::get(element, number.getValueAsDouble());
  return IntegerAttr::get(element, cast<IntegerAttr>(neutral).getValue());
}

/// Returns the value with the neutral element of a reduction as padding.
Value FunctionPadder::withNeutral(TensorBuilder &b, const Padded &padded, ReductionKind kind) {
  if (padded.isZero && kind == ReductionKind::Add)
    return padded.value;
  Value &result = masked[{padded.value, kind}];
  if (result)
    return result;
  const RankedTensorType type = typeOf(padded.value);
  const int64_t axis = padded.split.getAxis(), outer = padded.split.getOuter(),
                extent = type.getDimSize(axis), block = extent / outer;
  auto blocks = RankedTensorType::get({outer, block}, b.getI32Type());
  Value number = b.iota(blocks, 1);
  const int64_t own = block / padded.padding.padded * padded.padding.unit;
  Value isOwn = b.reshape(
      b.compare(Predicate::Lt, number, b.splat(blocks, static_cast<double>(own))), {extent});
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != axis)
      others.push_back(i);
  if (!others.empty())
    isOwn = b.broadcast(isOwn, others, type.getShape());
  Value filled = b.constant(DenseElementsAttr::get(type, neutralOf(kind, type.getElementType())));
  return result = b.select(isOwn, padded.value, filled);
}

/// Returns indices of rows of a table with padding: the numbers from the start of rows of the table
/// without padding, and the number after the padding for others, which do not exist.
static Value indicesWithPadding(TensorBuilder &b, Value indices, int64_t extent, int64_t padded) {
  Value wide = b.cast(indices, b.getI64Type());
  auto bound = [&](int64_t value) { return b.splat(wide, static_cast<double>(value)); };
  Value fromStart =
      b.select(b.compare(Predicate::Lt, wide, bound(0)), b.add(wide, bound(extent)), wide);
  Value exists = b.logicalAnd(b.compare(Predicate::Ge, fromStart, bound(0)),
                              b.compare(Predicate::Lt, fromStart, bound(extent)));
  return b.select(exists, fromStart, bound(padded));
}

/// Returns the numbers of a list with the padding before that of the padded axis.
static SmallVector<int64_t> withPadding(ArrayRef<int64_t> numbers, AxisSplitAttr split,
                                        AxisPadding padding) {
  SmallVector<int64_t> longer(numbers);
  longer[split.getAxis()] += padding.after(longer[split.getAxis()]);
  return longer;
}

/// Returns whether the padding of the results is 0 if that of all operands is.
static bool keepsZeros(Operation *op) {
  return isa<AddOp, SubOp, MulOp, NegOp, CastOp, SelectOp, ReshapeOp, TransposeOp, SliceOp,
             ReverseOp, BroadcastOp, ConcatenateOp, AverageOverRanksOp, DetachOp, GatherOp,
             ScatterAddOp, AttentionOp, AttentionGradientOp>(op);
}

/// Returns whether an operation adds products or elements, so that it reads 0 as padding.
static bool addsElements(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() == ReductionKind::Add;
  return isa<ContractOp, ConvolveOp, TransposedConvolveOp, ConvolveWeightGradientOp>(op);
}

Operation *FunctionPadder::buildPadded(TensorBuilder &b, Operation *op, const OperationSplit &split,
                                       AxisPadding padding, bool &isZero) {
  SmallVector<Value> operands;
  bool hasZeros = false, areZero = true;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    AxisSplitAttr part = split.operands[number];
    if (!part) {
      operands.push_back(wholeOf(b, operand));
      continue;
    }
    const Padded padded = paddedOf(b, operand, part, padding);
    // Conditions and indices only choose among other operands.
    const bool chooses = (isa<SelectOp>(op) && number == 0) ||
                         (isa<GatherOp, ScatterAddOp>(op) && number == 1),
               isFactor = isa<MulOp>(op) && matchPattern(padded.value, m_Constant());
    hasZeros |= padded.isZero && !chooses;
    areZero &= padded.isZero || chooses || isFactor;
    auto reduce = dyn_cast<ReduceOp>(op);
    if (addsElements(op))
      operands.push_back(withNeutral(b, padded, ReductionKind::Add));
    else if (reduce && split.partial)
      operands.push_back(withNeutral(b, padded, reduce.getKind()));
    else
      operands.push_back(padded.value);
  }
  isZero = addsElements(op) || (hasZeros && areZero && keepsZeros(op));
  Operation *longer = b.clone(*op);
  longer->setOperands(operands);
  for (auto [result, part] : llvm::zip_equal(longer->getResults(), split.results))
    if (part)
      result.setType(paddedType(cast<RankedTensorType>(result.getType()), part, padding));
  return longer;
}

void FunctionPadder::padOperation(Operation *op, const OperationSplit &split, AxisPadding padding) {
  TensorBuilder b(op->getLoc(), op->getContext());
  b.setInsertionPoint(op);
  bool isZero = false;
  Operation *longer = buildPadded(b, op, split, padding, isZero);
  setGroupsOfChannels(longer);
  b.setInsertionPoint(longer);
  auto renumber = [&](OpOperand &indices, RankedTensorType table, int64_t axis) {
    const int64_t extent = table.getDimSize(axis);
    indices.set(indicesWithPadding(b, indices.get(), extent, extent + padding.after(extent)));
  };
  if (auto gather = dyn_cast<GatherOp>(longer)) {
    const auto axis = static_cast<int64_t>(gather.getAxis());
    if (split.operands[0] && split.operands[0].getAxis() == axis)
      renumber(gather.getIndicesMutable(), cast<GatherOp>(op).getInput().getType(), axis);
  } else if (auto scatter = dyn_cast<ScatterAddOp>(longer)) {
    const auto axis = static_cast<int64_t>(scatter.getAxis());
    if (split.results[0] && split.results[0].getAxis() == axis) {
      renumber(scatter.getIndicesMutable(), cast<ScatterAddOp>(op).getType(), axis);
      isZero |= !scatter.getOnto();
    }
  } else if (auto slice = dyn_cast<SliceOp>(longer)) {
    slice.setOffsets(withPadding(slice.getOffsets(), split.operands[0], padding));
  } else if (auto pad = dyn_cast<PadOp>(longer)) {
    pad.setLow(withPadding(pad.getLow(), split.operands[0], padding));
    pad.setHigh(withPadding(pad.getHigh(), split.operands[0], padding));
  }
  for (auto [original, part, value] :
       llvm::zip_equal(op->getResults(), split.results, longer->getResults())) {
    if (part)
      known.insert({original, {part, padding, value, isZero}});
    else
      original.replaceAllUsesWith(value);
  }
  replaced.push_back(op);
}

void FunctionPadder::padAccess(Operation *access, StringRef variable) {
  StringRef name = families.nameOf(variable);
  const auto *found = axes.splits.families.find(name);
  if (name.empty() || found == axes.splits.families.end())
    return dropPaddingOfOperands(access);
  AxisSplitAttr split = found->second;
  const AxisPadding padding = axes.families.lookup(name);
  TensorBuilder b(access->getLoc(), access->getContext());
  b.setInsertionPoint(access);
  if (auto write = dyn_cast<WriteOp>(access)) {
    const Padded padded = paddedOf(b, write.getValue(), split, padding);
    return write.getValueMutable().set(withNeutral(b, padded, ReductionKind::Add));
  }
  auto read = cast<ReadOp>(access);
  Value value = b.create<ReadOp>(paddedType(read.getType(), split, padding), read.getVariable());
  known.insert({read, {split, padding, value, /*isZero=*/true}});
  replaced.push_back(read);
}

void FunctionPadder::dropPaddingOfOperands(Operation *op) {
  TensorBuilder b(op->getLoc(), op->getContext());
  b.setInsertionPoint(op);
  op->walk([&](Operation *user) {
    for (OpOperand &operand : user->getOpOperands())
      if (known.contains(operand.get()))
        operand.set(wholeOf(b, operand.get()));
  });
}

void FunctionPadder::run() {
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    const auto *found = axes.splits.operations.find(&op);
    if (found != axes.splits.operations.end())
      padOperation(&op, found->second, axes.operations.lookup(&op));
    else if (auto read = dyn_cast<ReadOp>(op))
      padAccess(read, read.getVariable());
    else if (auto write = dyn_cast<WriteOp>(op))
      padAccess(write, write.getVariable());
    else
      dropPaddingOfOperands(&op);
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}
