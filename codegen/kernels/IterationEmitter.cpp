//===- IterationEmitter.cpp - Code of a kernel's body for one iteration or a vector of them ---===//

#include "codegen/kernels/IterationEmitter.h"

#include "codegen/kernels/Storage.h"
#include "ir/builders/Scalar.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mtc;

void IterationEmitter::bindDim(unsigned dim, Value index) {
  state.dims[dim] = index;
  state.bound |= DimSet(1) << dim;
}

void IterationEmitter::bindLanes(unsigned dim, Value start, int64_t lanes, int64_t active) {
  bindDim(dim, start);
  state.lanesDim = dim;
  state.lanes = lanes;
  state.activeLanes = active;
  state.mask = active < lanes ? lanesMask(active) : Value();
}

/// Returns a mask of the first `active` lanes.
Value IterationEmitter::lanesMask(int64_t active) {
  SmallVector<bool> exists(state.lanes);
  std::fill_n(exists.begin(), active, true);
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(cast<VectorType>(inLanes(b.getI1Type())), exists));
}

Value IterationEmitter::index(int64_t value) { return indexLike(value, indexType); }

Value IterationEmitter::broadcast(Value value) {
  if (isVector(value))
    return value;
  return vector::BroadcastOp::create(b, inLanes(value.getType()), value);
}

Value IterationEmitter::selectActive(Value value, Value otherwise) {
  return state.mask ? arith::SelectOp::create(b, state.mask, value, otherwise) : value;
}

Value IterationEmitter::get(Value bodyValue) {
  if (Value value = state.values.lookup(bodyValue))
    return value;
  emit(bodyValue.getDefiningOp());
  return state.values.lookup(bodyValue);
}

void IterationEmitter::hoist(ValueRange targets, unsigned level) {
  SmallVector<Value> stack(targets.begin(), targets.end());
  DenseSet<Value> seen;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    if (!seen.insert(value).second || state.values.contains(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (isa<arith::ConstantOp>(op))
      continue;
    NormalKernel::ValueInfo info = kernel.values.lookup(value);
    if ((info.dims & ~state.bound) == 0 && info.level <= level)
      get(value);
    else
      stack.append(op->operand_begin(), op->operand_end());
    // The source of a load is a block argument and is not evaluated.
    llvm::erase_if(stack, [](Value operand) { return isa<BlockArgument>(operand); });
  }
}

//===------------------------------------------------------------------------------------------===//
// Operations of the body
//===------------------------------------------------------------------------------------------===//

void IterationEmitter::emit(Operation *op) {
  if (auto load = dyn_cast<KernelLoadOp>(op))
    return define(load.getValue(), emitLoad(load));
  if (auto sum = dyn_cast<KernelAddRowsOp>(op))
    return define(sum.getValue(), emitAddRows(sum));
  if (auto check = dyn_cast<KernelCheckOp>(op))
    return define(check.getValue(), emitCheck(check));
  if (auto index = dyn_cast<KernelIndexOp>(op))
    return define(index.getValue(), emitIndex(index));
  assert(!isa<KernelReduceOp>(op) && "reductions are defined by the loops that compute them");
  if (Value special = emitSpecial(op))
    return define(op->getResult(0), special);
  emitScalarOperation(op);
}

void IterationEmitter::emitScalarOperation(Operation *op) {
  SmallVector<Value> arguments;
  bool anyVector = false;
  for (Value operand : op->getOperands()) {
    arguments.push_back(get(operand));
    anyVector |= isVector(arguments.back());
  }
  if (anyVector)
    for (Value &argument : arguments)
      argument = broadcast(argument);
  // 8-bit floats are represented as i8.
  if (auto narrow = dyn_cast<arith::TruncFOp>(op); narrow && isFloat8(narrow.getType()))
    return define(narrow, encodeNarrow(b, arguments[0], narrow.getType()));
  if (auto wide = dyn_cast<arith::ExtFOp>(op); wide && isFloat8(wide.getIn().getType()))
    return define(wide, decodeNarrow(b, arguments[0], wide.getIn().getType()));

  OperationState state(b.getLoc(), op->getName());
  state.addOperands(arguments);
  state.addAttributes(op->getAttrs());
  for (Type type : op->getResultTypes())
    state.addTypes(anyVector ? inLanes(type) : type);
  Operation *emitted = b.create(state);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), emitted->getResults()))
    define(result, value);
}

