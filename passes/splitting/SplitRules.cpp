//===- SplitRules.cpp - How operations are divided among ranks --------------------------------===//

#include "passes/splitting/SplitRules.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc;

using Derived = std::optional<OperationSplit>;

bool mtc::divides(AxisSplitAttr split, Type type) {
  return static_cast<bool>(split.getPartOf(cast<RankedTensorType>(type)));
}

bool mtc::dependsOnOrder(Operation *op, const OperationSplit &split) {
  const bool rounds = split.partial == ReductionKind::Add || split.partial == ReductionKind::Mul;
  return rounds && !isa<GatherOp>(op) &&
         isa<FloatType>(cast<RankedTensorType>(op->getResult(0).getType()).getElementType());
}

RankedTensorType mtc::addendType(Type result) {
  auto type = cast<RankedTensorType>(result);
  const bool isNarrow = isa<FloatType>(type.getElementType()) && type.getElementTypeBitWidth() < 32;
  return isNarrow ? type.clone(Float32Type::get(type.getContext())) : type;
}

static AxisSplitAttr onAxis(AxisSplitAttr split, int64_t axis, int64_t outer) {
  return AxisSplitAttr::get(split.getContext(), axis, outer, split.getParts(), split.getStride());
}

static AxisSplitAttr onAxis(AxisSplitAttr split, int64_t axis) {
  return onAxis(split, axis, split.getOuter());
}

/// Returns a split of an operation in which everything is whole.
static OperationSplit wholeSplit(Operation *op) {
  OperationSplit split;
  split.operands.resize(op->getNumOperands());
  split.results.resize(op->getNumResults());
  return split;
}

/// Returns the split of an operation with one operand and one result, whose splits are given.
static OperationSplit unarySplit(AxisSplitAttr operand, AxisSplitAttr result) {
  return {{operand}, {result}, std::nullopt};
}

/// Returns the number of elements of the axis in each of its outer blocks.
static int64_t blockOf(AxisSplitAttr split, Type type) {
  return cast<RankedTensorType>(type).getDimSize(split.getAxis()) / split.getOuter();
}

//===------------------------------------------------------------------------------------------===//
// Structure
//===------------------------------------------------------------------------------------------===//

/// In row-major order, runs of elements belong to the ranks in turn, before and after a reshape.
static Derived deriveReshape(ReshapeOp op, Position position, AxisSplitAttr split) {
  RankedTensorType from = op.getInput().getType(), to = op.getType();
  if (position.isResult)
    std::swap(from, to);
  const int64_t run = split.getRunOf(from), parts = split.getParts();
  int64_t inner = 1;
  for (int64_t axis = to.getRank() - 1; axis >= 0; inner *= to.getDimSize(axis), --axis) {
    const int64_t extent = to.getDimSize(axis);
    if (run % inner || extent * inner % (run * parts))
      continue;
    AxisSplitAttr other = onAxis(split, axis, extent * inner / (run * parts));
    return position.isResult ? unarySplit(other, split) : unarySplit(split, other);
  }
  return std::nullopt;
}

/// Returns the split of an axis of `extent` elements whose blocks are as long as `block`.
static AxisSplitAttr withBlocks(AxisSplitAttr split, int64_t extent, int64_t block) {
  return extent % block ? AxisSplitAttr() : onAxis(split, split.getAxis(), extent / block);
}

/// Returns the split of an operation whose operand and result consist of such blocks.
static Derived splitInBlocks(AxisSplitAttr split, RankedTensorType from, RankedTensorType to,
                             int64_t block) {
  AxisSplitAttr operand = withBlocks(split, from.getDimSize(split.getAxis()), block);
  AxisSplitAttr result = withBlocks(split, to.getDimSize(split.getAxis()), block);
  if (!operand || !result)
    return std::nullopt;
  return unarySplit(operand, result);
}

/// A slice along the divided axis consists of whole blocks.
static Derived deriveSlice(SliceOp op, Position position, AxisSplitAttr split) {
  const int64_t axis = split.getAxis();
  RankedTensorType from = op.getInput().getType(), to = op.getType();
  const int64_t block = blockOf(split, position.isResult ? to : from);
  if (op.getStrides()[axis] != 1 || op.getOffsets()[axis] % block)
    return std::nullopt;
  return splitInBlocks(split, from, to, block);
}

