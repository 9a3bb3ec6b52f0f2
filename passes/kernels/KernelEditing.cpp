//===- KernelEditing.cpp - Helpers of kernel passes -------------------------------------------===//

#include "passes/kernels/KernelEditing.h"

#include "ir/TypeCode.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "ir/builders/KernelBuilder.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mtc;

int64_t mtc::bytesOf(Value tensor) { return byteSize(cast<RankedTensorType>(tensor.getType())); }

int64_t mtc::iterationsOf(KernelOp kernel) {
  if (std::optional<int64_t> iterations = kernel.getIterations())
    return *iterations;
  int64_t iterations = 1;
  for (int64_t extent : kernel.getSpace())
    iterations *= extent;
  return iterations;
}

KernelYieldOp mtc::yieldOf(KernelOp kernel) {
  return cast<KernelYieldOp>(kernel.getBody().front().getTerminator());
}

AffineMap mtc::storedAt(KernelOp kernel, unsigned result) {
  return cast<AffineMapAttr>(yieldOf(kernel).getMaps()[result]).getValue();
}

SmallVector<KernelLoadOp> mtc::loadsOf(BlockArgument argument) {
  SmallVector<KernelLoadOp> loads;
  for (Operation *user : argument.getUsers())
    if (auto load = dyn_cast<KernelLoadOp>(user)) // The other user is the yield that adds onto it.
      loads.push_back(load);
  return loads;
}

bool mtc::isReadByRows(BlockArgument argument) {
  return llvm::any_of(argument.getUsers(),
                      [](Operation *user) { return isa<KernelAddRowsOp>(user); });
}

void mtc::mergeLoads(BlockArgument argument) {
  SmallVector<KernelLoadOp> loads = loadsOf(argument);
  llvm::sort(loads, [](KernelLoadOp a, KernelLoadOp b) { return a->isBeforeInBlock(b); });
  llvm::SmallDenseMap<AffineMap, KernelLoadOp> known;
  for (KernelLoadOp load : loads) {
    if (load.getGuard() || !load.getSymbols().empty())
      continue;
    auto [first, isNew] = known.try_emplace(load.getMap(), load);
    if (!isNew) {
      load.getValue().replaceAllUsesWith(first->second.getValue());
      load.erase();
    }
  }
}

bool mtc::onlyMoves(KernelOp kernel) {
  return llvm::all_of(kernel.getBody().front(), [](Operation &op) {
    return isa<KernelLoadOp, KernelIndexOp, KernelYieldOp>(op) ||
           op.hasTrait<OpTrait::ConstantLike>();
  });
}

bool mtc::onlyDecodes(KernelOp kernel) {
  if (kernel->getNumResults() != 1 || kernel.getInputs().empty())
    return false;
  constexpr unsigned maxOperations = 8;
  auto isCheap = [](Operation &op) {
    return isa<KernelYieldOp, arith::BitcastOp, arith::ExtSIOp, arith::AddIOp>(op);
  };
  auto isPlainLoad = [](Operation &op) {
    auto load = dyn_cast<KernelLoadOp>(op);
    return load && load.getMap().isIdentity() && load.getSymbols().empty();
  };
  auto result = cast<RankedTensorType>(kernel->getResult(0).getType());
  int64_t read = 0;
  for (Value input : kernel.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getShape() != result.getShape())
      return false;
    read += elementBytes(type.getElementType());
  }
  int64_t written = elementBytes(result.getElementType());
  bool costsNoMemory =
      read < written || (read == written && llvm::all_of(kernel.getInputs(), isOfVariable));
  Block &body = kernel.getBody().front();
  return costsNoMemory && llvm::range_size(body) <= maxOperations &&
         llvm::all_of(body, [&](Operation &op) { return isPlainLoad(op) || isCheap(op); }) &&
         storedAt(kernel, 0).isIdentity();
}

