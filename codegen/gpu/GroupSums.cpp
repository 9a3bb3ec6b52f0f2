//===- GroupSums.cpp - Column sums of a team over its rows ------------------------------------===//

#include "codegen/gpu/GroupSums.h"

#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

void GroupSums::begin(Value group, Value exists) {
  groupExists = exists;
  share = group;
  if (plan.keptRows > 1) {
    Value first;
    if (plan.keptRowsAreNeighbours()) {
      first = threads.remainder(group, plan.keptRows);
      share = threads.divide(group, plan.keptRows);
    } else {
      first = threads.divide(group, plan.shares());
      share = threads.remainder(group, plan.shares());
    }
    firstRow = threads.scale(first, plan.rows / plan.keptRows);
  }
  copy = plan.sumsBlocks ? threads.block() : share;
  bool any = false;
  for (auto [result, partials] : llvm::zip_equal(kernel.columnSums, plan.partials)) {
    Type type = typeOfPartial(kernel, result);
    int64_t elements = kernel.outputs[result].getNumElements();
    Value base = partialsOf(result, partials);
    bases.push_back(base);
    if (llvm::is_contained(residentSums, result))
      continue;
    iterations.addUpAt(result, base);
    any = true;
    threads.ifThen(groupExists, [&] {
      Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
      threads.loop(team.member(), threads.index(elements), plan.team, [&](Value element) {
        LLVM::StoreOp::create(b, zero, threads.elementAt(base, type, element));
      });
    });
  }
  if (any)
    team.wait();
}

Value GroupSums::partialsOf(unsigned result, int64_t offset) {
  Value all = LLVM::GEPOp::create(b, scratch.getType(), b.getI8Type(), scratch,
                                  ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  Value first = threads.scale(copy, kernel.outputs[result].getNumElements());
  return threads.elementAt(all, typeOfPartial(kernel, result), first);
}

bool GroupSums::variesAlongRow(unsigned result) const {
  return llvm::any_of(plan.reducedDims,
                      [&](unsigned dim) { return contains(kernel.storeDims(result), dim); });
}

ThreadBuilder::Values GroupSums::zeros() {
  ThreadBuilder::Values sums;
  for (unsigned result : residentSums)
    for (int64_t i = 0; i < sumsOf(result); ++i) {
      Type type = typeOfPartial(kernel, result);
      bool isVector = variesAlongRow(result) && plan.vector.dim && plan.vector.width > 1;
      sums.push_back(
          splatConstant(b, b.getZeroAttr(type),
                        isVector ? Type(VectorType::get({plan.vector.width}, type)) : type));
    }
  return sums;
}

ThreadBuilder::Values GroupSums::addUp(ValueRange carried, ArrayRef<RowStep> steps,
                                       Value rowExists) {
  IterationEmitter::Scope scope(iterations);
  ThreadBuilder::Values next;
  KernelYieldOp yield = kernel.yield;
  const RowStep row = {iterations.getState(), Value()};
  for (unsigned result : residentSums)
    for (const RowStep &step : variesAlongRow(result) ? steps : ArrayRef(row)) {
      iterations.setState(step.state);
      Value sum = carried[next.size()], value = iterations.get(yield.getValues()[result]);
      if (isa<VectorType>(sum.getType()))
        value = iterations.broadcast(value);
      Value more = arith::AddFOp::create(b, sum, value);
      if (Value exists = threads.both(rowExists, step.exists))
        more = arith::SelectOp::create(b, exists, more, sum);
      next.push_back(more);
    }
  return next;
}

void GroupSums::store(ArrayRef<Value> sums) {
  Value stores = plan.sumsBlocks ? threads.equals(team.team(), 0) : groupExists;
  for (auto [result, base] : llvm::zip_equal(kernel.columnSums, bases)) {
    if (!llvm::is_contained(residentSums, result))
      continue;
    for (int64_t i = 0; i < sumsOf(result); ++i) {
      IterationEmitter::Scope scope(iterations);
      Value at = threads.add(team.member(), i * plan.team), exists;
      if (variesAlongRow(result) && (i + 1) * plan.team > plan.steps)
        exists = threads.less(at, plan.steps);
      if (firstRow)
        iterations.bindIteration(plan.rowDims, firstRow, plan.vector);
      if (variesAlongRow(result))
        iterations.bindIteration(plan.reducedDims, at, plan.vector);
      Value sum = plan.sumsBlocks ? blockSums.addUp(sums.front()) : sums.front();
      threads.ifThen(threads.both(stores, exists),
                     [&, result = result, base = base] { iterations.storeSum(result, base, sum); });
      sums = sums.drop_front();
    }
  }
}
