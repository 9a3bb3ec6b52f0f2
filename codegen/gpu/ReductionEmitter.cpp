//===- ReductionEmitter.cpp - Row and column reductions by teams of threads -------------------===//
//
// A team computes the reductions level by level, then the results that vary along the row, then the
// per-row results. Members without a row, or without a part of it, do not load, combine or store.
//
// A result may alias an operand that is read at the index of the store. Operands of per-row results
// are loaded before members synchronize, and the results are stored afterwards.
//
// For kernels with column sums, a team computes a group of rows sequentially. The sums stay in
// registers if the row does, and the teams of a block can add them up. Otherwise they are
// accumulated in the group's copy in scratch memory.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/gpu/AccessAnalysis.h"
#include "codegen/gpu/GroupSums.h"
#include "codegen/gpu/LaunchEmitter.h"
#include "codegen/gpu/PartialResults.h"
#include "codegen/gpu/Team.h"
#include "codegen/kernels/Reductions.h"
#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

namespace {

class ReductionEmitter {
public:
  ReductionEmitter(LaunchEmitter &e, const ReductionPlan &plan)
      : plan(plan), kernel(e.kernel), b(e.b), threads(e.threads), iterations(e.iterations),
        stored(e.stored()), team(e.b, e.threads, plan), partials(e.kernel, plan, e.b, e.scratch),
        groupSums(e, plan, team), position(e.position) {
    DimSet along = 0;
    for (unsigned dim : plan.reducedDims)
      along |= DimSet(1) << dim;
    for (unsigned i = 0; i < kernel.outputs.size(); ++i) {
      bool varies = groupSums.variesAlongRow(i);
      // A group contains rows of one index of the dimensions that its sums keep.
      const bool isOfOneRow =
          varies ? plan.keptRows > 1 || (kernel.stores[i].dependence() & ~along) == 0
                 : plan.keptRowsAreNeighbours();
      if (kernel.isColumnSum(i) && isOfOneRow && (!varies || plan.residentSteps > 0))
        groupSums.keepInRegisters(i);
      else
        (varies ? iterationResults : rowResults).push_back(i);
    }
    for (unsigned level = 1; level <= kernel.levels; ++level)
      levels.emplace_back(kernel, level);
    for (KernelLoadOp load : loadsAlong(kernel, along))
      loads.push_back(load.getValue());
  }

  void run() {
    if (plan.groups > 0)
      return runGroup();
    bindRow();
    runRow();
  }

private:
  /// Computes a row, or the part of a row that the launch computes.
  void runRow() {
    for (const Reductions &level : levels)
      iterations.hoist(level.operands, /*level=*/0);
    iterations.hoist(stored, /*level=*/0);
    if (plan.splits > 1)
      return runSplit();
    if (levels.empty() && !rowResults.empty())
      team.wait();
    if (plan.residentSteps > 0)
      readSteps();
    for (const Reductions &level : levels)
      define(level, team.combine(level, accumulate(level)));
    storeIterations();
    storeRow();
  }

  //===----------------------------------------------------------------------------------------===//
  // Groups of rows
  //===----------------------------------------------------------------------------------------===//

  void runGroup() {
    group = threads.add(threads.scale(threads.block(), plan.rowsPerBlock), team.team());
    if (plan.groups % plan.rowsPerBlock != 0)
      groupExists = threads.less(group, plan.groups);
    groupSums.begin(group, groupExists);
    low = threads.index(0);
    high = threads.index(plan.steps);
    ThreadBuilder::Values sums = groupSums.zeros();
    sums = threads.loop(threads.index(0), threads.index(plan.rowsPerGroup()), 1, sums,
                        [&](Value i, ValueRange carried) {
                          IterationEmitter::Scope scope(iterations);
                          bindRowOfGroup(i);
                          runRow();
                          ThreadBuilder::Values next = groupSums.addUp(carried, steps, rowExists);
                          // The next row reuses the shared memory.
                          if (Team::sharedBytes(kernel, plan, kernel.levels, threads.warp()) > 0)
                            threads.barrier();
                          return next;
                        });
    groupSums.store(sums);
  }

  void bindRowOfGroup(Value i) {
    steps.clear();
    // All groups together read adjacent rows at a time.
    row = threads.add(threads.scale(i, plan.shares()), groupSums.getShare());
    rowExists = groupExists;
    int64_t rows = plan.rows / plan.keptRows;
    if (plan.rowsPerGroup() * plan.shares() != rows)
      rowExists = threads.both(groupExists, threads.less(row, rows));
    if (Value first = groupSums.getFirstRow())
      row = threads.add(first, row);
    iterations.bindIteration(plan.rowDims, row, plan.vector);
    iterations.bindExists(rowExists);
  }

