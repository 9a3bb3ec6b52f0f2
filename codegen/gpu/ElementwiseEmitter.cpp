//===- ElementwiseEmitter.cpp - Grid-stride loops of independent iterations -------------------===//

#include "codegen/gpu/AccessAnalysis.h"
#include "codegen/gpu/LaunchEmitter.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

namespace {

class ElementwiseEmitter {
public:
  ElementwiseEmitter(LaunchEmitter &e, const ElementwisePlan &plan)
      : plan(plan), threads(e.threads), points(e.points), kernel(e.kernel), stored(e.stored()),
        results(e.resultNumbers()), gridThreads(e.launch.grid[0] * e.launch.block[0]),
        blockThreads(e.launch.block[0]) {}

  void run() {
    Value first = threads.add(threads.scale(threads.block(), blockThreads), threads.thread());
    int64_t all = kernel.points(), groups = all / plan.vector.width;
    if (groups <= gridThreads) {
      Value exists = groups % blockThreads != 0 ? threads.less(first, groups) : Value();
      threads.ifThen(exists, [&] { emitPoints(first, plan.vector); });
    } else {
      points.hoist(stored, /*level=*/0);
      threads.unrolledLoop(first, threads.index(groups), gridThreads, plan.unroll, {},
                           [&](ArrayRef<Value> indices, ValueRange) {
                             emitPoints(indices, plan.vector);
                             return ThreadBuilder::Values();
                           });
    }
    // The remainder is smaller than a vector. It only exists if the kernel has a single dimension.
    int64_t rest = all - groups * plan.vector.width;
    if (rest > 0)
      threads.ifThen(threads.less(first, rest), [&] {
        emitPoints(threads.add(first, groups * plan.vector.width), PointVector());
      });
  }

private:
  /// Computes the values of several iterations before the first store, so that loads overlap.
  void emitPoints(ArrayRef<Value> indices, const PointVector &vector) {
    PointEmitter::Scope scope(points);
    PointEmitter::State outside = points.getState();
    SmallVector<PointEmitter::State> states;
    for (Value index : indices) {
      points.setState(outside);
      points.bindPoint(plan.dims, index, vector);
      points.hoist(stored, /*level=*/0);
      states.push_back(points.getState());
    }
    for (const PointEmitter::State &state : states) {
      points.setState(state);
      points.store(results);
    }
  }

  const ElementwisePlan &plan;
  ThreadBuilder &threads;
  GlobalPointEmitter &points;
  const NormalKernel &kernel;
  SmallVector<Value> stored;
  SmallVector<unsigned> results;
  int64_t gridThreads, blockThreads;
};

} // namespace

void mtc::gpu::emitElementwise(LaunchEmitter &emitter, const ElementwisePlan &plan) {
  ElementwiseEmitter(emitter, plan).run();
}
