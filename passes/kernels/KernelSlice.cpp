//===- KernelSlice.cpp - Recomputation of one result of a kernel ------------------------------===//

#include "passes/kernels/KernelSlice.h"

#include "passes/kernels/KernelEditing.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mtc;

/// Whether a kernel may load a result instead of computing it, because it is stored unrounded.
static bool mayLoad(KernelOp kernel, unsigned result) {
  KernelYieldOp yield = yieldOf(kernel);
  Operation *source = yield.getValues()[result].getDefiningOp();
  return !yield.isAdded(result) && source && !isa<KernelLoadOp>(source) &&
         !source->hasTrait<OpTrait::ConstantLike>() &&
         yield.getValues()[result].getType() ==
             getElementTypeOrSelf(kernel->getResult(result).getType());
}

/// Loads a result of `original`, of which `kernel` is a copy, instead of computing it.
static void loadResult(KernelOp kernel, KernelOp original, unsigned result) {
  Block &body = kernel.getBody().front();
  Value value = original->getResult(result);
  BlockArgument argument = body.addArgument(value.getType(), original.getLoc());
  kernel.getInputsMutable().append(value);
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Value computed = yieldOf(kernel).getValues()[result];
  Value loaded = KernelLoadOp::create(builder, original.getLoc(), computed.getType(), argument,
                                      storedAt(original, result), ValueRange(), Value(), Value());
  computed.replaceAllUsesWith(loaded);
}

/// Returns a kernel that computes one result from operands and the results in `loaded`; null if it
/// would reduce.
static KernelOp slice(OpBuilder &builder, KernelOp kernel, unsigned result,
                      ArrayRef<unsigned> loaded) {
  auto whole = cast<KernelOp>(builder.clone(*kernel));
  for (unsigned other : loaded)
    loadResult(whole, kernel, other);
  KernelYieldOp yield = yieldOf(whole);
  AffineMap map = storedAt(kernel, result);
  OpBuilder inside(yield);
  KernelYieldOp::create(inside, yield.getLoc(), ValueRange(yield.getValues()[result]),
                        inside.getAffineMapArrayAttr(map), ValueRange(), ArrayRef<int64_t>(),
                        Value());
  yield.erase();
  eraseUnread(whole);
  // The order of summation depends on all accesses and operations of a kernel, so a slice that
  // reduced would not be bit-exact.
  const bool reduces = !whole.getBody().front().getOps<KernelReduceOp>().empty();
  const bool coversSpace = llvm::all_of(llvm::enumerate(kernel.getSpace()), [&](auto dim) {
    return dim.value() == 1 || map.isFunctionOfDim(dim.index());
  });
  KernelOp sliced;
  if (!reduces && coversSpace && !whole.getInputs().empty()) {
    sliced = KernelOp::create(builder, kernel.getLoc(), kernel->getResult(result).getType(),
                              kernel.getSpace(), /*reduced=*/ArrayRef<int64_t>(),
                              kernel.getPoints(), whole.getInputs());
    sliced->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    sliced.getBody().takeBody(whole.getBody());
  }
  whole.erase();
  return sliced;
}

SmallVector<unsigned> mtc::findInputsOf(KernelOp kernel, unsigned result,
                                        ArrayRef<unsigned> loaded) {
  KernelYieldOp yield = yieldOf(kernel);
  llvm::SmallSetVector<Value, 32> values;
  llvm::SmallDenseSet<Value> stored;
  for (unsigned other : loaded)
    stored.insert(yield.getValues()[other]);
  llvm::SmallDenseSet<unsigned> numbers;
  auto add = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == &kernel.getBody().front())
      numbers.insert(argument.getArgNumber());
    else if (!argument && !stored.contains(value))
      values.insert(value);
  };
  add(yield.getValues()[result]);
  for (size_t i = 0; i < values.size(); ++i)
    values[i].getDefiningOp()->walk([&](Operation *op) { llvm::for_each(op->getOperands(), add); });
  SmallVector<unsigned> sorted(numbers.begin(), numbers.end());
  llvm::sort(sorted);
  return sorted;
}

SmallVector<unsigned> mtc::findLoadable(KernelOp kernel, unsigned result, IsAvailable isAvailable) {
  SmallVector<unsigned> loadable;
  for (auto [other, value] : llvm::enumerate(kernel->getResults()))
    if (other != result && mayLoad(kernel, other) && isAvailable(value))
      loadable.push_back(other);
  return loadable;
}

KernelOp mtc::sliceKernel(OpBuilder &builder, KernelOp kernel, unsigned result,
                          IsAvailable isAvailable) {
  KernelYieldOp yield = yieldOf(kernel);
  if (yield.scatters() || yield.isAdded(result) ||
      !kernel.getBody().front().getOps<KernelCheckOp>().empty())
    return nullptr;
  auto isCheap = [&](KernelOp sliced) {
    return sliced && llvm::all_of(sliced.getInputs(), isAvailable);
  };
  KernelOp alone = slice(builder, kernel, result, {});
  if (isCheap(alone))
    return alone;
  const SmallVector<unsigned> loaded = findLoadable(kernel, result, isAvailable);
  if (loaded.empty())
    return alone;
  KernelOp fromResults = slice(builder, kernel, result, loaded);
  if (!alone || isCheap(fromResults))
    std::swap(alone, fromResults);
  if (fromResults)
    fromResults.erase();
  return alone;
}