/// Padding along the divided axis consists of whole blocks.
static Derived derivePad(PadOp op, Position position, AxisSplitAttr split) {
  const int64_t axis = split.getAxis();
  RankedTensorType from = op.getInput().getType(), to = op.getType();
  const int64_t block = blockOf(split, position.isResult ? to : from);
  if (op.getInterior()[axis] || op.getLow()[axis] % block || op.getHigh()[axis] % block)
    return std::nullopt;
  return splitInBlocks(split, from, to, block);
}

/// Every operand along the divided axis consists of whole blocks.
static Derived deriveConcatenate(ConcatenateOp op, Position position, AxisSplitAttr split) {
  const int64_t axis = split.getAxis();
  Type known = position.isResult ? Type(op.getType()) : op.getInputs()[position.number].getType();
  const bool isAlong = axis == static_cast<int64_t>(op.getAxis());
  auto of = [&](Type type) {
    return isAlong ? withBlocks(split, cast<RankedTensorType>(type).getDimSize(axis),
                                blockOf(split, known))
                   : split;
  };
  OperationSplit derived = wholeSplit(op);
  derived.results[0] = of(op.getType());
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    derived.operands[i] = of(input.getType());
  if (!derived.results[0] || llvm::is_contained(derived.operands, AxisSplitAttr()))
    return std::nullopt;
  return derived;
}

//===------------------------------------------------------------------------------------------===//
// Contractions
//===------------------------------------------------------------------------------------------===//

static Derived deriveContract(ContractOp op, Position position, AxisSplitAttr split) {
  const SmallVector<int64_t> lhsFree = op.getLhsFree(), rhsFree = op.getRhsFree();
  const auto batches = static_cast<int64_t>(op.getLhsBatch().size());
  const auto lhsCount = static_cast<int64_t>(lhsFree.size());
  OperationSplit derived = wholeSplit(op);
  auto splitBatch = [&](int64_t i) {
    derived.operands[0] = onAxis(split, op.getLhsBatch()[i]);
    derived.operands[1] = onAxis(split, op.getRhsBatch()[i]);
    derived.results[0] = onAxis(split, i);
  };
  auto splitFree = [&](unsigned operand, int64_t i) {
    derived.operands[operand] = onAxis(split, (operand ? rhsFree : lhsFree)[i]);
    derived.results[0] = onAxis(split, batches + (operand ? lhsCount : 0) + i);
  };
  const int64_t axis = split.getAxis();
  if (position.isResult) {
    if (axis < batches)
      splitBatch(axis);
    else if (axis < batches + lhsCount)
      splitFree(0, axis - batches);
    else
      splitFree(1, axis - batches - lhsCount);
    return derived;
  }
  auto indexIn = [&](ArrayRef<int64_t> axes) { return llvm::find(axes, axis) - axes.begin(); };
  const bool isRhs = position.number == 1;
  ArrayRef<int64_t> batch = isRhs ? op.getRhsBatch() : op.getLhsBatch();
  ArrayRef<int64_t> contracted = isRhs ? op.getRhsContract() : op.getLhsContract();
  if (llvm::is_contained(batch, axis)) {
    splitBatch(indexIn(batch));
  } else if (llvm::is_contained(contracted, axis)) {
    derived.operands[0] = onAxis(split, op.getLhsContract()[indexIn(contracted)]);
    derived.operands[1] = onAxis(split, op.getRhsContract()[indexIn(contracted)]);
    derived.partial = ReductionKind::Add;
  } else {
    splitFree(isRhs ? 1 : 0, indexIn(isRhs ? rhsFree : lhsFree));
  }
  return derived;
}