/// Normalizes an index in -extent..extent-1 to 0..extent-1. Any other index raises the fault and
/// yields 0.
Value IterationEmitter::emitCheck(KernelCheckOp op) {
  Value found = get(op.getIndex());
  Type like = found.getType();
  auto constant = [&](int64_t value) { return splatConstant(b, b.getI64IntegerAttr(value), like); };
  Value zero = constant(0), extent = constant(op.getExtent());
  Value isNegative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, found, zero);
  Value fromEnd = arith::AddIOp::create(b, found, extent);
  Value position = arith::SelectOp::create(b, isNegative, fromEnd, found);
  Value isBad = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, position, extent);
  if (isVector(isBad))
    isBad = both(isBad, state.mask);
  isBad = both(isBad, state.exists);
  raiseFault(isBad, found, op.getExtent());
  return arith::SelectOp::create(b, isBad, zero, position);
}

/// The first kernel to raise the fault records its cause, since kernels run in parallel.
void IterationEmitter::raiseFault(Value isBad, Value found, int64_t extent) {
  Value any = isBad;
  if (isVector(isBad))
    any = vector::ReductionOp::create(b, vector::CombiningKind::OR, isBad);
  auto branch = scf::IfOp::create(b, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  if (isVector(isBad)) {
    Value minimum = splatConstant(b, b.getI64IntegerAttr(INT64_MIN), found.getType());
    Value candidates = arith::SelectOp::create(b, isBad, found, minimum);
    found = vector::ReductionOp::create(b, vector::CombiningKind::MAXSI, candidates);
  }
  // The fields of MtcFault.
  auto field = [&](int32_t offset) -> Value {
    return LLVM::GEPOp::create(b, fault.getType(), b.getI8Type(), fault,
                               ArrayRef<LLVM::GEPArg>{offset});
  };
  auto constant = [&](TypedAttr value) -> Value { return arith::ConstantOp::create(b, value); };
  Value raised = LLVM::AtomicCmpXchgOp::create(
      b, field(0), constant(b.getI32IntegerAttr(0)), constant(b.getI32IntegerAttr(1)),
      LLVM::AtomicOrdering::monotonic, LLVM::AtomicOrdering::monotonic);
  Value isFirst = LLVM::ExtractValueOp::create(b, raised, 1);
  auto first = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  b.setInsertionPoint(first.thenYield());
  LLVM::StoreOp::create(b, found, field(8));
  LLVM::StoreOp::create(b, constant(b.getI64IntegerAttr(extent)), field(16));
}

//===------------------------------------------------------------------------------------------===//
// Memory
//===------------------------------------------------------------------------------------------===//

Value IterationEmitter::emitLoad(KernelLoadOp op) {
  const LinearForm &form = kernel.loads.find(op)->second;
  unsigned operand = cast<BlockArgument>(op.getSource()).getArgNumber();
  Type element = op.getSource().getType().getElementType();
  SmallVector<Value> symbols;
  for (Value symbol : op.getSymbols())
    symbols.push_back(get(symbol));
  Value guard = op.getGuard() ? get(op.getGuard()) : Value();
  LaneOffset at = offsetOf(form, symbols);

  if (at.isUniform())
    return emitUniformLoad(op, pointer(operands[operand], element, at.uniform), guard);
  if (Value value = emitLookup(op, form))
    return value;
  beforeLoad(form, at, operand, element);
  Value active = both(both(state.mask, guard), state.exists);
  Value loaded = fromStorage(b, readLanes(at, operands[operand], element, active), element);
  if (!guard)
    return loaded;
  return arith::SelectOp::create(b, broadcast(guard), loaded, getLanes(op.getOtherwise()));
}

/// Emits a scalar load, guarded if the load has a guard that no lane may satisfy.
Value IterationEmitter::emitUniformLoad(KernelLoadOp op, Value address, Value guard) {
  Value otherwise = guard ? get(op.getOtherwise()) : Value();
  Value loaded = readUniform(address, op.getSource().getType().getElementType(), guard);
  if (!guard)
    return loaded;
  if (isVector(guard) || isVector(otherwise))
    return arith::SelectOp::create(b, broadcast(guard), broadcast(loaded), broadcast(otherwise));
  return arith::SelectOp::create(b, guard, loaded, otherwise);
}

/// Reads a scalar if the guard (null: true) holds in a lane of an iteration that exists.
Value IterationEmitter::readUniform(Value address, Type element, Value guard) {
  Type storage = getStorageType(element);
  if (guard && isVector(guard))
    guard = vector::ReductionOp::create(b, vector::CombiningKind::OR, both(guard, state.mask));
  Value loaded = readWhere(both(guard, state.exists), storage,
                           [&]() -> Value { return LLVM::LoadOp::create(b, storage, address); });
  return fromStorage(b, loaded, element);
}

/// Emits a loop over the rows with the sum as its loop-carried value.
Value IterationEmitter::emitAddRows(KernelAddRowsOp op) {
  const LinearForm &form = kernel.loads.find(op)->second;
  Value base = operands[cast<BlockArgument>(op.getSource()).getArgNumber()];
  Type element = op.getSource().getType().getElementType();
  Value guard = op.getGuard() ? get(op.getGuard()) : Value();
  auto read = [&](Value row) {
    LaneOffset at = offsetOf(form, row);
    if (at.isUniform())
      return readUniform(pointer(base, element, at.uniform), element, guard);
    Value active = both(both(state.mask, guard), state.exists);
    return fromStorage(b, readLanes(at, base, element, active), element);
  };
  Value sum = op.getOnto() ? get(op.getOnto()) : read(index(0));
  Value decay = op.getDecay() ? get(op.getDecay()) : Value();
  const int64_t first = op.getOnto() ? 0 : 1;
  if (first == op.getRowCount())
    return sum;
  const bool inLanes = isVector(sum) || (decay && isVector(decay)) ||
                       (state.lanesDim && contains(form.dependence(), *state.lanesDim));
  auto shaped = [&](Value value) { return inLanes ? broadcast(value) : value; };
  if (decay)
    decay = shaped(decay);
  auto loop = scf::ForOp::create(b, index(first), index(op.getRowCount()), index(1), shaped(sum));
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  Value carried = loop.getRegionIterArgs().front();
  if (decay)
    carried = arith::MulFOp::create(b, carried, decay);
  Value next = arith::AddFOp::create(b, carried, shaped(read(loop.getInductionVar())));
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

Value IterationEmitter::readWhere(Value active, Type type, llvm::function_ref<Value()> read) {
  if (!active)
    return read();
  auto branch = scf::IfOp::create(b, TypeRange(type), active, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, arith::ConstantOp::create(b, b.getZeroAttr(type)).getResult());
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, read());
  return branch.getResult(0);
}

/// Returns the conjunction of two conditions. Null is true, and scalars are broadcast.
Value IterationEmitter::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  if (isVector(x) || isVector(y))
    return arith::AndIOp::create(b, broadcast(x), broadcast(y));
  return arith::AndIOp::create(b, x, y);
}

