//===- PointEmitter.cpp - The values of a kernel's body at a point, or at a vector of points --===//

#include "codegen/cpu/PointEmitter.h"

#include "codegen/Storage.h"
#include "codegen/cpu/Transpose.h"
#include "ir/Scalar.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

void PointEmitter::bindDim(unsigned dim, Value index) {
  dims[dim] = index;
  bound |= DimSet(1) << dim;
}

void PointEmitter::bindLanes(unsigned dim, Value start, int64_t laneCount, int64_t active) {
  bindDim(dim, start);
  lanesDim = dim;
  lanes = laneCount;
  activeLanes = active;
  mask = active < lanes ? lanesMask(active) : Value();
}

/// The first `active` lanes.
Value PointEmitter::lanesMask(int64_t active) {
  SmallVector<bool> exists(lanes);
  std::fill_n(exists.begin(), active, true);
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(cast<VectorType>(inLanes(b.getI1Type())), exists));
}

Value PointEmitter::index(int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value PointEmitter::broadcast(Value value) {
  if (isVector(value))
    return value;
  return vector::BroadcastOp::create(b, inLanes(value.getType()), value);
}

Value PointEmitter::selectActive(Value value, Value otherwise) {
  return mask ? arith::SelectOp::create(b, mask, value, otherwise) : value;
}

Value PointEmitter::get(Value bodyValue) {
  if (Value value = values.lookup(bodyValue))
    return value;
  emit(bodyValue.getDefiningOp());
  return values.lookup(bodyValue);
}

Value PointEmitter::getLanes(Value bodyValue) { return broadcast(get(bodyValue)); }

void PointEmitter::hoist(ValueRange targets, unsigned level) {
  SmallVector<Value> stack(targets.begin(), targets.end());
  DenseSet<Value> seen;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    if (!seen.insert(value).second || values.contains(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (isa<arith::ConstantOp>(op))
      continue;
    NormalKernel::ValueInfo info = kernel.values.lookup(value);
    if ((info.dims & ~bound) == 0 && info.level <= level)
      get(value);
    else
      stack.append(op->operand_begin(), op->operand_end());
    // The operand of a load is an argument, which is no value.
    llvm::erase_if(stack, [](Value operand) { return isa<BlockArgument>(operand); });
  }
}

//===------------------------------------------------------------------------------------------===//
// Operations of the body
//===------------------------------------------------------------------------------------------===//

void PointEmitter::emit(Operation *op) {
  if (auto load = dyn_cast<KernelLoadOp>(op))
    return define(load.getValue(), emitLoad(load));
  if (auto check = dyn_cast<KernelCheckOp>(op))
    return define(check.getValue(), emitCheck(check));
  if (auto index = dyn_cast<KernelIndexOp>(op))
    return define(index.getValue(), offsets(place(kernel.indices.find(op)->second, {})));
  assert(!isa<KernelReduceOp>(op) && "reductions are defined by the loops that compute them");
  emitScalarOperation(op);
}

void PointEmitter::emitScalarOperation(Operation *op) {
  SmallVector<Value> arguments;
  bool anyVector = false;
  for (Value operand : op->getOperands()) {
    arguments.push_back(get(operand));
    anyVector |= isVector(arguments.back());
  }
  if (anyVector)
    for (Value &argument : arguments)
      argument = broadcast(argument);
  // 8-bit floats are bytes in code.
  if (auto narrow = dyn_cast<arith::TruncFOp>(op); narrow && isFloat8(narrow.getType()))
    return define(narrow, encodeFloat8(b, arguments[0], narrow.getType()));
  if (auto wide = dyn_cast<arith::ExtFOp>(op); wide && isFloat8(wide.getIn().getType()))
    return define(wide, decodeFloat8(b, arguments[0], wide.getIn().getType()));

  OperationState state(b.getLoc(), op->getName());
  state.addOperands(arguments);
  state.addAttributes(op->getAttrs());
  for (Type type : op->getResultTypes())
    state.addTypes(anyVector ? inLanes(type) : type);
  Operation *emitted = b.create(state);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), emitted->getResults()))
    define(result, value);
}

