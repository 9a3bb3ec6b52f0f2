//===- KernelSlice.cpp - Recomputation of one result of a kernel ------------------------------===//

#include "passes/kernels/KernelSlice.h"

#include "passes/kernels/KernelEditing.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mtc;

/// Returns whether a kernel may load a result instead of computing it, because it is stored
/// unrounded.
static bool mayLoad(KernelOp kernel, unsigned result) {
  KernelYieldOp yield = yieldOf(kernel);
  Operation *source = yield.getValues()[result].getDefiningOp();
  return !yield.isAdded(result) && source && !isa<KernelLoadOp>(source) &&
         !source->hasTrait<OpTrait::ConstantLike>() &&
         yield.getValues()[result].getType() ==
             getElementTypeOrSelf(kernel->getResult(result).getType());
}

/// Collects the operations of the body that compute a value from operands and from `stored` values.
static llvm::SmallDenseSet<Operation *>
findComputing(Value value, Block &body, const llvm::SmallDenseMap<Value, unsigned> &stored) {
  llvm::SmallDenseSet<Operation *> found;
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || op->getBlock() != &body || stored.contains(next) || !found.insert(op).second)
      continue;
    op->walk([&](Operation *inner) { llvm::append_range(work, inner->getOperands()); });
  }
  return found;
}

/// Returns a kernel that computes one result from operands and the results in `loaded`; null if it
/// would reduce, since the order of summation depends on all accesses of a kernel, or if it would
/// not read anything.
static KernelOp slice(OpBuilder &builder, KernelOp kernel, unsigned result,
                      ArrayRef<unsigned> loaded) {
  KernelYieldOp yield = yieldOf(kernel);
  Block &body = kernel.getBody().front();
  AffineMap map = storedAt(kernel, result);
  const bool coversSpace = llvm::all_of(llvm::enumerate(kernel.getSpace()), [&](auto dim) {
    return dim.value() == 1 || map.isFunctionOfDim(dim.index());
  });
  if (!coversSpace)
    return {};
  llvm::SmallDenseMap<Value, unsigned> stored; // by the value that the kernel stores
  for (unsigned other : loaded)
    stored[yield.getValues()[other]] = other;
  Value target = yield.getValues()[result];
  const llvm::SmallDenseSet<Operation *> computing = findComputing(target, body, stored);
  llvm::SmallDenseSet<Value> used = {target};
  for (Operation *op : computing) {
    if (isa<KernelReduceOp>(op))
      return {};
    op->walk([&](Operation *inner) { used.insert(inner->operand_begin(), inner->operand_end()); });
  }
  IRMapping mapping;
  SmallVector<Value> inputs;
  auto block = std::make_unique<Block>();
  for (BlockArgument argument : body.getArguments())
    if (used.contains(argument)) {
      mapping.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
      inputs.push_back(kernel.getInputs()[argument.getArgNumber()]);
    }
  OpBuilder inside(builder.getContext());
  for (unsigned other : loaded) {
    Value value = yield.getValues()[other];
    if (!used.contains(value) || stored[value] != other)
      continue;
    Value input = kernel->getResult(other);
    inputs.push_back(input);
    BlockArgument argument = block->addArgument(input.getType(), kernel.getLoc());
    inside.setInsertionPointToStart(block.get());
    mapping.map(value, KernelLoadOp::create(inside, kernel.getLoc(), value.getType(), argument,
                                            storedAt(kernel, other), ValueRange(), Value(), Value())
                           .getResult());
  }
  if (inputs.empty())
    return {};
  inside.setInsertionPointToEnd(block.get());
  for (Operation &op : body.without_terminator())
    if (computing.contains(&op))
      inside.clone(op, mapping);
  KernelYieldOp::create(inside, yield.getLoc(), ValueRange(mapping.lookup(target)),
                        inside.getAffineMapArrayAttr(map), ValueRange(), ArrayRef<int64_t>(),
                        Value());
  auto sliced = KernelOp::create(builder, kernel.getLoc(), kernel->getResult(result).getType(),
                                 kernel.getSpace(), /*reduced=*/ArrayRef<int64_t>(),
                                 kernel.getIterations(), inputs);
  sliced->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  sliced.getBody().push_back(block.release());
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
