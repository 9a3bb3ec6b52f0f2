//===- GroupTotals.cpp - What a team adds up over its rows ------------------------------------===//

#include "codegen/cuda/GroupTotals.h"

#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cuda;

void GroupTotals::begin(Value group, Value exists) {
  groupExists = exists;
  copy = plan.keptRows > 1 ? threads.remainder(group, plan.copies()) : group;
  if (plan.keptRows > 1)
    firstRow = threads.scale(threads.divide(group, plan.copies()), plan.rows / plan.keptRows);
  bool any = false;
  for (auto [total, partials] : llvm::zip_equal(kernel.totals, plan.partials)) {
    Type type = typeOfPartial(kernel, total);
    int64_t elements = kernel.outputs[total].getNumElements();
    Value base = partialsOf(total, partials);
    bases.push_back(base);
    if (llvm::is_contained(residentTotals, total))
      continue;
    points.addUpAt(total, base);
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

Value GroupTotals::partialsOf(unsigned total, int64_t offset) {
  Value all = LLVM::GEPOp::create(b, scratch.getType(), b.getI8Type(), scratch,
                                  ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  Value first = threads.scale(copy, kernel.outputs[total].getNumElements());
  return threads.elementAt(all, typeOfPartial(kernel, total), first);
}

ThreadBuilder::Values GroupTotals::zeros() {
  ThreadBuilder::Values sums;
  for (unsigned total : residentTotals)
    for (int64_t i = 0; i < plan.residentSteps; ++i) {
      Type type = typeOfPartial(kernel, total);
      bool isVector = plan.vector.dim && plan.vector.width > 1;
      sums.push_back(
          splatConstant(b, b.getZeroAttr(type),
                        isVector ? Type(VectorType::get({plan.vector.width}, type)) : type));
    }
  return sums;
}

ThreadBuilder::Values GroupTotals::addUp(ValueRange carried, ArrayRef<RowStep> steps,
                                         Value rowExists) {
  PointEmitter::Scope scope(points);
  ThreadBuilder::Values next;
  KernelYieldOp yield = kernel.yield;
  for (unsigned total : residentTotals)
    for (const RowStep &step : steps) {
      points.setState(step.state);
      Value sum = carried[next.size()], value = points.get(yield.getValues()[total]);
      if (isa<VectorType>(sum.getType()))
        value = points.broadcast(value);
      Value more = arith::AddFOp::create(b, sum, value);
      if (Value exists = threads.both(rowExists, step.exists))
        more = arith::SelectOp::create(b, exists, more, sum);
      next.push_back(more);
    }
  return next;
}

void GroupTotals::store(ArrayRef<Value> sums) {
  for (auto [total, base] : llvm::zip_equal(kernel.totals, bases)) {
    if (!llvm::is_contained(residentTotals, total))
      continue;
    for (int64_t i = 0; i < plan.residentSteps; ++i) {
      PointEmitter::Scope scope(points);
      Value at = threads.add(team.member(), i * plan.team), exists;
      if ((i + 1) * plan.team > plan.steps)
        exists = threads.less(at, plan.steps);
      if (firstRow)
        points.bindPoint(plan.rowDims, firstRow, plan.vector);
      points.bindPoint(plan.reducedDims, at, plan.vector);
      threads.ifThen(threads.both(groupExists, exists), [&, total = total, base = base] {
        points.storeSum(total, base, sums.front());
      });
      sums = sums.drop_front();
    }
  }
}