/// i in -extent..extent-1 becomes an index, anything else raises the fault and becomes 0.
Value PointEmitter::emitCheck(KernelCheckOp op) {
  Value found = get(op.getIndex());
  Type like = found.getType();
  auto constant = [&](int64_t value) { return splatConstant(b, b.getI64IntegerAttr(value), like); };
  Value zero = constant(0), extent = constant(op.getExtent());
  Value isNegative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, found, zero);
  Value fromEnd = arith::AddIOp::create(b, found, extent);
  Value position = arith::SelectOp::create(b, isNegative, fromEnd, found);
  Value isBad = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, position, extent);
  if (isVector(isBad) && mask)
    isBad = arith::AndIOp::create(b, isBad, mask);
  raiseFault(isBad, found, op.getExtent());
  return arith::SelectOp::create(b, isBad, zero, position);
}

void PointEmitter::raiseFault(Value isBad, Value found, int64_t extent) {
  Value any = isBad;
  if (isVector(isBad))
    any = vector::ReductionOp::create(b, vector::CombiningKind::OR, isBad);
  auto branch = scf::IfOp::create(b, any, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  if (isVector(isBad)) {
    Value least = splatConstant(b, b.getI64IntegerAttr(INT64_MIN), found.getType());
    Value candidates = arith::SelectOp::create(b, isBad, found, least);
    found = vector::ReductionOp::create(b, vector::CombiningKind::MAXSI, candidates);
  }
  // The fields of MtcFault.
  Type pointerType = LLVM::LLVMPointerType::get(b.getContext());
  auto field = [&](int64_t offset) -> Value {
    return LLVM::GEPOp::create(b, pointerType, b.getI8Type(), fault,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  };
  LLVM::StoreOp::create(b, found, field(8));
  LLVM::StoreOp::create(b, index(extent), field(16));
  LLVM::StoreOp::create(b, arith::ConstantOp::create(b, b.getI32IntegerAttr(1)), field(0));
}

//===------------------------------------------------------------------------------------------===//
// Memory
//===------------------------------------------------------------------------------------------===//

Value PointEmitter::emitLoad(KernelLoadOp op) {
  const LinearForm &form = kernel.loads.find(op)->second;
  unsigned operand = cast<BlockArgument>(op.getSource()).getArgNumber();
  Type element = op.getSource().getType().getElementType();
  SmallVector<Value> symbols;
  for (Value symbol : op.getSymbols())
    symbols.push_back(get(symbol));
  Value guard = op.getGuard() ? get(op.getGuard()) : Value();
  Place at = place(form, symbols);

  if (at.isUniform()) {
    Value address = pointer(operand, element, at.uniform);
    if (guard)
      return emitGuardedUniformLoad(op, address, guard);
    return fromStorage(b, LLVM::LoadOp::create(b, getStorageType(element), address), element);
  }
  prefetch(form, at, operand, element);
  Value active = mask;
  if (guard) {
    guard = broadcast(guard);
    active = mask ? arith::AndIOp::create(b, mask, guard) : guard;
  }
  Value loaded = fromStorage(b, readLanes(at, operands[operand], element, active), element);
  if (!guard)
    return loaded;
  return arith::SelectOp::create(b, guard, loaded, getLanes(op.getOtherwise()));
}

/// The processor's own prefetching does not follow jumps of pages. Addresses past the operand's end
/// do no harm.
void PointEmitter::prefetch(const LinearForm &form, const Place &at, unsigned operand,
                            Type element) {
  constexpr int64_t farJump = 1024, ahead = 8, line = 64;
  if (!prefetchDim || !at.isContiguous() || contains(form.restDims, *prefetchDim))
    return;
  int64_t jump = form.dims[*prefetchDim] * elementBytes(element);
  if (std::abs(jump) < farJump)
    return;
  Value base = pointer(operand, element, at.uniform);
  for (int64_t byte = 0; byte < activeLanes * elementBytes(element); byte += line) {
    Value address = LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                                        ArrayRef<LLVM::GEPArg>{index(ahead * jump + byte)});
    LLVM::Prefetch::create(b, address, /*rw=*/0, /*hint=*/3, /*cache=*/1);
  }
}

/// Reads one element only where some lane's guard holds.
Value PointEmitter::emitGuardedUniformLoad(KernelLoadOp op, Value address, Value guard) {
  Type element = op.getSource().getType().getElementType(), scalar = getScalarType(element);
  Value otherwise = get(op.getOtherwise());
  Value any = guard;
  if (isVector(guard)) {
    Value considered = mask ? arith::AndIOp::create(b, guard, mask) : guard;
    any = vector::ReductionOp::create(b, vector::CombiningKind::OR, considered);
  }
  auto branch = scf::IfOp::create(b, TypeRange(scalar), any, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value stored = LLVM::LoadOp::create(b, getStorageType(element), address);
    scf::YieldOp::create(b, fromStorage(b, stored, element));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, scalarConstant(b, b.getLoc(), scalar, 0));
  }
  Value loaded = branch.getResult(0);
  if (isVector(guard) || isVector(otherwise))
    return arith::SelectOp::create(b, broadcast(guard), broadcast(loaded), broadcast(otherwise));
  return arith::SelectOp::create(b, guard, loaded, otherwise);
}

