//===- SplitAxes.cpp - Division of layers among ranks -----------------------------------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "passes/Passes.h"
#include "passes/sharding/AxisParts.h"
#include "passes/splitting/AxisGroup.h"
#include "passes/splitting/LocalOperations.h"

namespace mtc {
#define GEN_PASS_DEF_SPLITAXES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// A value is gathered again for operations after this many contractions, instead of being kept:
/// the layers between them take longer than the gather, and their memory is larger.
static constexpr int64_t contractionsOfGather = 8;

namespace {

/// Replaces the divided operations of a function by what one rank computes.
class FunctionSplitter {
public:
  /// Each rank of the group computes the same number of the `chunks` parts of an axis.
  FunctionSplitter(func::FuncOp function, const Splits &splits, const VariableFamilies &families,
                   RankGroup group, int64_t chunks)
      : function(function), splits(splits), families(families), group(group), ranks(group.count),
        chunks(chunks) {}

  void run();

private:
  /// What a rank has of a value: its part along an axis, or addends of the whole value.
  struct Part {
    AxisSplitAttr split;       ///< null for addends
    SmallVector<Value> values; ///< the part, or the addends of this rank's chunks
    ReductionKind kind = {};   ///< of addends
    Value whole = {};          ///< null until an operation needs it
    int64_t wholeAt = 0;       ///< the number of contractions before `whole`
  };

  AxisSplitAttr splitOf(StringRef variable) const;
  Value wholeOf(TensorBuilder &b, Value original);
  Value partOf(TensorBuilder &b, Value original, AxisSplitAttr split);
  void setParts(Operation *op, ArrayRef<AxisSplitAttr> results, ValueRange values);
  void splitOperation(Operation *op, const OperationSplit &split);
  SmallVector<Value> buildAddends(Operation *op, const OperationSplit &split, TensorBuilder &b);
  SmallVector<Value> buildOnAddends(Operation *op, TensorBuilder &b);
  void replaceUses(Operation *op);

  func::FuncOp function;
  const Splits &splits;
  const VariableFamilies &families;
  RankGroup group;
  int64_t ranks, chunks;
  int64_t contractions = 0;          ///< before the current operation
  llvm::DenseMap<Value, Part> parts; ///< of original values
  llvm::DenseMap<std::pair<Value, Attribute>, Value> partsOfWhole;
  SmallVector<Operation *> replaced;
};

} // namespace

/// Returns a split into a part for each rank.
static AxisSplitAttr forRanks(AxisSplitAttr split, int64_t ranks) {
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
  PartExchange exchange(b, group);
  RankedTensorType type = typeOf(original);
  if (part.split) {
    if (!part.whole || contractions - part.wholeAt > contractionsOfGather)
      part.whole = gatherParts(b, part.values.front(), type, part.split);
    part.wholeAt = contractions;
  } else if (!part.whole) {
    Value own = exchange.combineOwn(part.values, part.kind);
    part.whole = b.cast(exchange.combine(own, part.kind), type.getElementType());
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
    // Each rank adds the part that it needs.
    Part &part = found->second;
    PartExchange exchange(b, group);
    Value own = exchange.combineOwn(part.values, part.kind);
    part.values = {
        b.cast(exchange.combinePart(own, split, part.kind), typeOf(original).getElementType())};
    part.split = split;
  }
  if (found != parts.end() && found->second.split == split)
    return found->second.values.front();
  Value &part = partsOfWhole[{original, split}];
  if (!part)
    part = PartExchange(b, group).partOf(wholeOf(b, original), split);
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

/// Returns the addends of this rank's chunks of a result.
SmallVector<Value> FunctionSplitter::buildAddends(Operation *op, const OperationSplit &split,
                                                  TensorBuilder &b) {
  PartExchange exchange(b, group);
  SmallVector<Value> operands;
  for (auto [operand, part] : llvm::zip_equal(op->getOperands(), split.operands)) {
    AxisSplitAttr own = forRanks(part, ranks);
    operands.push_back(own ? partOf(b, operand, own) : wholeOf(b, operand));
  }
  const int64_t count = dependsOnOrder(op, split) ? chunks / ranks : 1;
  SmallVector<Value> addends;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> own;
    for (auto [operand, part] : llvm::zip_equal(operands, split.operands))
      own.push_back(part && count > 1 ? chunkOf(b, operand, part, i, count) : operand);
    addends.push_back(buildLocal(b, op, split, own, exchange).front());
  }
  return addends;
}

/// Returns the addends of a result whose operands are addends.
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
    Type element = typeOf(local->getOperand(0)).getElementType(); // that of sums
    local->getResult(0).setType(typeOf(op->getResult(0)).clone(element));
    addends.push_back(local->getResult(0));
  }
  return addends;
}

