//===- ReductionEmitter.cpp - Reductions of a kernel ------------------------------------------===//

#include "codegen/cpu/ReductionEmitter.h"

#include "codegen/cpu/VectorIterationEmitter.h"
#include "ir/builders/Scalar.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

/// The number of terms per accumulator that are added to a partial sum before it is added to the
/// sum.
static constexpr int64_t kTermsOfPartialSum = 64;

/// Returns the accumulators of a group, one per reduction.
static Accumulators groupOf(const Accumulators &all, const Reductions &reductions, int64_t group) {
  const auto count = static_cast<int64_t>(reductions.ops.size());
  return Accumulators(all.begin() + group * count, all.begin() + (group + 1) * count);
}

static void setGroup(Accumulators &all, const Reductions &reductions, int64_t group,
                     const Accumulators &values) {
  llvm::copy(values, all.begin() + group * static_cast<int64_t>(reductions.ops.size()));
}

ReductionEmitter::ReductionEmitter(const NormalKernel &kernel, const LoopPlan &plan,
                                   ImplicitLocOpBuilder &b, VectorIterationEmitter &emitter,
                                   const KeptValues &kept)
    : kernel(kernel), plan(plan), b(b), emitter(emitter), kept(kept),
      isAlongRow(plan.vectorIsReduced(kernel)) {}

/// Returns whether results depend on the order in which elements are combined.
static bool dependsOnOrder(const Reductions &reductions) {
  return llvm::any_of(reductions.ops, [](KernelReduceOp reduce) {
    return isa<FloatType>(reduce.getType()) && reduce.getKind() != ReductionKind::Max &&
           reduce.getKind() != ReductionKind::Min;
  });
}

void ReductionEmitter::emitLevel(unsigned level, std::optional<int64_t> rowExtent) {
  this->rowExtent = rowExtent;
  Reductions reductions(kernel, level);
  groups = isAlongRow && dependsOnOrder(reductions) ? plan.rowAccumulators(kernel) / plan.lanes : 1;
  emitter.hoist(reductions.operands, level - 1);
  Accumulators results = emitLoops(reductions, plan.reducedDims, neutral(reductions));
  if (isAlongRow)
    results = combineGroups(reductions, std::move(results));
  for (auto [reduce, result] : llvm::zip_equal(reductions.ops, results))
    emitter.define(reduce.getResult(), isAlongRow ? combineLanes(b, reduce, result) : result);
}

//===----------------------------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------------------------===//

Value ReductionEmitter::initialAccumulator(KernelReduceOp reduce) {
  TypedAttr neutral = neutralElement(reduce);
  bool varies =
      plan.vectorDim && contains(kernel.values.lookup(reduce.getValue()).dims, *plan.vectorDim);
  if (isAlongRow)
    return splatConstant(b, neutral, VectorType::get({plan.lanes}, reduce.getType()));
  if (varies)
    return emitter.broadcast(arith::ConstantOp::create(b, neutral));
  return arith::ConstantOp::create(b, neutral);
}

Accumulators ReductionEmitter::neutral(const Reductions &reductions) {
  Accumulators result;
  for (int64_t group = 0; group < groups; ++group)
    for (KernelReduceOp reduce : reductions.ops)
      result.push_back(initialAccumulator(reduce));
  return result;
}

/// Combines the corresponding accumulators of two lists.
Accumulators ReductionEmitter::combineAll(const Reductions &reductions, const Accumulators &lhs,
                                          const Accumulators &rhs) {
  Accumulators all;
  for (int64_t group = 0; group < groups; ++group)
    llvm::append_range(all, reductions.combine(b, groupOf(lhs, reductions, group),
                                               groupOf(rhs, reductions, group)));
  return all;
}

/// Combines the groups in a tree, as `combineLanes` does with the lanes of a group: the first half
/// with the second one.
Accumulators ReductionEmitter::combineGroups(const Reductions &reductions, Accumulators all) {
  for (int64_t half = groups / 2; half > 0; half /= 2)
    for (int64_t group = 0; group < half; ++group)
      setGroup(all, reductions, group,
               reductions.combine(b, groupOf(all, reductions, group),
                                  groupOf(all, reductions, group + half)));
  return groupOf(all, reductions, 0);
}

//===----------------------------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------------------------===//

