//===- ProducerInliner.cpp - Inlining of producers into their users ---------------------------===//
//
// Depends only on the structure of kernels, not on operators: the producer's body is copied or
// moved into the user, with its index maps composed with the map of the user's load.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/kernels/ProducerInliner.h"

#include "ir/builders/KernelBuilder.h"
#include "passes/kernels/KernelEditing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Returns the iteration that computes the result's element at `index`: the inverse of the map that
/// stores the result. Returns null unless this map only permutes dims and drops dims of size 1.
AffineMap iterationOf(KernelOp kernel, unsigned result, AffineMap index) {
  AffineMap stored = storedAt(kernel, result);
  SmallVector<AffineExpr> iteration;
  for (auto [d, extent] : llvm::enumerate(kernel.getSpace())) {
    auto dim = getAffineDimExpr(d, kernel.getContext());
    auto position = llvm::find(stored.getResults(), dim);
    if (position != stored.getResults().end())
      iteration.push_back(index.getResult(position - stored.getResults().begin()));
    else if (extent == 1)
      iteration.push_back(getAffineConstantExpr(0, kernel.getContext()));
    else
      return {};
  }
  return AffineMap::get(index.getNumDims(), index.getNumSymbols(), iteration, kernel.getContext());
}

class ProducerInliner {
public:
  ProducerInliner(KernelOp producer, KernelOp consumer, ArrayRef<Value> arguments)
      : producer(producer), consumer(consumer), arguments(arguments) {}

  /// Copies the producer's body before a load, with each map composed with the iteration that
  /// computes the loaded element. Returns the value of the result.
  Value inlineAt(KernelLoadOp load, unsigned result) {
    OpBuilder b(load);
    AffineMap iteration = iterationOf(producer, result, load.getMap());
    Block &body = producer.getBody().front();
    IRMapping mapping;
    for (auto [from, to] : llvm::zip_equal(body.getArguments(), arguments))
      mapping.map(from, to);
    for (Operation &op : body.without_terminator()) {
      if (auto inner = dyn_cast<KernelLoadOp>(op))
        mapping.map(inner.getValue(), inlineLoad(b, inner, load, iteration, mapping));
      else if (auto sum = dyn_cast<KernelAddRowsOp>(op))
        mapping.map(sum.getValue(), inlineSum(b, sum, load, iteration, mapping));
      else if (auto index = dyn_cast<KernelIndexOp>(op))
        mapping.map(index.getValue(), inlineIndex(b, index, load, iteration));
      else
        b.clone(op, mapping);
    }
    Value value = mapping.lookup(yieldOf(producer).getValues()[result]);
    if (!load.getGuard())
      return value;
    return arith::SelectOp::create(b, load.getLoc(), load.getGuard(), value, load.getOtherwise());
  }

  /// Like `inlineAt`, but moves the producer's body, for a load without guard and symbols.
  Value moveTo(KernelLoadOp load, unsigned result) {
    AffineMap iteration = iterationOf(producer, result, load.getMap());
    Block &body = producer.getBody().front();
    for (auto [from, to] : llvm::zip_equal(body.getArguments(), arguments))
      from.replaceAllUsesWith(to);
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
      op.moveBefore(load);
      if (auto inner = dyn_cast<KernelLoadOp>(op))
        inner.setMap(compose(inner.getMap(), iteration));
      else if (auto index = dyn_cast<KernelIndexOp>(op))
        index.setMap(compose(index.getMap(), iteration));
    }
    return yieldOf(producer).getValues()[result];
  }

