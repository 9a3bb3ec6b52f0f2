//===- VectorIterationEmitter.cpp - Kernel bodies in SIMD lanes -------------------------------===//

#include "codegen/cpu/VectorIterationEmitter.h"

#include "codegen/cpu/RoundedLines.h"
#include "codegen/cpu/Transpose.h"
#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

/// Hardware prefetchers do not follow strides across pages. Prefetching past the end of the operand
/// is harmless.
void VectorIterationEmitter::beforeLoad(const LinearForm &form, const LaneOffset &at,
                                        unsigned operand, Type element) {
  constexpr int64_t farJump = 1024, ahead = 8, line = 64;
  if (!state.loopDim || !at.isContiguous() || contains(form.restDims, *state.loopDim))
    return;
  int64_t jump = form.dims[*state.loopDim] * elementBytes(element);
  if (std::abs(jump) < farJump)
    return;
  Value base = pointer(operands[operand], element, at.uniform);
  for (int64_t byte = 0; byte < state.activeLanes * elementBytes(element); byte += line) {
    Value address = LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                                        ArrayRef<LLVM::GEPArg>{index(ahead * jump + byte)});
    LLVM::Prefetch::create(b, address, /*rw=*/0, /*hint=*/3, /*cache=*/1);
  }
}

static unsigned operandOf(KernelLoadOp load) {
  return cast<BlockArgument>(load.getSource()).getArgNumber();
}

Value VectorIterationEmitter::addressOf(const SmallTable &table, unsigned operand) {
  return pointer(operands[operand], b.getF32Type(), index(table.first));
}

void VectorIterationEmitter::prepareTables(int64_t lanes) {
  if (permutations < TablePermutations::Bytes)
    return;
  for (KernelLoadOp load : kernel.body->getOps<KernelLoadOp>()) {
    std::optional<SmallTable> table = findSmallTable(load, kernel.loads.find(load)->second);
    if (!table || !isTableOfBytes(*table, lanes))
      continue;
    unsigned operand = operandOf(load);
    Value &buffer = planes[{operand, table->first}];
    if (!buffer)
      buffer = storeBytePlanes(b, *table, addressOf(*table, operand));
  }
}

Value VectorIterationEmitter::emitLookup(KernelLoadOp op, const LinearForm &form) {
  std::optional<SmallTable> table;
  if (permutations >= TablePermutations::Words && state.lanes % 16 == 0)
    table = findSmallTable(op, form);
  if (!table)
    return {};
  unsigned operand = operandOf(op);
  Value numbers = getLanes(table->number);
  if (Value buffer = planes.lookup({operand, table->first});
      buffer && isTableOfBytes(*table, state.lanes))
    return lookUpBytes(b, buffer, numbers);
  Type wide = inLanes(b.getI32Type());
  if (numbers.getType() != wide)
    numbers = arith::ExtUIOp::create(b, wide, numbers);
  return lookUp(b, *table, addressOf(*table, operand), numbers);
}

Value VectorIterationEmitter::emitSpecial(Operation *op) {
  if (permutations < TablePermutations::Bytes || state.lanes != kLanesOfRoundedLines)
    return {};
  std::optional<RoundedLines> rounded = findRoundedLines(op);
  if (!rounded || !contains(kernel.values.lookup(rounded->x).dims, *state.lanesDim))
    return {};
  Value isNegative = rounded->isNegative ? getLanes(rounded->isNegative) : Value();
  return emitRoundedLines(b, *rounded, getLanes(rounded->x), isNegative);
}

