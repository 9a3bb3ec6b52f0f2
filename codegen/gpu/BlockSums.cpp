//===- BlockSums.cpp - Sums of values over the teams of a block -------------------------------===//

#include "codegen/gpu/BlockSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

/// Returns the number of values of a member that are left after those of the same warp are added.
static int64_t countSlots(const ReductionPlan &plan, int64_t warp) {
  return plan.threads() / std::max(plan.team, warp);
}

int64_t BlockSums::sharedBytes(const NormalKernel &kernel, const ReductionPlan &plan,
                               int64_t warp) {
  if (!plan.sumsBlocks || countSlots(plan, warp) == 1)
    return 0;
  int64_t maximum = 0;
  for (unsigned result : kernel.columnSums)
    maximum = std::max(maximum, elementBytes(typeOfPartial(kernel, result)));
  return countSlots(plan, warp) * plan.team * plan.vector.width * maximum;
}

Value BlockSums::shuffle(Value value, int64_t distance) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return threads.shuffle(value, distance);
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane)
    lanes.push_back(threads.shuffle(vector::ExtractOp::create(b, value, lane), distance));
  return vector::FromElementsOp::create(b, type, lanes);
}

Value BlockSums::addUp(Value own) {
  const int64_t warp = threads.warp();
  for (int64_t distance = warp / 2; distance >= plan.team; distance /= 2)
    own = arith::AddFOp::create(b, own, shuffle(own, distance));
  const int64_t slots = countSlots(plan, warp);
  if (slots == 1)
    return own;
  Type type = own.getType(), element = getElementTypeOrSelf(type);
  auto vector = dyn_cast<VectorType>(type);
  const int64_t bytes = (vector ? vector.getNumElements() : 1) * elementBytes(element);
  const auto alignment = static_cast<unsigned>(std::min<int64_t>(bytes, 16));
  // A later sum overwrites the values that this sum has read.
  if (shared)
    threads.barrier();
  else
    shared = threads.allocateShared(b.getI8Type(), sharedBytes(kernel, plan, warp));
  Value slot = team.team(), isFirst;
  if (plan.team < warp) {
    slot = threads.divide(threads.thread(), warp);
    isFirst = threads.less(threads.remainder(threads.thread(), warp), plan.team);
  }
  threads.ifThen(isFirst, [&] {
    Value at = threads.add(threads.scale(slot, plan.team), team.member());
    LLVM::StoreOp::create(b, own, threads.elementAt(shared, type, at), alignment);
  });
  threads.barrier();
  Value sum;
  for (int64_t i = 0; i < slots; ++i) {
    Value at = threads.add(team.member(), i * plan.team);
    Value value = LLVM::LoadOp::create(b, type, threads.elementAt(shared, type, at), alignment);
    sum = sum ? arith::AddFOp::create(b, sum, value) : value;
  }
  return sum;
}
