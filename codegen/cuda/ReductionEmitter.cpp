//===- ReductionEmitter.cpp - Rows and columns, combined by teams of threads ------------------===//
//
// A team computes the reductions level by level, then the results that vary along the row, then
// those of the row as a whole. Members that have no row or no part of it neither read, combine nor
// store.
//
// A result may lie where an operand is read at the index at which it is stored. What the row as a
// whole reads is read before members wait for each other, and stored after that.
//
// Where there are column sums, a team has a group of rows, one after another. What it adds up stays
// in registers where the row does, otherwise in the group's place in scratch.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/cuda/AccessAnalysis.h"
#include "codegen/cuda/GroupSums.h"
#include "codegen/cuda/LaunchEmitter.h"
#include "codegen/cuda/PartialResults.h"
#include "codegen/cuda/Team.h"
#include "codegen/kernels/Reductions.h"
#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cuda;

namespace {

class ReductionEmitter {
public:
  ReductionEmitter(LaunchEmitter &e, const ReductionPlan &plan)
      : plan(plan), kernel(e.kernel), b(e.b), threads(e.threads), points(e.points),
        stored(e.stored()), team(e.b, e.threads, plan), partials(e.kernel, plan, e.b, e.scratch),
        groupSums(e, plan, team), position(e.position) {
    DimSet along = 0;
    for (unsigned dim : plan.reducedDims)
      along |= DimSet(1) << dim;
    for (unsigned i = 0; i < kernel.outputs.size(); ++i) {
      bool varies = (kernel.storeDims(i) & along) != 0;
      if (kernel.isColumnSum(i) && varies && plan.residentSteps > 0 &&
          (plan.keptRows > 1 || (kernel.stores[i].dependence() & ~along) == 0))
        groupSums.keepInRegisters(i);
      else
        (varies ? pointResults : rowResults).push_back(i);
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
  /// A row, or a launch's part of it.
  void runRow() {
    for (const Reductions &level : levels)
      points.hoist(level.operands, /*level=*/0);
    points.hoist(stored, /*level=*/0);
    if (plan.splits > 1)
      return runSplit();
    if (levels.empty() && !rowResults.empty())
      team.wait();
    if (plan.residentSteps > 0)
      readSteps();
    for (const Reductions &level : levels)
      define(level, team.combine(level, accumulate(level)));
    storePoints();
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
                          PointEmitter::Scope scope(points);
                          bindRowOfGroup(i);
                          runRow();
                          ThreadBuilder::Values next = groupSums.addUp(carried, steps, rowExists);
                          // Shared memory is written again.
                          if (Team::sharedBytes(kernel, plan, kernel.levels) > 0)
                            threads.barrier();
                          return next;
                        });
    groupSums.store(sums);
  }

  void bindRowOfGroup(Value i) {
    steps.clear();
    row = threads.add(threads.scale(groupSums.getCopy(), plan.rowsPerGroup()), i);
    rowExists = groupExists;
    int64_t rows = plan.rows / plan.keptRows;
    if (plan.rowsPerGroup() * plan.copies() != rows)
      rowExists = threads.both(groupExists, threads.less(row, rows));
    if (Value first = groupSums.getFirstRow())
      row = threads.add(first, row);
    points.bindPoint(plan.rowDims, row, plan.vector);
    points.bindExists(rowExists);
  }

  //===----------------------------------------------------------------------------------------===//
  // Rows that several blocks share
  //===----------------------------------------------------------------------------------------===//