private:
  /// Composes two maps. Symbols of the inner map precede those of the outer map.
  AffineMap compose(AffineMap inner, AffineMap iteration) {
    SmallVector<AffineExpr> symbols;
    for (unsigned i = 0; i < inner.getNumSymbols(); ++i)
      symbols.push_back(getAffineSymbolExpr(i, inner.getContext()));
    SmallVector<AffineExpr> dims;
    for (AffineExpr expr : iteration.getResults())
      dims.push_back(expr.shiftSymbols(iteration.getNumSymbols(), inner.getNumSymbols()));
    AffineMap composed = inner.replaceDimsAndSymbols(
        dims, symbols, iteration.getNumDims(), inner.getNumSymbols() + iteration.getNumSymbols());
    return simplifyOverSpace(composed, consumer.getSpace());
  }

  Value inlineLoad(OpBuilder &b, KernelLoadOp inner, KernelLoadOp load, AffineMap iteration,
                   IRMapping &mapping) {
    SmallVector<Value> symbols;
    for (Value symbol : inner.getSymbols())
      symbols.push_back(mapping.lookup(symbol));
    llvm::append_range(symbols, load.getSymbols());
    // If the consumer's guard is false, the index may be outside the producer's iteration space.
    Value guard = load.getGuard(), otherwise;
    if (inner.getGuard()) {
      Value own = mapping.lookup(inner.getGuard());
      guard = guard ? arith::AndIOp::create(b, load.getLoc(), guard, own).getResult() : own;
      otherwise = mapping.lookup(inner.getOtherwise());
    } else if (guard) {
      otherwise = scalarConstant(b, load.getLoc(), inner.getValue().getType(), 0);
    }
    return KernelLoadOp::create(b, inner.getLoc(), inner.getValue().getType(),
                                mapping.lookup(inner.getSource()),
                                compose(inner.getMap(), iteration), symbols, guard, otherwise);
  }

  /// The consumer does not gather, so that the row remains the only symbol of the map.
  Value inlineSum(OpBuilder &b, KernelAddRowsOp sum, KernelLoadOp load, AffineMap iteration,
                  IRMapping &mapping) {
    Value guard = load.getGuard(), own = mapping.lookupOrNull(sum.getGuard());
    if (guard && own)
      guard = arith::AndIOp::create(b, load.getLoc(), guard, own);
    else if (own)
      guard = own;
    return KernelAddRowsOp::create(
        b, sum.getLoc(), sum.getValue().getType(), mapping.lookup(sum.getSource()),
        compose(sum.getMap(), iteration), mapping.lookupOrNull(sum.getOnto()),
        mapping.lookupOrNull(sum.getDecay()), guard);
  }

  Value inlineIndex(OpBuilder &b, KernelIndexOp index, KernelLoadOp load, AffineMap iteration) {
    return KernelIndexOp::create(b, index.getLoc(), index.getValue().getType(),
                                 compose(index.getMap(), iteration));
  }

  KernelOp producer, consumer;
  ArrayRef<Value> arguments;
};

} // namespace

bool mtc::canInline(KernelOp producer, unsigned result) {
  return producer.getShape() == FusibleShape::Elementwise &&
         iterationOf(producer, result, storedAt(producer, result));
}

bool mtc::inlineProducer(KernelOp producer, KernelOp consumer, unsigned input) {
  unsigned result = cast<OpResult>(consumer.getInputs()[input]).getResultNumber();
  SmallVector<Value> arguments = shareInputs(producer, consumer);
  ProducerInliner inliner(producer, consumer, arguments);
  const SmallVector<KernelLoadOp> loads = loadsOf(consumer.getBody().front().getArgument(input));
  const bool isOnlyUse = producer->hasOneUse();
  for (KernelLoadOp load : loads) {
    const bool mayMove =
        isOnlyUse && loads.size() == 1 && !load.getGuard() && load.getSymbols().empty();
    load.getValue().replaceAllUsesWith(mayMove ? inliner.moveTo(load, result)
                                               : inliner.inlineAt(load, result));
    load.erase();
  }
  consumer.getBody().front().eraseArgument(input);
  consumer->eraseOperand(input);
  consumer->setLoc(FusedLoc::get(consumer.getContext(), {producer.getLoc(), consumer.getLoc()}));
  if (isOnlyUse)
    producer.erase();
  return isOnlyUse;
}