Accumulators ReductionEmitter::emitLoop(Value low, Value high, int64_t step,
                                        const Accumulators &accumulators, Body body) {
  auto forOp = scf::ForOp::create(b, low, high, emitter.index(step), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  IterationEmitter::Scope scope(emitter);
  scf::YieldOp::create(b, body(forOp.getInductionVar(), Accumulators(forOp.getRegionIterArgs())));
  return Accumulators(forOp.getResults());
}

/// Emits loops over `dims`.
Accumulators ReductionEmitter::emitLoops(const Reductions &reductions, ArrayRef<unsigned> dims,
                                         const Accumulators &accumulators) {
  if (dims.empty())
    return accumulateIteration(reductions, accumulators);
  unsigned dim = dims.front();
  ArrayRef<unsigned> inner = dims.drop_front();
  if (dim == plan.vectorDim)
    return emitRow(reductions, dim, accumulators);
  return emitLong(reductions, kernel.space[dim], /*step=*/1, accumulators,
                  [&](Value i, const Accumulators &carried) -> Accumulators {
                    emitter.bindDim(dim, i);
                    if (inner.empty())
                      emitter.enterLoop(dim);
                    emitter.hoist(reductions.operands, reductions.level - 1);
                    if (!reductions.roundsSums || inner.empty())
                      return emitLoops(reductions, inner, carried);
                    return combineAll(reductions, carried,
                                      emitLoops(reductions, inner, neutral(reductions)));
                  });
}

/// Emits a loop over the vector dimension, the innermost one. An iteration binds the lanes of one
/// group after the other.
Accumulators ReductionEmitter::emitRow(const Reductions &reductions, unsigned dim,
                                       Accumulators accumulators) {
  const int64_t extent = dim == 1 && rowExtent ? *rowExtent : kernel.space[dim],
                step = groups * plan.lanes, full = extent / step * step;
  auto emitGroups = [&](Value low, int64_t count, Accumulators all) {
    for (int64_t begin = 0; begin < count; begin += plan.lanes) {
      IterationEmitter::Scope scope(emitter);
      Value first = begin == 0 ? low : arith::AddIOp::create(b, low, emitter.index(begin));
      emitter.bindLanes(dim, first, plan.lanes, std::min(plan.lanes, count - begin));
      if (count == step)
        emitter.hoist(reductions.operands, reductions.level - 1);
      const int64_t group = begin / plan.lanes;
      setGroup(all, reductions, group,
               accumulateIteration(reductions, groupOf(all, reductions, group)));
    }
    return all;
  };
  if (full > 0)
    accumulators =
        emitLong(reductions, full, step, accumulators, [&](Value low, const Accumulators &carried) {
          return emitGroups(low, step, carried);
        });
  return full < extent ? emitGroups(emitter.index(full), extent - full, std::move(accumulators))
                       : accumulators;
}

/// Emits a loop over 0, step, … Long sums are split into partial sums, so that rounding errors grow
/// with the square root of the number of terms.
Accumulators ReductionEmitter::emitLong(const Reductions &reductions, int64_t extent, int64_t step,
                                        const Accumulators &accumulators, Body body) {
  const int64_t block = kTermsOfPartialSum * step;
  if (!reductions.roundsSums || extent <= 2 * block)
    return emitLoop(emitter.index(0), emitter.index(extent), step, accumulators, body);
  return emitLoop(emitter.index(0), emitter.index(extent), block, accumulators,
                  [&](Value low, const Accumulators &carried) {
                    Value high = arith::AddIOp::create(b, low, emitter.index(block));
                    if (extent % block != 0)
                      high = arith::MinSIOp::create(b, high, emitter.index(extent));
                    return combineAll(reductions, carried,
                                      emitLoop(low, high, step, neutral(reductions), body));
                  });
}

Accumulators ReductionEmitter::accumulateIteration(const Reductions &reductions,
                                                   const Accumulators &accumulators) {
  if (reductions.level > 1)
    kept.load(b, emitter);
  SmallVector<Value> values;
  for (auto [operand, accumulator] : llvm::zip_equal(reductions.operands, accumulators)) {
    Value value = emitter.get(operand);
    values.push_back(isa<VectorType>(accumulator.getType()) ? emitter.broadcast(value) : value);
  }
  Accumulators combined = reductions.combine(b, accumulators, values);
  if (isAlongRow)
    for (auto [next, old] : llvm::zip_equal(combined, accumulators))
      next = emitter.selectActive(next, old);
  if (reductions.level == 1)
    kept.store(b, emitter);
  return combined;
}
