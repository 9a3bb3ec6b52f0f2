//===- Team.cpp - Teams of threads that share a row -------------------------------------------===//

#include "codegen/gpu/Team.h"

#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

/// The maximum number of warps whose results each thread combines sequentially.
constexpr int64_t kFewWarps = 4;

Team::Team(ImplicitLocOpBuilder &b, ThreadBuilder &threads, const ReductionPlan &plan)
    : b(b), threads(threads), size(plan.team), teams(plan.rowsPerBlock),
      neighbours(plan.membersAreNeighbours()) {
  Value thread = threads.thread();
  if (neighbours) {
    ownMember = teams == 1 ? thread : threads.remainder(thread, size);
    ownTeam = teams == 1 ? threads.index(0) : threads.divide(thread, size);
  } else {
    ownTeam = size == 1 ? thread : threads.remainder(thread, teams);
    ownMember = size == 1 ? threads.index(0) : threads.divide(thread, teams);
  }
}

int64_t Team::sharedBytes(const NormalKernel &kernel, const ReductionPlan &plan, unsigned level,
                          int64_t warp) {
  bool inWarps = plan.membersAreNeighbours();
  if (plan.team == 1 || (inWarps && plan.team <= warp))
    return 0;
  int64_t slots = inWarps ? plan.team / warp : plan.threads(), bytes = 0;
  for (KernelReduceOp reduce : kernel.reductions)
    if (kernel.values.lookup(reduce.getResult()).level <= level)
      bytes += llvm::alignTo(slots * elementBytes(reduce.getType()) *
                                 plan.lanesOf(kernel.values.lookup(reduce.getResult()).dims),
                             16);
  return bytes;
}

void Team::wait() {
  if (isOfOneWarp())
    threads.warpBarrier();
  else if (size > 1)
    threads.barrier();
}

Accumulators Team::combine(const Reductions &reductions, Accumulators accumulators) {
  if (size == 1)
    return accumulators;
  if (!neighbours)
    return combineThroughMemory(reductions, accumulators);
  accumulators = combineInWarp(reductions, accumulators, std::min(size, threads.warp()));
  return size > threads.warp() ? combineWarps(reductions, accumulators) : accumulators;
}

/// Combines pairs at distances lanes/2, ..., 2, 1. Both lanes of a pair have bit-identical results.
Accumulators Team::combineInWarp(const Reductions &reductions, Accumulators accumulators,
                                 int64_t lanes) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    SmallVector<Value> others;
    for (Value accumulator : accumulators)
      others.push_back(threads.shuffle(accumulator, distance));
    accumulators = reductions.combine(b, accumulators, others);
  }
  return accumulators;
}

/// Exchanges the warps' results through shared memory; every warp then combines all of them.
Accumulators Team::combineWarps(const Reductions &reductions, Accumulators accumulators) {
  const int64_t width = threads.warp(), warps = size / width;
  Value lane = threads.remainder(ownMember, width);
  SmallVector<Value> shared =
      share(accumulators, warps, threads.divide(ownMember, width), threads.equals(lane, 0));
  auto readAll = [&](Value slot) {
    Accumulators values;
    for (auto [pointer, accumulator] : llvm::zip_equal(shared, accumulators))
      values.push_back(read(pointer, accumulator.getType(), slot));
    return values;
  };
  if (warps <= kFewWarps) {
    Accumulators result = readAll(threads.index(0));
    for (int64_t warp = 1; warp < warps; ++warp)
      result = reductions.combine(b, result, readAll(threads.index(warp)));
    return result;
  }
  int64_t lanes = llvm::PowerOf2Ceil(warps);
  Value slot = lanes < width ? threads.remainder(lane, lanes) : lane;
  Accumulators result = readAll(lanes == warps ? slot : threads.minimum(slot, warps - 1));
  if (lanes != warps) {
    Value exists = threads.less(slot, warps);
    for (auto [reduce, value] : llvm::zip_equal(reductions.ops, result)) {
      Value neutral = arith::ConstantOp::create(b, neutralElement(reduce));
      value = arith::SelectOp::create(b, exists, value, neutral);
    }
  }
  return combineInWarp(reductions, result, lanes);
}

/// Every member combines the values of all members in order.
Accumulators Team::combineThroughMemory(const Reductions &reductions, Accumulators accumulators) {
  Value own = threads.add(threads.scale(ownMember, teams), ownTeam);
  SmallVector<Value> shared = share(accumulators, size * teams, own, /*where=*/Value());
  Accumulators result;
  for (int64_t member = 0; member < size; ++member) {
    Accumulators values;
    for (auto [pointer, accumulator] : llvm::zip_equal(shared, accumulators))
      values.push_back(read(pointer, accumulator.getType(), threads.add(ownTeam, member * teams)));
    result = member == 0 ? values : reductions.combine(b, result, values);
  }
  return result;
}

SmallVector<Value> Team::share(ValueRange values, int64_t slots, Value slot, Value where) {
  SmallVector<Value> pointers;
  auto storageOf = [](Type type) {
    return withShapeOf(getStorageType(getElementTypeOrSelf(type)), type);
  };
  for (Value value : values)
    pointers.push_back(threads.allocateShared(storageOf(value.getType()), slots));
  threads.ifThen(where, [&] {
    for (auto [pointer, value] : llvm::zip_equal(pointers, values)) {
      Value stored = toStorage(b, value, getElementTypeOrSelf(value.getType()));
      LLVM::StoreOp::create(b, stored, threads.elementAt(pointer, stored.getType(), slot));
    }
  });
  threads.barrier();
  return pointers;
}

Value Team::read(Value shared, Type type, Value slot) {
  Type element = getElementTypeOrSelf(type), storage = withShapeOf(getStorageType(element), type);
  Value stored = LLVM::LoadOp::create(b, storage, threads.elementAt(shared, storage, slot));
  return fromStorage(b, stored, element);
}