bool mtc::onlyNarrows(KernelOp kernel) {
  if (kernel.getInputs().size() != 1 || kernel->getNumResults() != 1 || !onlyMoves(kernel))
    return false;
  auto elementOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  Type stored = elementOf(kernel->getResult(0));
  return isNarrowFloat(stored) && elementOf(kernel.getInputs()[0]).isF32() &&
         rootOf(kernel.getInputs()[0]).getDefiningOp<KernelOp>();
}

AffineMap mtc::reshapeMap(AffineMap map, ArrayRef<int64_t> to, ArrayRef<int64_t> from,
                          ArrayRef<int64_t> space) {
  MLIRContext *context = map.getContext();
  AffineExpr linear = getAffineConstantExpr(0, context);
  for (auto [expr, extent] : llvm::zip_equal(map.getResults(), to))
    linear = linear * extent + expr;
  SmallVector<AffineExpr> index(from.size());
  for (size_t i = from.size(); i-- > 0;) {
    index[i] = i == 0 ? linear : linear % from[i];
    linear = linear.floorDiv(from[i]);
  }
  AffineMap result = AffineMap::get(map.getNumDims(), map.getNumSymbols(), index, context);
  return simplifyOverSpace(result, space);
}

Value mtc::rootOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasTrait<mtc::View>())
      break;
    value = op->getOperand(0);
  }
  return value;
}

SmallVector<OpOperand *> mtc::findUses(Value value) {
  SmallVector<OpOperand *> consumers;
  for (OpOperand &use : value.getUses())
    if (use.getOwner()->hasTrait<mtc::View>())
      llvm::append_range(consumers, findUses(use.getOwner()->getResult(0)));
    else
      consumers.push_back(&use);
  return consumers;
}

bool mtc::isOfVariable(Value value) {
  return isa_and_nonnull<ReadOp, ReadFlatOp>(rootOf(value).getDefiningOp());
}

bool mtc::standsBefore(Operation *first, Operation *second) {
  constexpr unsigned maxSteps = 64;
  Operation *afterFirst = first, *afterSecond = second;
  for (unsigned i = 0; i < maxSteps; ++i) {
    afterFirst = afterFirst ? afterFirst->getNextNode() : nullptr;
    if (afterFirst == second)
      return first != second;
    afterSecond = afterSecond ? afterSecond->getNextNode() : nullptr;
    if (afterSecond == first)
      return false;
  }
  return first->isBeforeInBlock(second);
}

void mtc::eraseUnreadViewsOf(Value value) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
    if (!user->hasTrait<mtc::View>())
      continue;
    eraseUnreadViewsOf(user->getResult(0));
    if (user->use_empty())
      user->erase();
  }
}

SmallVector<Value> mtc::shareInputs(KernelOp producer, KernelOp consumer) {
  Block &body = consumer.getBody().front();
  SmallVector<Value> arguments;
  for (Value value : producer.getInputs()) {
    auto known = llvm::find(consumer.getInputs(), value);
    if (known != consumer.getInputs().end()) {
      arguments.push_back(body.getArgument(known - consumer.getInputs().begin()));
      continue;
    }
    consumer.getInputsMutable().append(value);
    arguments.push_back(body.addArgument(value.getType(), producer.getLoc()));
  }
  return arguments;
}

void mtc::eraseUnread(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::BitVector unread(kernel.getInputs().size());
  for (auto [i, argument] : llvm::enumerate(body.getArguments()))
    if (argument.use_empty())
      unread.set(i);
  body.eraseArguments(unread);
  kernel->eraseOperands(unread);
}

