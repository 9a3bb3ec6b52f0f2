//===- ThreadBuilder.cpp - Builder for the code of one thread ---------------------------------===//

#include "codegen/gpu/ThreadBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mtc::gpu;

Value ThreadBuilder::index(int64_t value) {
  return arith::ConstantOp::create(b, b.getIntegerAttr(indexType, value));
}

Value ThreadBuilder::thread() {
  Value id = mlir::gpu::ThreadIdOp::create(b, mlir::gpu::Dimension::x);
  return arith::IndexCastOp::create(b, indexType, id);
}

Value ThreadBuilder::block() {
  Value id = mlir::gpu::BlockIdOp::create(b, mlir::gpu::Dimension::x);
  return arith::IndexCastOp::create(b, indexType, id);
}

Value ThreadBuilder::add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }

Value ThreadBuilder::scale(Value x, int64_t factor) {
  return factor == 1 ? x : arith::MulIOp::create(b, x, index(factor));
}

Value ThreadBuilder::divide(Value x, int64_t divisor) {
  return divisor == 1 ? x : arith::DivUIOp::create(b, x, index(divisor));
}

Value ThreadBuilder::remainder(Value x, int64_t divisor) {
  return divisor == 1 ? index(0) : arith::RemUIOp::create(b, x, index(divisor));
}

Value ThreadBuilder::less(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y);
}

Value ThreadBuilder::equals(Value x, int64_t y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, index(y));
}

Value ThreadBuilder::minimum(Value x, int64_t y) { return arith::MinSIOp::create(b, x, index(y)); }

Value ThreadBuilder::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, x, y);
}

void ThreadBuilder::loop(Value low, Value high, int64_t step,
                         llvm::function_ref<void(Value)> body) {
  loop(low, high, step, {}, [&](Value i, ValueRange) {
    body(i);
    return Values();
  });
}

ThreadBuilder::Values ThreadBuilder::loop(Value low, Value high, int64_t step, ValueRange initial,
                                          llvm::function_ref<Values(Value, ValueRange)> body) {
  auto forOp = scf::ForOp::create(b, low, high, index(step), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  Values next = body(forOp.getInductionVar(), forOp.getRegionIterArgs());
  if (!initial.empty())
    scf::YieldOp::create(b, next);
  return Values(forOp.getResults());
}

ThreadBuilder::Values
ThreadBuilder::unrolledLoop(Value low, Value high, int64_t step, int64_t unroll, ValueRange initial,
                            llvm::function_ref<Values(ArrayRef<Value>, ValueRange)> body) {
  if (unroll == 1)
    return loop(low, high, step, initial,
                [&](Value i, ValueRange carried) { return body({i}, carried); });
  // The start of the remainder loop is a loop-carried value.
  Values start = {low};
  start.append(initial.begin(), initial.end());
  Value last = add(high, -(unroll - 1) * step);
  Values middle = loop(low, last, step * unroll, start, [&](Value i, ValueRange carried) {
    Values indices;
    for (int64_t k = 0; k < unroll; ++k)
      indices.push_back(add(i, k * step));
    Values next = {add(i, unroll * step)};
    next.append(body(indices, carried.drop_front()));
    return next;
  });
  return loop(middle.front(), high, step, ValueRange(middle).drop_front(),
              [&](Value i, ValueRange carried) { return body({i}, carried); });
}

void ThreadBuilder::ifThen(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  body();
}

ThreadBuilder::Values ThreadBuilder::ifThen(Value condition, ValueRange otherwise,
                                            llvm::function_ref<Values()> body) {
  if (!condition)
    return body();
  if (otherwise.empty()) {
    ifThen(condition, [&] { body(); });
    return {};
  }
  auto branch = scf::IfOp::create(b, otherwise.getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, otherwise);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, body());
  return Values(branch.getResults());
}

void ThreadBuilder::barrier() { mlir::gpu::BarrierOp::create(b); }

void ThreadBuilder::warpBarrier() { hardware.synchronizeWarp(b); }

/// Shuffles move 32 bits: narrower values are extended, wider ones are split in two.
Value ThreadBuilder::shuffle(Value value, int64_t mask) {
  Type type = value.getType(), i32 = b.getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  auto move = [&](Value bits) -> Value {
    return mlir::gpu::ShuffleOp::create(b, bits, mask, warp(), mlir::gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  Type integer = b.getIntegerType(width);
  Value bits = isa<FloatType>(type) ? arith::BitcastOp::create(b, integer, value) : value;
  if (width < 32) {
    bits = arith::TruncIOp::create(b, integer, move(arith::ExtUIOp::create(b, i32, bits)));
  } else if (width == 32) {
    bits = move(bits);
  } else {
    Value shift = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
    Value low = move(arith::TruncIOp::create(b, i32, bits));
    Value high = move(arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, bits, shift)));
    bits = arith::OrIOp::create(
        b, arith::ExtUIOp::create(b, integer, low),
        arith::ShLIOp::create(b, arith::ExtUIOp::create(b, integer, high), shift));
  }
  return isa<FloatType>(type) ? arith::BitcastOp::create(b, type, bits) : bits;
}

Value ThreadBuilder::allocateShared(Type element, int64_t count) {
  auto type = LLVM::LLVMArrayType::get(element, count);
  std::string name = (function.getName() + "$shared" + Twine(sharedCount++)).str();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(), 3);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(function);
    LLVM::GlobalOp::create(b, type, /*isConstant=*/false, LLVM::Linkage::Internal, name,
                           /*value=*/Attribute(), /*alignment=*/16, /*addrSpace=*/3);
  }
  return LLVM::AddressOfOp::create(b, pointer, name);
}

Value ThreadBuilder::elementAt(Value base, Type element, Value offset) {
  return LLVM::GEPOp::create(b, base.getType(), element, base, offset);
}