/// A convolution and its adjoints compute each of input, weights and output from the other two.
/// They are divided along the batch, the channels of the input or the output, or the groups of
/// channels.
template <typename Op>
static Derived deriveConvolution(Op op, Position position, AxisSplitAttr split) {
  const int64_t last = cast<RankedTensorType>(op.getInput().getType()).getRank() - 1;
  const auto groups = static_cast<int64_t>(op.getGroups());
  struct Axis {
    Value value;
    int64_t axis;
  };
  SmallVector<SmallVector<Axis>> factors = {{{op.getInput(), 0}, {op.getOutput(), 0}}};
  if (groups == 1) {
    factors.push_back({{op.getInput(), last}, {op.getWeights(), 1}});
    factors.push_back({{op.getOutput(), last}, {op.getWeights(), 0}});
  } else if (split.getOuter() == 1 && groups % split.getParts() == 0) {
    factors.push_back({{op.getInput(), last}, {op.getWeights(), 0}, {op.getOutput(), last}});
  }
  auto axisOf = [](ArrayRef<Axis> factor, Value value) -> std::optional<int64_t> {
    const auto *found = llvm::find_if(factor, [&](Axis each) { return each.value == value; });
    return found == factor.end() ? std::nullopt : std::optional(found->axis);
  };
  Value known = position.isResult ? Value(op->getResult(0)) : op->getOperand(position.number);
  for (ArrayRef<Axis> factor : factors) {
    if (axisOf(factor, known) != split.getAxis())
      continue;
    OperationSplit derived = wholeSplit(op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (std::optional<int64_t> axis = axisOf(factor, operand))
        derived.operands[i] = onAxis(split, *axis);
    if (std::optional<int64_t> axis = axisOf(factor, op->getResult(0)))
      derived.results[0] = onAxis(split, *axis);
    else
      derived.partial = ReductionKind::Add;
    return derived;
  }
  return std::nullopt;
}

//===------------------------------------------------------------------------------------------===//
// Attention
//===------------------------------------------------------------------------------------------===//

/// Heads are divided if those of keys are. Every operand has its heads on axis 1, and may have one
/// for all heads if it is a bias or a mask. `orders` are those of the results.
static Derived deriveHeads(Operation *op, Position position, AxisSplitAttr split, int64_t keyHeads,
                           ArrayRef<ArrayRef<int64_t>> orders) {
  auto headAxis = [&](unsigned result) {
    return orders.empty() ? int64_t{1} : llvm::find(orders[result], 1) - orders[result].begin();
  };
  const int64_t axis = position.isResult ? headAxis(position.number) : 1;
  if (split.getAxis() != axis || keyHeads % (split.getOuter() * split.getParts()))
    return std::nullopt;
  OperationSplit derived = wholeSplit(op);
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (cast<RankedTensorType>(operand.getType()).getDimSize(1) != 1)
      derived.operands[i] = onAxis(split, 1);
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    derived.results[i] = onAxis(split, headAxis(i));
  return derived;
}

/// Returns the axis of an operand's queries or keys; nothing for a bias or a mask.
template <typename Op> static std::optional<int64_t> sequenceAxisOf(Op op, Value operand) {
  if (operand == op.getBias() || operand == op.getMask())
    return std::nullopt;
  return 2;
}

/// Elements of sequences are divided outside of attention, which needs all of them: each rank
/// computes some of the heads.
template <typename Op>
static Derived deriveSequences(Op op, Position position, AxisSplitAttr split, int64_t headBlocks,
                               ArrayRef<ArrayRef<int64_t>> orders) {
  auto axisOfResult = [&](unsigned result) {
    return orders.empty() ? int64_t{2} : llvm::find(orders[result], 2) - orders[result].begin();
  };
  const std::optional<int64_t> axis = position.isResult
                                          ? axisOfResult(position.number)
                                          : sequenceAxisOf(op, op->getOperand(position.number));
  if (axis != split.getAxis() || split.getOuter() != 1)
    return std::nullopt;
  Derived derived = deriveHeads(op, {false, 0}, onAxis(split, 1, headBlocks),
                                op.getKey().getType().getDimSize(1), orders);
  if (!derived)
    return std::nullopt;
  for (Value operand : op->getOperands())
    derived->operandsElsewhere.push_back(sequenceAxisOf(op, operand) ? onAxis(split, 2)
                                                                     : AxisSplitAttr());
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    derived->resultsElsewhere.push_back(onAxis(split, axisOfResult(i)));
  return derived;
}

template <typename Op>
static Derived deriveAttention(Op op, Position position, AxisSplitAttr split, int64_t headBlocks,
                               ArrayRef<ArrayRef<int64_t>> orders) {
  Derived heads = deriveHeads(op, position, split, op.getKey().getType().getDimSize(1), orders);
  return heads ? heads : deriveSequences(op, position, split, headBlocks, orders);
}

//===------------------------------------------------------------------------------------------===//
// Exchanges of another group
//===------------------------------------------------------------------------------------------===//

/// An axis that the ranks of the other group exchange is divided if each has the same elements of
/// every block.
static Derived deriveReshard(ReshardOp op, AxisSplitAttr split) {
  for (AxisSplitAttr exchanged : {op.getFrom(), op.getTo()})
    if (exchanged.getAxis() == split.getAxis() &&
        (split.getOuter() != 1 || exchanged.getOuter() % split.getParts()))
      return std::nullopt;
  return unarySplit(split, split);
}

/// All partial values are divided like their sum.
static Derived deriveAlike(Operation *op, AxisSplitAttr split) {
  return OperationSplit{SmallVector<AxisSplitAttr>(op->getNumOperands(), split), {split}};
}

//===------------------------------------------------------------------------------------------===//
// Tables
//===------------------------------------------------------------------------------------------===//

/// Each rank gathers the rows that it has. The others are -0, which changes no sum.
static Derived deriveGatheredTable(GatherOp op, AxisSplitAttr split) {
  if (split.getOuter() != 1)
    return std::nullopt;
  OperationSplit derived = wholeSplit(op);
  derived.operands[0] = split;
  derived.partial = ReductionKind::Add;
  return derived;
}

/// Each rank adds the updates of the rows that it has.
static Derived deriveScatteredTable(ScatterAddOp op, AxisSplitAttr split) {
  if (split.getOuter() != 1)
    return std::nullopt;
  OperationSplit derived = wholeSplit(op);
  if (op.getOnto())
    derived.operands[2] = split;
  derived.results[0] = split;
  return derived;
}

/// Each rank counts from the first index of its part.
static Derived deriveIota(IotaOp op, AxisSplitAttr split) {
  if (split.getOuter() != 1)
    return std::nullopt;
  return OperationSplit{{}, {split}, std::nullopt};
}

//===------------------------------------------------------------------------------------------===//
// All operations
//===------------------------------------------------------------------------------------------===//

Derived SplitRules::deriveFromKernel(Operation *op, Position position, AxisSplitAttr split) {
  auto [found, isNew] = axes.try_emplace(op);
  if (isNew)
    found->second = KernelAxes::find(op);
  if (!found->second)
    return std::nullopt;
  const KernelAxes &known = *found->second;
  const auto &own = position.isResult ? known.results : known.operands;
  std::optional<unsigned> dimension = own[position.number][split.getAxis()];
  if (!dimension)
    return std::nullopt;
  OperationSplit derived = wholeSplit(op);
  auto set = [&](ArrayRef<SmallVector<std::optional<unsigned>>> dimensions,
                 SmallVector<AxisSplitAttr> &splits) {
    for (auto [i, ofAxes] : llvm::enumerate(dimensions)) {
      const auto *axis = llvm::find(ofAxes, dimension);
      if (axis != ofAxes.end())
        splits[i] = onAxis(split, axis - ofAxes.begin());
    }
  };
  set(known.operands, derived.operands);
  set(known.results, derived.results);
  if (llvm::is_contained(known.reduced, static_cast<int64_t>(*dimension)))
    derived.partial = known.kind;
  else if (llvm::is_contained(derived.results, AxisSplitAttr()))
    return std::nullopt; // A result that all ranks would compute from parts.
  return derived;
}

/// Returns whether the ranks' values can be exchanged without rounding them first. One addend of a
/// gathered row is not -0.
static bool hasExactParts(Operation *op) {
  return isa<ContractOp, ConvolveOp, TransposedConvolveOp, ConvolveWeightGradientOp, GatherOp>(
             op) ||
         llvm::all_of(op->getResultTypes(), [](Type type) {
           Type element = cast<RankedTensorType>(type).getElementType();
           return !isa<FloatType>(element) || element.getIntOrFloatBitWidth() >= 32;
         });
}

Derived SplitRules::derive(Operation *op, Position position, AxisSplitAttr split) {
  const bool isTable = position.isResult || position.number == 0;
  Derived derived =
      llvm::TypeSwitch<Operation *, Derived>(op)
          .Case([&](ReshapeOp reshape) { return deriveReshape(reshape, position, split); })
          .Case([&](SliceOp slice) { return deriveSlice(slice, position, split); })
          .Case([&](PadOp pad) { return derivePad(pad, position, split); })
          .Case([&](ConcatenateOp all) { return deriveConcatenate(all, position, split); })
          .Case([&](ContractOp contract) { return deriveContract(contract, position, split); })
          .Case<ConvolveOp, TransposedConvolveOp, ConvolveWeightGradientOp>(
              [&](auto convolution) { return deriveConvolution(convolution, position, split); })
          .Case([&](AttentionOp attention) {
            return deriveAttention(attention, position, split, headBlocks, {});
          })
          .Case([&](AttentionGradientOp gradient) {
            return deriveAttention(
                gradient, position, split, headBlocks,
                {gradient.getQueryOrder(), gradient.getKeyOrder(), gradient.getValueOrder()});
          })
          .Case([&](ReshardOp reshard) { return deriveReshard(reshard, split); })
          .Case<PartialOp, AllReduceOp>([&](auto) { return deriveAlike(op, split); })
          .Case([&](GatherOp gather) {
            return !position.isResult && isTable &&
                           split.getAxis() == static_cast<int64_t>(gather.getAxis())
                       ? deriveGatheredTable(gather, split)
                       : deriveFromKernel(op, position, split);
          })
          .Case([&](ScatterAddOp scatter) {
            return position.isResult && split.getAxis() == static_cast<int64_t>(scatter.getAxis())
                       ? deriveScatteredTable(scatter, split)
                       : deriveFromKernel(op, position, split);
          })
          .Case([&](IotaOp iota) {
            return split.getAxis() == static_cast<int64_t>(iota.getAxis())
                       ? deriveIota(iota, split)
                       : deriveFromKernel(op, position, split);
          })
          .Case([&](RandomBitsOp bits) -> Derived { // The counter is that of the whole tensor.
            if (bits.getPart())
              return std::nullopt;
            OperationSplit derived = wholeSplit(bits);
            derived.results[0] = split;
            return derived;
          })
          .Case([&](AverageOverRanksOp) -> Derived { return unarySplit(split, split); })
          .Case([](mtc::ConstantOp) { return std::nullopt; }) // Each rank takes its part.
          .Default([&](Operation *) { return deriveFromKernel(op, position, split); });
  if (!derived || (derived->partial && (op->getNumResults() != 1 || !hasExactParts(op))))
    return std::nullopt;
  for (auto [part, type] : llvm::zip_equal(derived->operands, op->getOperandTypes()))
    if (part && !divides(part, type))
      return std::nullopt;
  for (auto [part, type] : llvm::zip_equal(derived->results, op->getResultTypes()))
    if (part && !divides(part, type))
      return std::nullopt;
  return derived;
}

bool mtc::castsAddends(Operation *op) {
  auto cast = dyn_cast<CastOp>(op);
  if (!cast)
    return false;
  auto from = cast.getInput().getType();
  return addendType(from).getElementType() == addendType(cast.getType()).getElementType() &&
         (cast.getStorage() || from != addendType(from));
}

Derived SplitRules::deriveOfAddends(Operation *op) {
  if (!castsAddends(op) && !isa<AddOp, ReshapeOp, TransposeOp>(op))
    return std::nullopt;
  OperationSplit derived = wholeSplit(op);
  derived.partial = ReductionKind::Add;
  return derived;
}