KernelOp mtc::withoutResult(KernelOp kernel, int64_t result) {
  KernelYieldOp yield = yieldOf(kernel);
  SmallVector<Type> types(kernel->getResultTypes());
  SmallVector<Value> values(yield.getValues());
  SmallVector<Attribute> maps(yield.getMaps().getValue());
  types.erase(types.begin() + result);
  values.erase(values.begin() + result);
  maps.erase(maps.begin() + result);
  SmallVector<int64_t> added;
  for (int64_t sum : yield.getAdded())
    if (sum != result)
      added.push_back(sum > result ? sum - 1 : sum);
  OpBuilder builder(kernel);
  auto smaller = KernelOp::create(builder, kernel.getLoc(), types, kernel.getSpace(),
                                  kernel.getReduced(), kernel.getIterations(), kernel.getInputs());
  smaller->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  smaller.getBody().takeBody(kernel.getBody());
  builder.setInsertionPoint(yield);
  KernelYieldOp::create(builder, yield.getLoc(), values, builder.getArrayAttr(maps),
                        yield.getSymbols(), added, yield.getOnto());
  yield.erase();
  eraseUnread(smaller);
  SmallVector<Value> kept(smaller->getResults());
  kept.insert(kept.begin() + result, Value());
  for (auto [old, value] : llvm::zip_equal(kernel->getResults(), kept))
    if (value)
      old.replaceAllUsesWith(value);
  kernel.erase();
  return smaller;
}

StringRef mtc::exceedsLimits(KernelOp producer, KernelOp consumer, const KernelLimits &limits) {
  llvm::SmallDenseSet<Value> inputs;
  inputs.insert(producer.getInputs().begin(), producer.getInputs().end());
  for (Value input : consumer.getInputs())
    if (input.getDefiningOp() != producer)
      inputs.insert(input);
  if (inputs.size() > limits.inputs)
    return "the kernel would have too many operands";
  auto count = [](KernelOp kernel) { return llvm::range_size(kernel.getBody().front()); };
  if (count(producer) + count(consumer) > limits.operations)
    return "the kernel would hold too many operations";
  return {};
}

static bool divides(AffineMap map) {
  bool found = false;
  map.walkExprs([&](AffineExpr expr) {
    AffineExprKind kind = expr.getKind();
    found |= kind == AffineExprKind::FloorDiv || kind == AffineExprKind::Mod ||
             kind == AffineExprKind::CeilDiv;
  });
  return found;
}

/// Symbols of the body have no known range, so gathers through a view are not changed.
bool mtc::readThroughView(KernelOp kernel, unsigned input) {
  Value value = kernel.getInputs()[input];
  Operation *view = value.getDefiningOp();
  if (!view || !view->hasTrait<mtc::View>())
    return false;
  Value source = view->getOperand(0);
  BlockArgument argument = kernel.getBody().front().getArgument(input);
  if (argument == yieldOf(kernel).getOnto() || isReadByRows(argument))
    return false;
  auto to = cast<RankedTensorType>(value.getType());
  auto from = cast<RankedTensorType>(source.getType());
  SmallVector<KernelLoadOp> loads = loadsOf(argument);
  SmallVector<AffineMap> maps;
  for (KernelLoadOp load : loads) {
    AffineMap map = load.getMap();
    if (to != from) {
      if (load.getGuard())
        return false; // If the guard is false, dims may be outside the range that divisions rely
                      // on.
      map = reshapeMap(map, to.getShape(), from.getShape(), kernel.getSpace());
    }
    if (divides(map) && !divides(load.getMap()))
      return false;
    maps.push_back(map);
  }
  kernel.getInputsMutable()[input].set(source);
  argument.setType(source.getType());
  for (auto [load, map] : llvm::zip_equal(loads, maps))
    load.setMap(map);
  if (view->use_empty())
    view->erase(); // The dead view would count as another user of its source.
  return true;
}

bool mtc::keepsSumOrder(Operation *op) {
  ProgramOp program = ProgramOp::find(op);
  RanksAttr ranks = program ? program.getRanksAttr() : RanksAttr();
  return ranks &&
         (ranks.getTensorChunks() > 1 || ranks.getContextParts() > 1 || ranks.getPipeline() > 0);
}

bool mtc::isAddendOfRanks(KernelOp kernel) {
  SmallVector<Value> values(kernel->getResults());
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (user->hasAttr(addendsAttribute))
        return true;
      if (user->hasTrait<mtc::View>())
        values.push_back(user->getResult(0));
    }
  return false;
}
