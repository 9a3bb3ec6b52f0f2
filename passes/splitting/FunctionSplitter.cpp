//===- FunctionSplitter.cpp - Division of a function among ranks ------------------------------===//

#include "passes/splitting/FunctionSplitter.h"

#include "passes/sharding/AxisParts.h"
#include "passes/splitting/LocalOperations.h"

using namespace mlir;
using namespace mtc;

/// A value is gathered again for operations after this many contractions, instead of being kept:
/// the layers between them take longer than the gather, and their memory is larger.
static constexpr int64_t contractionsOfGather = 8;

AxisSplitAttr mtc::forRanks(AxisSplitAttr split, int64_t ranks) {
  return split && ranks > 1 ? AxisSplitAttr::get(split.getContext(), split.getAxis(),
                                                 split.getOuter(), ranks, split.getStride())
                            : AxisSplitAttr();
}

AxisSplitAttr FunctionSplitter::splitOf(StringRef variable) const {
  const auto *found = splits.families.find(families.nameOf(variable));
  return found == splits.families.end() ? AxisSplitAttr() : forRanks(found->second, ranks);
}

Value FunctionSplitter::wholeOf(TensorBuilder &b, Value original) {
  auto found = parts.find(original);
  if (found == parts.end())
    return original;
  Part &part = found->second;
  RankedTensorType type = typeOf(original);
  if (part.split) {
    if (!part.whole || contractions - part.wholeAt > contractionsOfGather)
      part.whole = gatherParts(b, part.values.front(), type, part.split);
    part.wholeAt = contractions;
  } else if (!part.whole) {
    Type element = typeOf(part.values.front()).getElementType();
    Value sum = b.create<AllReduceOp>(type.clone(element), part.values);
    part.whole = b.cast(sum, type.getElementType());
  }
  return part.whole;
}

/// Returns whether the parts are consecutive elements of which a rank can add one.
static bool isOfPieces(AxisSplitAttr split, RankedTensorType type) {
  return PartExchange::addsInPieces(type) &&
         split.getRunOf(type) * split.getParts() == type.getNumElements();
}

Value FunctionSplitter::partOf(TensorBuilder &b, Value original, AxisSplitAttr split) {
  auto found = parts.find(original);
  if (found != parts.end() && !found->second.split && !found->second.whole &&
      isOfPieces(split, typeOf(original))) {
    // Each rank receives the part that it needs.
    Part &part = found->second;
    RankedTensorType type = typeOf(original);
    Type element = typeOf(part.values.front()).getElementType();
    Value sum = b.create<ReduceScatterOp>(split.getPartOf(type).clone(element), part.values, split);
    part.values = {b.cast(sum, type.getElementType())};
    part.split = split;
  }
  if (found != parts.end() && found->second.split == split)
    return found->second.values.front();
  Value &part = partsOfWhole[{original, split}];
  if (!part && found != parts.end() && found->second.split &&
      found->second.split.getAxis() != split.getAxis()) {
    const Value own = found->second.values.front();
    part = b.create<ReshardOp>(split.getPartOf(typeOf(original)), own, found->second.split, split);
  } else if (!part) {
    part = PartExchange(b, group).partOf(wholeOf(b, original), split);
  }
  return part;
}

void FunctionSplitter::setParts(Operation *op, ArrayRef<AxisSplitAttr> results, ValueRange values) {
  for (auto [original, split, value] : llvm::zip_equal(op->getResults(), results, values))
    parts.insert({original, {split, {value}}});
  replaced.push_back(op);
}

/// Returns the part with this number, of `count`, of a value that has `outer` blocks along an axis.
static Value chunkOf(TensorBuilder &b, Value value, AxisSplitAttr split, int64_t number,
                     int64_t count) {
  RankedTensorType type = typeOf(value);
  auto within = AxisSplitAttr::get(b.getContext(), split.getAxis(), split.getOuter(), count, 1);
  const int64_t run = within.getRunOf(type), repeats = type.getNumElements() / (run * count);
  Value rows = b.slice(b.reshape(value, {repeats, count, run}), {0, number, 0}, {repeats, 1, run},
                       {1, 1, 1});
  return b.reshape(rows, within.getPartOf(type).getShape());
}

static RankedTensorType encode(RankedTensorType type, PartialAttr partial) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), partial);
}

/// Returns the value of which these are the parts along an axis: the inverse of `chunkOf`.
static Value joinChunks(TensorBuilder &b, ArrayRef<Value> parts, RankedTensorType type,
                        AxisSplitAttr split) {
  if (parts.size() == 1)
    return parts.front();
  const auto count = static_cast<int64_t>(parts.size());
  auto within = AxisSplitAttr::get(b.getContext(), split.getAxis(), split.getOuter(), count, 1);
  const int64_t run = within.getRunOf(type), repeats = type.getNumElements() / (run * count);
  SmallVector<Value> rows =
      llvm::map_to_vector(parts, [&](Value part) { return b.reshape(part, {repeats, 1, run}); });
  return b.reshape(b.concatenate(rows, 1), type.getShape());
}