SmallVector<Value> PointEmitter::loadTransposed(KernelLoadOp op, int64_t rows) {
  unsigned operand = cast<BlockArgument>(op.getSource()).getArgNumber();
  Type element = op.getSource().getType().getElementType(), storage = getStorageType(element);
  Place first = place(kernel.loads.find(op)->second, {});
  Value zeros = splatConstant(b, b.getZeroAttr(storage), inLanes(storage));
  Value exists = rows < lanes ? lanesMask(rows) : Value();
  uint32_t alignment = elementBytes(element);
  SmallVector<Value> vectors;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    if (lane >= activeLanes) {
      vectors.push_back(zeros);
      continue;
    }
    Value offset = arith::AddIOp::create(b, first.uniform, index(lane * first.laneStride));
    Value address = pointer(operand, element, offset);
    if (exists)
      vectors.push_back(LLVM::MaskedLoadOp::create(b, inLanes(storage), address, exists, zeros,
                                                   b.getI32IntegerAttr(alignment),
                                                   /*nontemporal=*/nullptr));
    else
      vectors.push_back(LLVM::LoadOp::create(b, inLanes(storage), address, alignment));
  }
  transposeSquare(b, vectors);
  for (Value &vector : vectors)
    vector = fromStorage(b, vector, element);
  return vectors;
}

void PointEmitter::store(ArrayRef<unsigned> results) {
  KernelYieldOp yield = kernel.yield;
  struct Pending {
    unsigned result;
    Place place;
    Value value;
  };
  SmallVector<Pending> pending;
  SmallVector<Value> symbols;
  for (Value symbol : yield.getSymbols())
    symbols.push_back(get(symbol));
  for (unsigned result : results)
    pending.push_back(
        {result, place(kernel.stores[result], symbols), get(yield.getValues()[result])});
  for (const Pending &each : pending)
    storeOne(each.result, each.place, each.value);
}

void PointEmitter::storeOne(unsigned result, const Place &at, Value value) {
  Type element = kernel.outputs[result].getElementType();
  Value base = operands[kernel.inputs.size() + result];
  bool adds = kernel.adds();
  if (Value partial = partials.lookup(result)) {
    KernelYieldOp yield = kernel.yield;
    element = yield.getValues()[result].getType();
    base = partial;
    adds = true;
  }
  if (at.isUniform()) {
    assert(!isVector(value) && "lanes do not share a place");
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
    Value old = fromStorage(b, readLanes(at, base, element, mask), element);
    value = combineScalars(b, b.getLoc(), ReductionKind::Add, old, value);
  }
  writeLanes(at, base, element, toStorage(b, value, element));
}