  //===----------------------------------------------------------------------------------------===//
  // Rows shared by several blocks
  //===----------------------------------------------------------------------------------------===//

  /// Launch n combines the partial results of the levels up to n, which earlier launches stored.
  /// Per-row results are stored in the last launch, since the launch before may still read operands
  /// that they alias.
  void runSplit() {
    for (const Reductions &level : ArrayRef(levels).take_front(position))
      define(level, team.combine(level, readPartials(level)));
    if (position < levels.size()) {
      Accumulators results = team.combine(levels[position], accumulate(levels[position]));
      threads.ifThen(isFirstMember(), [&] {
        for (auto [reduce, result] : llvm::zip_equal(levels[position].ops, results))
          partials.write(reduce, split, row, result);
      });
    } else if (position == levels.size() && !iterationResults.empty()) {
      storeIterations();
    } else {
      storeRow();
    }
  }

  void bindRow() {
    Value block = threads.block();
    split = threads.index(0);
    if (plan.splits > 1 && !isLastOfSplit()) {
      split = threads.remainder(block, plan.splits);
      block = threads.divide(block, plan.splits);
    }
    row = threads.add(threads.scale(block, plan.rowsPerBlock), team.team());
    if (plan.rows % plan.rowsPerBlock != 0)
      rowExists = threads.less(row, plan.rows);
    iterations.bindIteration(plan.rowDims, row, plan.vector);
    iterations.bindExists(rowExists);
    low = threads.scale(split, plan.chunk);
    high = threads.index(plan.steps);
    if (plan.splits > 1)
      high = threads.minimum(threads.add(low, plan.chunk), plan.steps);
    if (kernel.lastRow > 0)
      high = arith::SelectOp::create(b, threads.equals(row, plan.rows - 1),
                                     threads.index(kernel.lastRow / plan.vector.width), high);
  }

  bool isLastOfSplit() const {
    return position > levels.size() || (position == levels.size() && iterationResults.empty());
  }

  Value isFirstMember() {
    return threads.both(plan.team > 1 ? threads.equals(team.member(), 0) : Value(), rowExists);
  }

  /// Defines the results of reductions, and hoists per-row values that depend on them.
  void define(const Reductions &level, const Accumulators &results) {
    for (auto [reduce, result] : llvm::zip_equal(level.ops, results))
      iterations.define(KernelReduceOp(reduce).getResult(), result);
    for (const Reductions &later : levels)
      iterations.hoist(later.operands, level.level);
    iterations.hoist(stored, level.level);
    for (RowStep &step : steps)
      for (auto [bodyValue, value] : iterations.getState().values)
        step.state.values.try_emplace(bodyValue, value);
  }

  //===----------------------------------------------------------------------------------------===//
  // A member's part of a row
  //===----------------------------------------------------------------------------------------===//

  void readSteps() {
    IterationEmitter::State outside = iterations.getState();
    for (int64_t i = 0; i < plan.residentSteps; ++i) {
      iterations.setState(outside);
      Value at = threads.add(team.member(), i * plan.team), exists;
      if ((i + 1) * plan.team > plan.steps || kernel.lastRow > 0)
        exists = threads.less(at, high);
      iterations.bindIteration(plan.reducedDims, at, plan.vector);
      iterations.bindExists(threads.both(rowExists, exists));
      iterations.hoist(loads, /*level=*/0);
      if (!levels.empty())
        iterations.hoist(levels.front().operands, /*level=*/0);
      steps.push_back({iterations.getState(), exists});
    }
    iterations.setState(outside);
  }

  /// Emits a loop over the member's part of the row, unrolled, if the row exists.
  ThreadBuilder::Values
  forOwnSteps(ValueRange initial,
              llvm::function_ref<ThreadBuilder::Values(ArrayRef<Value>, ValueRange)> body) {
    return threads.ifThen(rowExists, initial, [&] {
      return threads.unrolledLoop(threads.add(low, team.member()), high, plan.team, plan.unroll,
                                  initial, body);
    });
  }

  Accumulators accumulate(const Reductions &level) {
    Accumulators accumulators = neutral(level);
    if (plan.residentSteps > 0) {
      IterationEmitter::Scope scope(iterations);
      for (RowStep &step : steps) {
        iterations.setState(step.state);
        accumulators = accumulateIteration(level, accumulators, step.exists);
        step.state = iterations.getState();
      }
    } else {
      accumulators = forOwnSteps(accumulators, [&](ArrayRef<Value> indices, ValueRange carried) {
        Accumulators next(carried);
        for (IterationEmitter::State &state : statesAt(indices, level.operands, level.level - 1)) {
          IterationEmitter::Scope scope(iterations);
          iterations.setState(state);
          next = accumulateIteration(level, next, Value());
        }
        return next;
      });
    }
    if (plan.vectorIsReduced && plan.vector.width > 1)
      for (auto [reduce, accumulator] : llvm::zip_equal(level.ops, accumulators))
        accumulator = combineLanes(b, reduce, accumulator);
    return accumulators;
  }