  /// Launch n begins with what the blocks of launch n - 1 left of level n, and all before. The last
  /// one stores what belongs to the row as a whole; the one before it may still read what lies
  /// there.
  void runSplit() {
    for (const Reductions &level : ArrayRef(levels).take_front(position))
      define(level, team.combine(level, readPartials(level)));
    if (position < levels.size()) {
      Accumulators results = team.combine(levels[position], accumulate(levels[position]));
      threads.ifThen(isFirstMember(), [&] {
        for (auto [reduce, result] : llvm::zip_equal(levels[position].ops, results))
          partials.write(reduce, split, row, result);
      });
    } else if (position == levels.size() && !pointResults.empty()) {
      storePoints();
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
    points.bindPoint(plan.rowDims, row, plan.vector);
    points.bindExists(rowExists);
    low = threads.scale(split, plan.chunk);
    high = threads.index(plan.steps);
    if (plan.splits > 1)
      high = threads.minimum(threads.add(low, plan.chunk), plan.steps);
    if (kernel.lastRow > 0)
      high = arith::SelectOp::create(b, threads.equals(row, plan.rows - 1),
                                     threads.index(kernel.lastRow / plan.vector.width), high);
  }

  bool isLastOfSplit() const {
    return position > levels.size() || (position == levels.size() && pointResults.empty());
  }

  Value isFirstMember() {
    return threads.both(plan.team > 1 ? threads.equals(team.member(), 0) : Value(), rowExists);
  }

  /// Makes results known, and what the row as a whole computes from them.
  void define(const Reductions &level, const Accumulators &results) {
    for (auto [reduce, result] : llvm::zip_equal(level.ops, results))
      points.define(KernelReduceOp(reduce).getResult(), result);
    for (const Reductions &later : levels)
      points.hoist(later.operands, level.level);
    points.hoist(stored, level.level);
    for (RowStep &step : steps)
      for (auto [bodyValue, value] : points.getState().values)
        step.state.values.try_emplace(bodyValue, value);
  }

  //===----------------------------------------------------------------------------------------===//
  // A member's part of a row
  //===----------------------------------------------------------------------------------------===//

  void readSteps() {
    PointEmitter::State outside = points.getState();
    for (int64_t i = 0; i < plan.residentSteps; ++i) {
      points.setState(outside);
      Value at = threads.add(team.member(), i * plan.team), exists;
      if ((i + 1) * plan.team > plan.steps || kernel.lastRow > 0)
        exists = threads.less(at, high);
      points.bindPoint(plan.reducedDims, at, plan.vector);
      points.bindExists(threads.both(rowExists, exists));
      points.hoist(loads, /*level=*/0);
      if (!levels.empty())
        points.hoist(levels.front().operands, /*level=*/0);
      steps.push_back({points.getState(), exists});
    }
    points.setState(outside);
  }

  /// A loop over the member's part of a row that exists, some steps at a time.
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
      PointEmitter::Scope scope(points);
      for (RowStep &step : steps) {
        points.setState(step.state);
        accumulators = accumulatePoint(level, accumulators, step.exists);
        step.state = points.getState();
      }
    } else {
      accumulators = forOwnSteps(accumulators, [&](ArrayRef<Value> indices, ValueRange carried) {
        Accumulators next(carried);
        for (PointEmitter::State &state : statesAt(indices, level.operands, level.level - 1)) {
          PointEmitter::Scope scope(points);
          points.setState(state);
          next = accumulatePoint(level, next, Value());
        }
        return next;
      });
    }
    if (plan.vectorIsReduced && plan.vector.width > 1)
      for (auto [reduce, accumulator] : llvm::zip_equal(level.ops, accumulators))
        accumulator = combineLanes(b, reduce, accumulator);
    return accumulators;
  }

  Accumulators accumulatePoint(const Reductions &level, Accumulators accumulators, Value exists) {
    SmallVector<Value> values;
    for (auto [operand, accumulator] : llvm::zip_equal(level.operands, accumulators)) {
      Value value = points.get(operand);
      values.push_back(isa<VectorType>(accumulator.getType()) ? points.broadcast(value) : value);
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

  /// The states at several reduced points that exist, with what the targets need there.
  SmallVector<PointEmitter::State> statesAt(ArrayRef<Value> indices, ValueRange targets,
                                            unsigned level) {
    PointEmitter::State outside = points.getState();
    SmallVector<PointEmitter::State> states;
    for (Value index : indices) {
      points.setState(outside);
      points.bindPoint(plan.reducedDims, index, plan.vector);
      points.bindExists(Value());
      points.hoist(targets, level);
      states.push_back(points.getState());
    }
    points.setState(outside);
    return states;
  }

  void storePoints() {
    if (pointResults.empty())
      return;
    if (plan.residentSteps > 0) {
      PointEmitter::Scope scope(points);
      for (RowStep &step : steps) {
        points.setState(step.state);
        points.hoist(stored, kernel.levels);
        step.state = points.getState();
      }
      for (const RowStep &step : steps) {
        points.setState(step.state);
        threads.ifThen(threads.both(rowExists, step.exists), [&] { points.store(pointResults); });
      }
      return;
    }
    forOwnSteps({}, [&](ArrayRef<Value> indices, ValueRange) {
      for (PointEmitter::State &state : statesAt(indices, stored, kernel.levels)) {
        PointEmitter::Scope scope(points);
        points.setState(state);
        points.store(pointResults);
      }
      return ThreadBuilder::Values();
    });
  }

  void storeRow() {
    if (rowResults.empty())
      return;
    if (!levels.empty() && team.isOfOneWarp())
      team.wait();
    PointEmitter::Scope scope(points);
    threads.ifThen(isFirstMember(), [&] { points.store(rowResults); });
  }

  const ReductionPlan &plan;
  const NormalKernel &kernel;
  ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  GlobalPointEmitter &points;
  SmallVector<Value> stored;
  SmallVector<Value> loads; ///< What differs along the row.
  Team team;
  PartialResults partials;
  GroupSums groupSums;
  unsigned position;
  SmallVector<unsigned> pointResults, rowResults;
  std::vector<Reductions> levels;
  Value split, row, rowExists, low, high, group, groupExists;
  SmallVector<RowStep> steps;
};

} // namespace

void mtc::cuda::emitReduction(LaunchEmitter &emitter, const ReductionPlan &plan) {
  ReductionEmitter(emitter, plan).run();
}