/// Returns the first results of an operation on each of `count` parts of what this rank has.
SmallVector<Value> FunctionSplitter::buildOnChunks(Operation *op, const OperationSplit &split,
                                                   int64_t count, TensorBuilder &b) {
  PartExchange exchange(b, group);
  SmallVector<Value> operands, results;
  for (auto [operand, part] : llvm::zip_equal(op->getOperands(), split.operands)) {
    AxisSplitAttr own = forRanks(part, ranks);
    operands.push_back(own ? partOf(b, operand, own) : wholeOf(b, operand));
  }
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> own;
    for (auto [operand, part] : llvm::zip_equal(operands, split.operands))
      own.push_back(part && count > 1 ? chunkOf(b, operand, part, i, count) : operand);
    results.push_back(buildLocal(b, op, split, own, exchange).front());
  }
  return results;
}

/// Returns the partial values of this rank's chunks of a result.
SmallVector<Value> FunctionSplitter::buildAddends(Operation *op, const OperationSplit &split,
                                                  TensorBuilder &b) {
  const int64_t count = dependsOnOrder(op, split) ? chunks / ranks : 1;
  SmallVector<Value> addends = buildOnChunks(op, split, count, b);
  for (auto [i, addend] : llvm::enumerate(addends)) {
    auto partial = PartialAttr::get(b.getContext(), *split.partial, group.count, group.stride,
                                    static_cast<int64_t>(i), count);
    addend = b.create<PartialOp>(encode(typeOf(addend), partial), addend);
  }
  return addends;
}

/// Returns the partial values of a result whose operands are partial.
SmallVector<Value> FunctionSplitter::buildOnAddends(Operation *op, TensorBuilder &b) {
  SmallVector<Value> addends;
  const size_t count = parts.find(op->getOperand(0))->second.values.size();
  for (size_t i = 0; i < count; ++i) {
    if (castsAddends(op)) {
      addends.push_back(parts.find(op->getOperand(0))->second.values[i]);
      continue;
    }
    Operation *local = b.clone(*op);
    for (OpOperand &operand : local->getOpOperands())
      operand.set(parts.find(operand.get())->second.values[i]);
    // The operands' element type is that of sums.
    RankedTensorType type = typeOf(local->getOperand(0));
    local->getResult(0).setType(
        encode(typeOf(op->getResult(0)).clone(type.getElementType()), PartialAttr::of(type)));
    addends.push_back(local->getResult(0));
  }
  return addends;
}

/// Returns whether a rank computes each chunk of a result by an operation of its own: a library
/// chooses the order of a convolution's sums by its shape, which must not be that of all chunks of
/// a rank.
static bool isOfChunks(Operation *op, const OperationSplit &split) {
  return isa<ConvolveOp, TransposedConvolveOp, ConvolveWeightGradientOp>(op) && !split.partial;
}

void FunctionSplitter::splitOperation(Operation *op, const OperationSplit &split) {
  if (ranks == 1 && !dependsOnOrder(op, split) && !isOfChunks(op, split))
    return replaceUses(op); // Only sums change.
  TensorBuilder b(op->getLoc(), op->getContext());
  b.setInsertionPoint(op);
  if (split.partial) {
    SmallVector<Value> addends =
        split.isOfAddends() ? buildOnAddends(op, b) : buildAddends(op, split, b);
    parts.insert({op->getResult(0), {{}, std::move(addends)}});
    replaced.push_back(op);
    return;
  }
  if (isOfChunks(op, split)) {
    AxisSplitAttr part = forRanks(split.results[0], ranks);
    RankedTensorType type = typeOf(op->getResult(0));
    Value joined = joinChunks(b, buildOnChunks(op, split, chunks / ranks, b),
                              part ? part.getPartOf(type) : type, split.results[0]);
    if (part)
      return setParts(op, {part}, joined);
    op->getResult(0).replaceAllUsesWith(joined);
    replaced.push_back(op);
    return;
  }
  OperationSplit own = split;
  for (AxisSplitAttr &part : own.operands)
    part = forRanks(part, ranks);
  for (AxisSplitAttr &part : own.results)
    part = forRanks(part, ranks);
  SmallVector<Value> operands;
  for (auto [operand, part] : llvm::zip_equal(op->getOperands(), own.operands))
    operands.push_back(part ? partOf(b, operand, part) : wholeOf(b, operand));
  PartExchange exchange(b, group);
  setParts(op, own.results, buildLocal(b, op, own, operands, exchange));
}

/// Gathers the divided values that an operation and its regions use.
void FunctionSplitter::replaceUses(Operation *op) {
  TensorBuilder b(op->getLoc(), op->getContext());
  b.setInsertionPoint(op);
  op->walk([&](Operation *user) {
    for (OpOperand &operand : user->getOpOperands())
      if (parts.contains(operand.get()))
        operand.set(wholeOf(b, operand.get()));
  });
}

void FunctionSplitter::run() {
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    contractions += isa<ContractOp>(op) ? 1 : 0;
    if (const auto *found = splits.operations.find(&op); found != splits.operations.end()) {
      splitOperation(&op, found->second);
      continue;
    }
    TensorBuilder b(op.getLoc(), op.getContext());
    b.setInsertionPoint(&op);
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (AxisSplitAttr split = splitOf(read.getVariable())) {
        Value part = b.create<ReadOp>(split.getPartOf(read.getType()), read.getVariable());
        setParts(read, {split}, part);
      }
    } else if (auto write = dyn_cast<WriteOp>(op)) {
      AxisSplitAttr split = splitOf(write.getVariable());
      write.getValueMutable().set(split ? partOf(b, write.getValue(), split)
                                        : wholeOf(b, write.getValue()));
    } else {
      replaceUses(&op);
    }
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}