SmallVector<Value> VectorIterationEmitter::loadTransposed(KernelLoadOp op, int64_t rows) {
  unsigned operand = cast<BlockArgument>(op.getSource()).getArgNumber();
  Type element = op.getSource().getType().getElementType(), storage = getStorageType(element);
  LaneOffset first = offsetOf(kernel.loads.find(op)->second, {});
  Value zeros = splatConstant(b, b.getZeroAttr(storage), inLanes(storage));
  Value exists = rows < state.lanes ? lanesMask(rows) : Value();
  uint32_t alignment = elementBytes(element);
  SmallVector<Value> vectors;
  for (int64_t lane = 0; lane < state.lanes; ++lane) {
    if (lane >= state.activeLanes) {
      vectors.push_back(zeros);
      continue;
    }
    Value offset = arith::AddIOp::create(b, first.uniform, index(lane * first.laneStride));
    Value address = pointer(operands[operand], element, offset);
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

void VectorIterationEmitter::storeZeros(unsigned result, Value offset, int64_t count) {
  Type element = kernel.outputs[result].getElementType();
  LinearForm owned = kernel.stores[result];
  for (unsigned dim = 0; dim < kernel.rank(); ++dim)
    if (!contains(kernel.owned, dim))
      owned.dims[dim] = 0;
  owned.symbols.clear();
  owned.rest = getAffineConstantExpr(0, b.getContext());
  owned.restDims = owned.restSymbols = 0;
  LaneOffset at = offsetOf(owned, {});
  at.uniform = arith::AddIOp::create(b, at.uniform, offset);
  unsigned operand = kernel.inputs.size() + result;
  if (hasLanes()) {
    Type storage = getStorageType(element);
    Value zeros = splatConstant(b, b.getZeroAttr(storage), inLanes(storage));
    return writeLanes(at, operands[operand], element, zeros);
  }
  Value bytes = index(count * elementBytes(element));
  Value zero = arith::ConstantOp::create(b, b.getI8IntegerAttr(0));
  LLVM::MemsetOp::create(b, pointer(operands[operand], element, at.uniform), zero, bytes,
                         /*isVolatile=*/false);
}

/// Returns the type in which lanes are loaded and stored. It is an integer type instead of bf16,
/// because LLVM expands masked loads and gathers of bf16 to f32 lane by lane if the processor has
/// no bf16 support.
static Type getMovedType(Type storage) {
  return storage.isBF16() ? Type(IntegerType::get(storage.getContext(), 16)) : storage;
}

/// Lanes that are not active are 0.
Value VectorIterationEmitter::readLanes(const LaneOffset &at, Value base, Type element,
                                        Value active) {
  if (active)
    active = broadcast(active);
  Type storage = getStorageType(element), moved = getMovedType(storage);
  Type type = inLanes(moved);
  uint32_t alignment = elementBytes(element);
  Type pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value zeros = splatConstant(b, b.getZeroAttr(moved), type), lanes;
  if (at.isContiguous()) {
    Value address = LLVM::GEPOp::create(b, pointerType, moved, base, at.uniform);
    if (!active)
      lanes = LLVM::LoadOp::create(b, type, address, alignment);
    else
      lanes = LLVM::MaskedLoadOp::create(b, type, address, active, zeros,
                                         b.getI32IntegerAttr(alignment), /*nontemporal=*/nullptr);
  } else {
    Value addresses = LLVM::GEPOp::create(b, inLanes(pointerType), moved, base, offsets(at));
    if (!active)
      active = splatConstant(b, b.getBoolAttr(true), type);
    lanes = LLVM::masked_gather::create(b, type, addresses, active, zeros, alignment);
  }
  return moved == storage ? lanes : arith::BitcastOp::create(b, inLanes(storage), lanes);
}

void VectorIterationEmitter::writeLanes(const LaneOffset &at, Value base, Type element,
                                        Value value) {
  Type storage = getStorageType(element), moved = getMovedType(storage);
  if (moved != storage)
    value = arith::BitcastOp::create(b, inLanes(moved), value);
  uint32_t alignment = elementBytes(element);
  Type pointerType = LLVM::LLVMPointerType::get(b.getContext());
  if (at.isContiguous()) {
    Value address = LLVM::GEPOp::create(b, pointerType, moved, base, at.uniform);
    if (state.mask)
      LLVM::MaskedStoreOp::create(b, value, address, state.mask, alignment);
    else
      LLVM::StoreOp::create(b, value, address, alignment);
    return;
  }
  Value addresses = LLVM::GEPOp::create(b, inLanes(pointerType), moved, base, offsets(at));
  Value active = state.mask ? state.mask : splatConstant(b, b.getBoolAttr(true), value.getType());
  LLVM::masked_scatter::create(b, value, addresses, active, alignment);
}
