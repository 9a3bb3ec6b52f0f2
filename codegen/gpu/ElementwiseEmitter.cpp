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
      : plan(plan), threads(e.threads), iterations(e.iterations), kernel(e.kernel),
        stored(e.stored()), results(e.resultNumbers()),
        gridThreads(e.launch.grid[0] * e.launch.block[0]), blockThreads(e.launch.block[0]) {}

  void run() {
    Value first = threads.add(threads.scale(threads.block(), blockThreads), threads.thread());
    int64_t all = kernel.iterations(), groups = all / plan.vector.width;
    if (groups <= gridThreads) {
      Value exists = groups % blockThreads != 0 ? threads.less(first, groups) : Value();
      threads.ifThen(exists, [&] { emitIterations(first, plan.vector); });
    } else {
      iterations.hoist(stored, /*level=*/0);
      threads.unrolledLoop(first, threads.index(groups), gridThreads, plan.unroll, {},
                           [&](ArrayRef<Value> indices, ValueRange) {
                             emitIterations(indices, plan.vector);
                             return ThreadBuilder::Values();
                           });
    }
    // The remainder is smaller than a vector, and exists only if the kernel has a single dimension.
    int64_t rest = all - groups * plan.vector.width;
    if (rest > 0)
      threads.ifThen(threads.less(first, rest), [&] {
        emitIterations(threads.add(first, groups * plan.vector.width), IterationVector());
      });
  }

private:
  /// Computes the values of several iterations before the first store, so that loads overlap.
  void emitIterations(ArrayRef<Value> indices, const IterationVector &vector) {
    IterationEmitter::Scope scope(iterations);
    IterationEmitter::State outside = iterations.getState();
    SmallVector<IterationEmitter::State> states;
    for (Value index : indices) {
      iterations.setState(outside);
      iterations.bindIteration(plan.dims, index, vector);
      iterations.hoist(stored, /*level=*/0);
      states.push_back(iterations.getState());
    }
    for (const IterationEmitter::State &state : states) {
      iterations.setState(state);
      iterations.store(results);
    }
  }

  const ElementwisePlan &plan;
  ThreadBuilder &threads;
  GlobalIterationEmitter &iterations;
  const NormalKernel &kernel;
  SmallVector<Value> stored;
  SmallVector<unsigned> results;
  int64_t gridThreads, blockThreads;
};

} // namespace

void mtc::gpu::emitElementwise(LaunchEmitter &emitter, const ElementwisePlan &plan) {
  ElementwiseEmitter(emitter, plan).run();
}