void FunctionSplitter::splitOperation(Operation *op, const OperationSplit &split) {
  if (ranks == 1 && !dependsOnOrder(op, split))
    return replaceUses(op); // Only sums change.
  TensorBuilder b(op->getLoc(), op->getContext());
  b.setInsertionPoint(op);
  if (split.partial) {
    SmallVector<Value> addends =
        split.isOfAddends() ? buildOnAddends(op, b) : buildAddends(op, split, b);
    parts.insert({op->getResult(0), {{}, std::move(addends), *split.partial}});
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

namespace {

class SplitAxesPass : public mtc::impl::SplitAxesBase<SplitAxesPass> {
public:
  using SplitAxesBase::SplitAxesBase;

  void runOnOperation() override {
    ProgramOp program = ProgramOp::find(getOperation());
    RankGroup group = program ? program.getTensorGroup() : RankGroup();
    int64_t parts = program && program.getRanks() ? program.getRanksAttr().getTensorChunks() : 1;
    if (ranks) {
      group.count = ranks;
      parts = ranks;
    }
    parts = std::max(parts, chunks.getValue());
    if (parts == 1)
      return;
    AxisGroups groups(getOperation(), parts);
    const Splits splits = groups.choose();
    if (splits.families.empty())
      return refuse(parts);
    for (auto function : getOperation().getOps<func::FuncOp>())
      FunctionSplitter(function, splits, groups.getFamilies(), group, parts).run();
    // Ranks store other values than one rank does. Casts that round only what a kernel stores would
    // round other values.
    getOperation().walk([](CastOp cast) { cast.setStorage(false); });
    for (const auto &[name, split] : splits.families)
      groups.getFamilies().get(name).variables.front()->setAttr(chunksAttribute, split);
    if (group.count == 1)
      return;
    for (const auto &[name, split] : splits.families)
      for (VariableOp variable : groups.getFamilies().get(name).variables)
        variable.becomePart(forRanks(split, group.count));
    report(splits, groups.getFamilies(), group.count);
  }

private:
  /// Reports that no axis can be divided into this number of parts, and numbers that are possible.
  void refuse(int64_t parts) {
    auto error = emitError(getOperation().getLoc(), "--tensor ")
                 << parts << ": no layer can be divided into " << parts << " parts";
    for (int64_t fewer = parts - 1; fewer > 1; --fewer)
      if (!AxisGroups(getOperation(), fewer).choose().families.empty()) {
        error << "; --tensor " << fewer << " divides some";
        break;
      }
    signalPassFailure();
  }

  void report(const Splits &splits, const VariableFamilies &families, int64_t count) {
    int64_t parameters = 0, elements = 0, divided = 0, dividedElements = 0;
    for (const auto &[name, family] : families.all()) {
      if (VariableOp(family.variables.front()).getRole() == Role::State)
        continue;
      const int64_t size = family.type.getNumElements();
      ++parameters;
      elements += size;
      divided += splits.families.contains(name) ? 1 : 0;
      dividedElements += splits.families.contains(name) ? size : 0;
    }
    emitRemark(getOperation().getLoc(), "--tensor ")
        << count << ": " << divided << " of " << parameters << " parameters are divided, "
        << 100 * dividedElements / std::max<int64_t>(elements, 1) << " % of their elements";
  }
};

} // namespace
