//===- ScatterEmitter.cpp - Sums at computed indices, without atomics -------------------------===//
//
// No two threads add to the same element: the threads of a block own disjoint iterations, and
// blocks handle disjoint indices or separate copies.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/gpu/AccessAnalysis.h"
#include "codegen/gpu/LaunchEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

namespace {

class ScatterEmitter {
public:
  ScatterEmitter(LaunchEmitter &e, const ScatterPlan &plan)
      : plan(plan), kernel(e.kernel), b(e.b), threads(e.threads), iterations(e.iterations),
        stored(e.stored()), results(e.resultNumbers()), blockThreads(e.launch.block[0]),
        others(iterationsOf(e.kernel, plan.otherDims)), scratch(e.scratch) {}

  void run() {
    Value block = threads.block();
    Value low = threads.index(0), chunk;
    high = threads.index(others);
    if (plan.chunks > 1) {
      chunk = threads.remainder(block, plan.chunks);
      block = threads.divide(block, plan.chunks);
      int64_t length = llvm::divideCeil(others, plan.chunks);
      low = threads.scale(chunk, length);
      high = threads.minimum(threads.add(low, length), others);
      addUpApart(chunk);
    }
    if (plan.byIndex && plan.indexGroups > 1) {
      group = threads.remainder(block, plan.indexGroups);
      block = threads.divide(block, plan.indexGroups);
    }
    bindOwned(block);
    if (!plan.byIndex)
      return threads.loop(low, high, 1, [&](Value other) { addIteration(other); });
    shared = threads.allocateShared(maskType(), blockThreads / threads.warp());
    threads.loop(low, high, blockThreads, [&](Value first) {
      findOwn(first);
      threads.loop(threads.index(0), threads.index(blockThreads / threads.warp()), 1,
                   [&](Value warp) { addFound(first, warp); });
      threads.barrier();
    });
  }

private:
  /// Redirects the sums to the chunk's copy of the results.
  void addUpApart(Value chunk) {
    for (auto [result, offset] : llvm::zip_equal(results, plan.partials)) {
      Value base = LLVM::GEPOp::create(b, scratch.getType(), b.getI8Type(), scratch,
                                       ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
      Value first = threads.scale(chunk, kernel.outputs[result].getNumElements());
      iterations.addUpAt(result, threads.elementAt(base, typeOfPartial(kernel, result), first));
    }
  }

  /// Binds the owned dimensions to the thread's iterations.
  void bindOwned(Value block) {
    int64_t owned = iterationsOf(kernel, plan.ownedDims) / plan.vector.width;
    Value own = threads.add(threads.scale(block, blockThreads), threads.thread());
    if (owned % blockThreads != 0)
      exists = threads.less(own, owned);
    iterations.bindIteration(plan.ownedDims, own, plan.vector);
    iterations.bindExists(exists);
    iterations.hoist(stored, /*level=*/0);
  }

  void addIteration(Value other) {
    IterationEmitter::Scope scope(iterations);
    iterations.bindIteration(plan.otherDims, other, IterationVector());
    iterations.bindExists(Value());
    threads.ifThen(exists, [&] { iterations.store(results); });
  }

  /// Finds which of the next iterations, one per thread, scatter to indices of this block. Stores
  /// the result as a bit mask over the lanes of each warp.
  void findOwn(Value first) {
    IterationEmitter::Scope scope(iterations);
    Value iteration = threads.add(first, threads.thread());
    Value inside = threads.less(iteration, high);
    iterations.bindIteration(plan.otherDims, iteration, IterationVector());
    iterations.bindExists(inside);
    Value index = threads.divide(iterations.indexOfOthers(), plan.indexStride);
    Value isOwn = inside;
    if (group)
      isOwn = threads.both(isOwn, arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                                        threads.remainder(index, plan.indexGroups),
                                                        group));
    Value lane = threads.remainder(threads.thread(), threads.warp());
    Value bits = arith::ShLIOp::create(b, constant(1), convert(lane, maskType()));
    bits = arith::SelectOp::create(b, isOwn, bits, constant(0));
    for (int64_t distance = threads.warp() / 2; distance > 0; distance /= 2)
      bits = arith::OrIOp::create(b, bits, threads.shuffle(bits, distance));
    threads.ifThen(threads.equals(lane, 0), [&] {
      Value warp = threads.divide(threads.thread(), threads.warp());
      LLVM::StoreOp::create(b, bits, threads.elementAt(shared, maskType(), warp));
    });
    threads.barrier();
  }

  /// Adds the iterations whose bits are set, the lowest bit first.
  void addFound(Value first, Value warp) {
    Type mask = maskType();
    Value all = LLVM::LoadOp::create(b, mask, threads.elementAt(shared, mask, warp));
    auto loop = scf::WhileOp::create(b, TypeRange(mask), ValueRange(all));
    OpBuilder::InsertionGuard guard(b);
    Value left = b.createBlock(&loop.getBefore(), {}, {mask}, {b.getLoc()})->getArgument(0);
    Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, left, constant(0));
    scf::ConditionOp::create(b, any, left);
    Value bits = b.createBlock(&loop.getAfter(), {}, {mask}, {b.getLoc()})->getArgument(0);
    Value lane = LLVM::CountTrailingZerosOp::create(b, mask, bits, /*is_zero_poison=*/true);
    lane = convert(lane, first.getType());
    addIteration(threads.add(threads.add(first, threads.scale(warp, threads.warp())), lane));
    Value rest = arith::AndIOp::create(b, bits, arith::SubIOp::create(b, bits, constant(1)));
    scf::YieldOp::create(b, rest);
  }

  /// Returns the type with a bit for each lane of a warp.
  Type maskType() { return b.getIntegerType(threads.warp()); }
  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(maskType(), value));
  }
  Value convert(Value value, Type type) {
    const unsigned from = value.getType().getIntOrFloatBitWidth(),
                   to = type.getIntOrFloatBitWidth();
    if (from == to)
      return value;
    return from < to ? Value(arith::ExtUIOp::create(b, type, value))
                     : Value(arith::TruncIOp::create(b, type, value));
  }

  const ScatterPlan &plan;
  const NormalKernel &kernel;
  ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  GlobalIterationEmitter &iterations;
  SmallVector<Value> stored;
  SmallVector<unsigned> results;
  int64_t blockThreads, others;
  Value scratch, group, exists, shared, high;
};

} // namespace

void mtc::gpu::emitScatter(LaunchEmitter &emitter, const ScatterPlan &plan) {
  ScatterEmitter(emitter, plan).run();
}