void PointEmitter::storeZeros(unsigned result, Value offset, int64_t count) {
  Type element = kernel.outputs[result].getElementType();
  LinearForm owned = kernel.stores[result];
  for (unsigned dim = 0; dim < kernel.rank(); ++dim)
    if (!contains(kernel.owned, dim))
      owned.dims[dim] = 0;
  owned.symbols.clear();
  owned.rest = getAffineConstantExpr(0, b.getContext());
  owned.restDims = owned.restSymbols = 0;
  Place at = place(owned, {});
  at.uniform = arith::AddIOp::create(b, at.uniform, offset);
  unsigned operand = kernel.inputs.size() + result;
  if (hasLanes()) {
    Type storage = getStorageType(element);
    Value zeros = splatConstant(b, b.getZeroAttr(storage), inLanes(storage));
    return writeLanes(at, operands[operand], element, zeros);
  }
  Value bytes = index(count * elementBytes(element));
  Value zero = arith::ConstantOp::create(b, b.getI8IntegerAttr(0));
  LLVM::MemsetOp::create(b, pointer(operand, element, at.uniform), zero, bytes,
                         /*isVolatile=*/false);
}

/// Lanes that `active` leaves out are 0.
Value PointEmitter::readLanes(const Place &at, Value base, Type element, Value active) {
  Type storage = getStorageType(element);
  Type type = inLanes(storage);
  uint32_t alignment = elementBytes(element);
  Type pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value zeros = splatConstant(b, b.getZeroAttr(storage), type);
  if (at.isContiguous()) {
    Value address = LLVM::GEPOp::create(b, pointerType, storage, base, at.uniform);
    if (!active)
      return LLVM::LoadOp::create(b, type, address, alignment);
    return LLVM::MaskedLoadOp::create(b, type, address, active, zeros,
                                      b.getI32IntegerAttr(alignment), /*nontemporal=*/nullptr);
  }
  Value addresses = LLVM::GEPOp::create(b, inLanes(pointerType), storage, base, offsets(at));
  if (!active)
    active = splatConstant(b, b.getBoolAttr(true), type);
  return LLVM::masked_gather::create(b, type, addresses, active, zeros, alignment);
}

void PointEmitter::writeLanes(const Place &at, Value base, Type element, Value value) {
  Type storage = getStorageType(element);
  uint32_t alignment = elementBytes(element);
  Type pointerType = LLVM::LLVMPointerType::get(b.getContext());
  if (at.isContiguous()) {
    Value address = LLVM::GEPOp::create(b, pointerType, storage, base, at.uniform);
    if (mask)
      LLVM::MaskedStoreOp::create(b, value, address, mask, alignment);
    else
      LLVM::StoreOp::create(b, value, address, alignment);
    return;
  }
  Value addresses = LLVM::GEPOp::create(b, inLanes(pointerType), storage, base, offsets(at));
  Value active = mask ? mask : splatConstant(b, b.getBoolAttr(true), value.getType());
  LLVM::masked_scatter::create(b, value, addresses, active, alignment);
}

Value PointEmitter::pointer(unsigned operand, Type element, Value offset) {
  return pointer(operands[operand], element, offset);
}

Value PointEmitter::pointer(Value base, Type element, Value offset) {
  return LLVM::GEPOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), getStorageType(element),
                             base, offset);
}

//===------------------------------------------------------------------------------------------===//
// Indices
//===------------------------------------------------------------------------------------------===//