  Accumulators accumulateIteration(const Reductions &level, Accumulators accumulators,
                                   Value exists) {
    SmallVector<Value> values;
    for (auto [operand, accumulator] : llvm::zip_equal(level.operands, accumulators)) {
      Value value = iterations.get(operand);
      values.push_back(isa<VectorType>(accumulator.getType()) ? iterations.broadcast(value)
                                                              : value);
    }
    Accumulators combined = level.combine(b, accumulators, values);
    if (exists)
      for (auto [next, old] : llvm::zip_equal(combined, accumulators))
        next = arith::SelectOp::create(b, exists, next, old);
    return combined;
  }

  Accumulators neutral(const Reductions &level) {
    Accumulators result;
    for (KernelReduceOp reduce : level.ops) {
      int64_t lanes = plan.vectorIsReduced
                          ? plan.vector.width
                          : plan.lanesOf(kernel.values.lookup(reduce.getResult()).dims);
      TypedAttr value = neutralElement(reduce);
      Type type = value.getType();
      result.push_back(splatConstant(b, value, lanes > 1 ? VectorType::get({lanes}, type) : type));
    }
    return result;
  }

  Accumulators readPartials(const Reductions &level) {
    Accumulators initial;
    for (KernelReduceOp reduce : level.ops)
      initial.push_back(splatConstant(b, neutralElement(reduce), partials.type(reduce)));
    auto combineNext = [&](Value from, ValueRange carried) {
      Accumulators values;
      for (KernelReduceOp reduce : level.ops)
        values.push_back(partials.read(reduce, from, row));
      return level.combine(b, carried, values);
    };
    return threads.ifThen(rowExists, initial, [&] {
      return threads.loop(team.member(), threads.index(plan.splits), plan.team, initial,
                          combineNext);
    });
  }

  //===----------------------------------------------------------------------------------------===//
  // Stores
  //===----------------------------------------------------------------------------------------===//

  /// Returns the states of several reduced iterations, with the operands of the targets emitted in
  /// each.
  SmallVector<IterationEmitter::State> statesAt(ArrayRef<Value> indices, ValueRange targets,
                                                unsigned level) {
    IterationEmitter::State outside = iterations.getState();
    SmallVector<IterationEmitter::State> states;
    for (Value index : indices) {
      iterations.setState(outside);
      iterations.bindIteration(plan.reducedDims, index, plan.vector);
      iterations.bindExists(Value());
      iterations.hoist(targets, level);
      states.push_back(iterations.getState());
    }
    iterations.setState(outside);
    return states;
  }

  void storeIterations() {
    if (iterationResults.empty())
      return;
    if (plan.residentSteps > 0) {
      IterationEmitter::Scope scope(iterations);
      for (RowStep &step : steps) {
        iterations.setState(step.state);
        iterations.hoist(stored, kernel.levels);
        step.state = iterations.getState();
      }
      for (const RowStep &step : steps) {
        iterations.setState(step.state);
        threads.ifThen(threads.both(rowExists, step.exists),
                       [&] { iterations.store(iterationResults); });
      }
      return;
    }
    forOwnSteps({}, [&](ArrayRef<Value> indices, ValueRange) {
      for (IterationEmitter::State &state : statesAt(indices, stored, kernel.levels)) {
        IterationEmitter::Scope scope(iterations);
        iterations.setState(state);
        iterations.store(iterationResults);
      }
      return ThreadBuilder::Values();
    });
  }

  void storeRow() {
    if (rowResults.empty())
      return;
    if (!levels.empty() && team.isOfOneWarp())
      team.wait();
    IterationEmitter::Scope scope(iterations);
    threads.ifThen(isFirstMember(), [&] { iterations.store(rowResults); });
  }

  const ReductionPlan &plan;
  const NormalKernel &kernel;
  ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  GlobalIterationEmitter &iterations;
  SmallVector<Value> stored;
  SmallVector<Value> loads; ///< values that vary along the row
  Team team;
  PartialResults partials;
  GroupSums groupSums;
  unsigned position;
  SmallVector<unsigned> iterationResults, rowResults;
  std::vector<Reductions> levels;
  Value split, row, rowExists, low, high, group, groupExists;
  SmallVector<RowStep> steps;
};

} // namespace

void mtc::gpu::emitReduction(LaunchEmitter &emitter, const ReductionPlan &plan) {
  ReductionEmitter(emitter, plan).run();
}
