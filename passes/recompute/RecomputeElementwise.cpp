//===- RecomputeElementwise.cpp - Min-cut rematerialization of elementwise operations ---------===//

#include "ir/NodeNames.h"
#include "passes/Passes.h"
#include "passes/recompute/MinCut.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {
#define GEN_PASS_DEF_RECOMPUTEELEMENTWISE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Returns whether a value is available during the whole step at no cost.
bool isAlwaysThere(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || isa<ReadOp, ReadFlatOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
}

bool mayRecompute(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  if (op->hasTrait<mtc::View>())
    return true;
  auto fusible = dyn_cast<FusibleOpInterface>(op);
  auto recomputable = dyn_cast<RecomputableOpInterface>(op);
  return fusible && fusible.getFusibleShape() == FusibleShape::Elementwise && recomputable &&
         recomputable.isRecomputable();
}

/// Returns whether the result is a cast, or is computed by one operation from smaller values and
/// one value of its size that is stored because it cannot be recomputed. Additions may become a
/// part of the call that computes this value.
bool isComputedFromStored(Operation *op) {
  if (isa<CastOp>(op))
    return true;
  if (!isa<SubOp, MulOp>(op))
    return false;
  auto isSmall = [](Value value) {
    Operation *source = value.getDefiningOp();
    return source && (isa<BroadcastOp>(source) || source->hasTrait<OpTrait::ConstantLike>());
  };
  auto isStored = [](Value value) {
    Operation *source = value.getDefiningOp();
    return source && !mayRecompute(source);
  };
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  return (isSmall(lhs) && isStored(rhs)) || (isStored(lhs) && isSmall(rhs));
}

/// Decides which values of the forward pass are saved, and which are recomputed.
class KeptValues {
public:
  KeptValues(Operation *lastForward, double bytesPerFlop)
      : lastForward(lastForward), bytesPerFlop(bytesPerFlop) {
    for (Operation &op : *lastForward->getBlock())
      if (isForward(&op))
        addOperation(&op);
    sinkSide = graph.findSinkSide();
  }

  bool isForward(Operation *op) const {
    return op == lastForward || op->isBeforeInBlock(lastForward);
  }

  bool isRecomputed(Value value) const {
    auto it = nodes.find(value);
    return it != nodes.end() && sinkSide.test(it->second.computed);
  }

private:
  /// A value enters its first node and leaves its second one. If the minimum cut contains the edge
  /// between them, the value is saved.
  struct Nodes {
    unsigned computed, available;
  };

  /// Records an operation that computes integers only from constants and positions. Kernels compute
  /// them from their loops' counters.
  void noteIndexArithmetic(Operation *op) {
    if (mayRecompute(op) && getElementTypeOrSelf(op->getResult(0)).isInteger() &&
        llvm::all_of(op->getOperands(), [&](Value operand) {
          Operation *source = operand.getDefiningOp();
          return source &&
                 (source->hasTrait<OpTrait::ConstantLike>() || indexArithmetic.contains(source));
        }))
      indexArithmetic.insert(op);
  }

  void addOperation(Operation *op) {
    noteIndexArithmetic(op);
    for (Value result : op->getResults()) {
      if (isAlwaysThere(result))
        continue;
      Nodes own{graph.addNode(), graph.addNode()};
      nodes[result] = own;
      bool again = mayRecompute(op), isView = op->hasTrait<mtc::View>();
      const int64_t bytes = byteSize(cast<RankedTensorType>(result.getType()));
      // Kernels and calls write values that cannot be recomputed in any case, whereas they write
      // cheap values only if these are saved. This fraction of the bytes is the additional cost
      // that outweighs one operation on a 16-bit element.
      constexpr int64_t partOfWrite = 14;
      const bool isCheap = again && isComputedFromStored(op);
      graph.addEdge(own.computed, own.available,
                    isView    ? FlowGraph::kUnbounded
                    : isCheap ? bytes + bytes / partOfWrite
                              : bytes);
      graph.addEdge(FlowGraph::kSource, own.computed, again ? price(op) : FlowGraph::kUnbounded);
      if (again)
        for (Value operand : op->getOperands())
          if (auto it = nodes.find(operand); it != nodes.end())
            graph.addEdge(it->second.available, own.computed, FlowGraph::kUnbounded);
      bool isNeeded =
          llvm::any_of(result.getUsers(), [&](Operation *user) { return !isForward(user); });
      if (isNeeded)
        graph.addEdge(own.available, FlowGraph::kSink, FlowGraph::kUnbounded);
    }
  }

  /// Returns the cost of recomputing an operation, in bytes.
  int64_t price(Operation *op) {
    auto cost = dyn_cast<CostOpInterface>(op);
    if (op->hasTrait<mtc::View>() || !cost || indexArithmetic.contains(op))
      return 0;
    return std::max<int64_t>(1, cost.getCost().flops * bytesPerFlop);
  }

  Operation *lastForward;
  double bytesPerFlop;
  llvm::DenseSet<Operation *> indexArithmetic;
  FlowGraph graph;
  DenseMap<Value, Nodes> nodes;
  llvm::BitVector sinkSide;
};

class RecomputeElementwisePass
    : public mtc::impl::RecomputeElementwiseBase<RecomputeElementwisePass> {
public:
  using RecomputeElementwiseBase::RecomputeElementwiseBase;

private:
  void runOnOperation() override {
    again.clear(); // The pass runs on several functions, whose values may reuse addresses.
    func::FuncOp function = getOperation();
    Operation *loss = findDifferentiated(function);
    if (!loss)
      return;
    KeptValues kept(loss, bytesPerFlop);
    for (Operation *op = loss->getNextNode(); op; op = op->getNextNode())
      for (OpOperand &operand : op->getOpOperands())
        if (kept.isRecomputed(operand.get()))
          operand.set(recompute(operand.get(), op, kept));
  }

  /// Returns the operation that computes the differentiated result, which ends the forward pass.
  static Operation *findDifferentiated(func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (function.getResultAttr(i, differentiatedAttribute))
        return function.front().getTerminator()->getOperand(i).getDefiningOp();
    return nullptr;
  }

  /// Recomputes the value before its first use in the backward pass.
  Value recompute(Value value, Operation *user, const KeptValues &kept) {
    if (Value known = again.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(kept.isRecomputed(operand) ? recompute(operand, user, kept) : operand);
    Operation *clone = op->clone();
    clone->setOperands(operands);
    clone->setLoc(backwardLocation(op->getLoc()));
    clone->setDiscardableAttr(recomputedAttribute, UnitAttr::get(&getContext()));
    user->getBlock()->getOperations().insert(user->getIterator(), clone);
    return again[value] = clone->getResult(0);
  }

  DenseMap<Value, Value> again;
};

} // namespace