PointEmitter::Place PointEmitter::place(const LinearForm &form, ValueRange symbols) {
  Place result;
  SmallVector<Value> uniform;
  auto scaled = [&](Value value, int64_t factor) -> Value {
    if (factor == 1)
      return value;
    Value constant = splatConstant(b, b.getI64IntegerAttr(factor), value.getType());
    return arith::MulIOp::create(b, value, constant);
  };
  auto addLanes = [&](Value value) {
    result.laneOffsets =
        result.laneOffsets ? arith::AddIOp::create(b, result.laneOffsets, value) : value;
  };
  for (unsigned dim = 0; dim < kernel.rank(); ++dim)
    if (form.dims[dim] != 0)
      uniform.push_back(scaled(dims[dim], form.dims[dim]));
  if (lanesDim)
    result.laneStride = form.dims[*lanesDim];
  bool symbolInLanes = false;
  for (auto [position, symbol] : llvm::enumerate(symbols)) {
    if (((form.restSymbols >> position) & 1) && isVector(symbol))
      symbolInLanes = true;
    if (form.symbols[position] == 0)
      continue;
    Value term = scaled(symbol, form.symbols[position]);
    if (isVector(term))
      addLanes(term);
    else
      uniform.push_back(term);
  }
  bool restInLanes = symbolInLanes || (lanesDim && contains(form.restDims, *lanesDim));
  SmallVector<Value> symbolValues(symbols.begin(), symbols.end());
  if (restInLanes)
    addLanes(expand(form.rest, symbolValues, /*inLanes=*/true));
  else if (auto constant = dyn_cast<AffineConstantExpr>(form.rest);
           !constant || constant.getValue() != 0)
    uniform.push_back(expand(form.rest, symbolValues, /*inLanes=*/false));
  for (Value term : uniform)
    result.uniform = result.uniform ? arith::AddIOp::create(b, result.uniform, term) : term;
  if (!result.uniform)
    result.uniform = index(0);
  return result;
}

/// The offset as a scalar, or one for each lane.
Value PointEmitter::offsets(const Place &at) {
  if (at.isUniform())
    return at.uniform;
  Value sum = broadcast(at.uniform);
  if (at.laneStride != 0) {
    SmallVector<int64_t> steps;
    for (int64_t lane = 0; lane < lanes; ++lane)
      steps.push_back(lane * at.laneStride);
    auto type = cast<VectorType>(inLanes(b.getI64Type()));
    Value constant = arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef(steps)));
    sum = arith::AddIOp::create(b, sum, constant);
  }
  if (at.laneOffsets)
    sum = arith::AddIOp::create(b, sum, at.laneOffsets);
  return sum;
}

Value PointEmitter::lanesIndex(unsigned dim) {
  Place at;
  at.uniform = dims[dim];
  at.laneStride = 1;
  return offsets(at);
}

/// True for expressions that no index of the space makes negative.
static bool isNonNegative(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  if (isa<AffineDimExpr>(expr) || expr.getKind() == AffineExprKind::Mod)
    return true;
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr))
    return isNonNegative(binary.getLHS()) && isNonNegative(binary.getRHS());
  return false;
}

Value PointEmitter::expand(AffineExpr expr, ArrayRef<Value> symbols, bool asLanes) {
  Type type = asLanes ? inLanes(b.getI64Type()) : b.getI64Type();
  auto shaped = [&](Value value) { return asLanes ? broadcast(value) : value; };
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return splatConstant(b, b.getI64IntegerAttr(constant.getValue()), type);
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    unsigned position = dim.getPosition();
    return asLanes && lanesDim == position ? lanesIndex(position) : shaped(dims[position]);
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return shaped(symbols[symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = expand(binary.getLHS(), symbols, asLanes);
  Value rhs = expand(binary.getRHS(), symbols, asLanes);
  bool simple = isNonNegative(binary.getLHS());
  Value zero = splatConstant(b, b.getI64IntegerAttr(0), type);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, lhs, rhs);
  case AffineExprKind::Mod: {
    if (simple)
      return arith::RemUIOp::create(b, lhs, rhs);
    Value remainder = arith::RemSIOp::create(b, lhs, rhs);
    Value negative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, remainder, zero);
    Value moved = arith::AddIOp::create(b, remainder, rhs);
    return arith::SelectOp::create(b, negative, moved, remainder);
  }
  case AffineExprKind::FloorDiv:
    if (simple)
      return arith::DivUIOp::create(b, lhs, rhs);
    return arith::FloorDivSIOp::create(b, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(b, lhs, rhs);
  default:
    llvm_unreachable("all kinds are covered");
  }
}
