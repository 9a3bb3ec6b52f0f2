//===- ExchangePartials.cpp - Lowering of reductions over ranks -------------------------------===//

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/Passes.h"
#include "passes/sharding/AxisParts.h"
#include "passes/splitting/PartExchange.h"

namespace mtc {
#define GEN_PASS_DEF_EXCHANGEPARTIALS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Emits the reduction of values over the ranks of a group.
class Reduction {
public:
  Reduction(TensorBuilder &b, RankGroup group, ReductionKind kind)
      : b(b), group(group), kind(kind) {}

  /// Returns the reduction of this rank's values by a balanced tree, in their order. Nothing else
  /// is added to them before, as if they were those of other ranks.
  Value reduceOwn(ArrayRef<Value> values);
  /// Returns, on every rank, the reduction of the values of all ranks: a balanced tree in the order
  /// of ranks.
  Value reduce(Value value);
  /// Returns this rank's part of the reduction, a piece of consecutive elements.
  Value reducePart(Value value, RankedTensorType part);

private:
  Value flatten(Value value) { return b.reshape(value, {typeOf(value).getNumElements()}); }
  Value reduceTree(ArrayRef<Value> values);
  Value reduceRows(Value rows);
  Value reducePiece(Value value, int64_t piece);

  TensorBuilder &b;
  RankGroup group;
  ReductionKind kind;
};

} // namespace

static Value reducePair(TensorBuilder &b, ReductionKind kind, Value lhs, Value rhs) {
  switch (kind) {
  case ReductionKind::Add:
    return b.add(lhs, rhs);
  case ReductionKind::Mul:
    return b.mul(lhs, rhs);
  case ReductionKind::Max:
    return b.max(lhs, rhs);
  case ReductionKind::Min:
    return b.min(lhs, rhs);
  case ReductionKind::And:
    return b.logicalAnd(lhs, rhs);
  case ReductionKind::Or:
    return b.logicalOr(lhs, rhs);
  }
  llvm_unreachable("kind of reduction");
}

Value Reduction::reduceTree(ArrayRef<Value> values) {
  SmallVector<Value> level(values);
  while (level.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(reducePair(b, kind, level[i], level[i + 1]));
    if (level.size() % 2)
      next.push_back(level.back());
    level = std::move(next);
  }
  return level.front();
}

Value Reduction::reduceOwn(ArrayRef<Value> values) {
  if (values.size() == 1)
    return values.front();
  return reduceTree(llvm::map_to_vector(values, [&](Value each) { return separateSum(b, each); }));
}

/// Reduces the rows of a matrix to a flat value.
Value Reduction::reduceRows(Value rows) {
  const int64_t count = shapeOf(rows)[1];
  SmallVector<Value> values;
  for (int64_t i = 0; i < group.count; ++i)
    values.push_back(b.reshape(b.slice(rows, {i, 0}, {1, count}, {1, 1}), {count}));
  return reduceTree(values);
}

/// Returns the piece of the reduction that this rank owns, flat.
Value Reduction::reducePiece(Value value, int64_t piece) {
  auto received = b.create<AllToAllOp>(ValueRange(value), ArrayRef<int64_t>{piece}, group);
  received->setAttr(addendsAttribute, b.getUnitAttr());
  return reduceRows(received);
}

Value Reduction::reducePart(Value value, RankedTensorType part) {
  return b.reshape(reducePiece(value, part.getNumElements()), part.getShape());
}

Value Reduction::reduce(Value value) {
  if (group.count == 1)
    return value;
  RankedTensorType type = typeOf(value);
  const int64_t count = type.getNumElements();
  if (!PartExchange::addsInPieces(type)) {
    auto rows = RankedTensorType::get({group.count, count}, type.getElementType());
    auto all = b.create<AllGatherOp>(TypeRange(rows), flatten(value), group);
    all->setAttr(addendsAttribute, b.getUnitAttr());
    return b.reshape(reduceRows(all.getResult(0)), type.getShape());
  }
  const auto piece = static_cast<int64_t>(llvm::divideCeil(count, group.count));
  auto all = b.create<AllGatherOp>(TypeRange(type), reducePiece(value, piece), group);
  return all.getResult(0);
}

namespace {

class ExchangePartialsPass : public mtc::impl::ExchangePartialsBase<ExchangePartialsPass> {
public:
  using ExchangePartialsBase::ExchangePartialsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (failed(verifyInterface(function)))
      return signalPassFailure();
    // The encodings of operands are gone when an operation is lowered.
    SmallVector<std::pair<Operation *, PartialAttr>> operations;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      PartialAttr partial;
      if (isa<AllReduceOp, ReduceScatterOp>(op))
        partial = PartialAttr::of(op->getOperand(0).getType());
      operations.emplace_back(op, partial);
    });
    for (auto [op, partial] : operations) {
      if (partial || isa<PartialOp>(op)) {
        op->getResult(0).replaceAllUsesWith(partial ? reduce(op, partial) : op->getOperand(0));
        op->erase();
        continue;
      }
      if (auto reshard = dyn_cast<ReshardOp>(op)) {
        TensorBuilder b(op->getLoc(), op->getContext());
        b.setInsertionPoint(op);
        reshard.getResult().replaceAllUsesWith(
            reshardPart(b, reshard.getInput(), reshard.getFrom(), reshard.getTo()));
        op->erase();
        continue;
      }
      for (Value result : op->getResults())
        result.setType(PartialAttr::withoutPartial(result.getType()));
    }
  }

private:
  /// Callers of a function expect whole values.
  static LogicalResult verifyInterface(func::FuncOp function) {
    FunctionType type = function.getFunctionType();
    for (Type each : llvm::concat<const Type>(type.getInputs(), type.getResults()))
      if (PartialAttr::of(each))
        return function.emitError("@")
               << function.getSymName() << " has an argument or result of " << each
               << ", expected a whole value; compute it by 'mtc.all_reduce'";
    return success();
  }

  /// Returns the whole value, or this rank's part, of the terms that an operation reduces.
  static Value reduce(Operation *op, PartialAttr partial) {
    TensorBuilder b(op->getLoc(), op->getContext());
    b.setInsertionPoint(op);
    Reduction reduction(b, partial.getGroup(), partial.getKind());
    Value own = reduction.reduceOwn(llvm::to_vector(op->getOperands()));
    if (isa<ReduceScatterOp>(op))
      return reduction.reducePart(own, typeOf(op->getResult(0)));
    return reduction.reduce(own);
  }
};

} // namespace