void IterationEmitter::store(ArrayRef<unsigned> results) {
  KernelYieldOp yield = kernel.yield;
  struct Pending {
    unsigned result;
    LaneOffset offset;
    Value value;
  };
  SmallVector<Pending> pending;
  SmallVector<Value> symbols;
  for (Value symbol : yield.getSymbols())
    symbols.push_back(get(symbol));
  for (unsigned result : results)
    pending.push_back(
        {result, offsetOf(kernel.stores[result], symbols), get(yield.getValues()[result])});
  for (const Pending &each : pending)
    storeOne(each.result, each.offset, each.value);
}

void IterationEmitter::storeSum(unsigned result, Value base, Value sum) {
  Type element = typeOfPartial(kernel, result);
  LaneOffset at = offsetOf(kernel.stores[result], {});
  if (at.isUniform())
    LLVM::StoreOp::create(b, toStorage(b, sum, element), pointer(base, element, at.uniform));
  else
    writeLanes(at, base, element, toStorage(b, broadcast(sum), element));
}

void IterationEmitter::storeOne(unsigned result, const LaneOffset &at, Value value) {
  Type element = kernel.outputs[result].getElementType();
  Value base = operands[kernel.inputs.size() + result];
  bool adds = kernel.scatters();
  if (Value partial = partials.lookup(result)) {
    element = typeOfPartial(kernel, result);
    base = partial;
    adds = true;
  }
  if (at.isUniform()) {
    assert(!isVector(value) && "lanes do not share an address");
    Value address = pointer(base, element, at.uniform);
    if (adds) {
      Value old = LLVM::LoadOp::create(b, getStorageType(element), address);
      value =
          combineScalars(b, b.getLoc(), ReductionKind::Add, fromStorage(b, old, element), value);
    }
    LLVM::StoreOp::create(b, toStorage(b, value, element), address);
    return;
  }
  value = broadcast(value);
  if (adds) {
    Value old = fromStorage(b, readLanes(at, base, element, state.mask), element);
    value = combineScalars(b, b.getLoc(), ReductionKind::Add, old, value);
  }
  writeLanes(at, base, element, toStorage(b, value, element));
}

Value IterationEmitter::pointer(Value base, Type element, Value offset) {
  return LLVM::GEPOp::create(b, base.getType(), getStorageType(element), base, offset);
}
