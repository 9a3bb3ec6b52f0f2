//===- TransposeEmitter.cpp - Transposing elementwise kernels ---------------------------------===//
//
// A block loads a tile along the dimension in which loads are contiguous, and computes and stores
// it along the other. Rows of the tile in shared memory are padded by one element, so that neither
// row nor column accesses have bank conflicts.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/gpu/LaunchEmitter.h"
#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

namespace {

class TransposeEmitter {
public:
  TransposeEmitter(LaunchEmitter &e, const TransposePlan &plan)
      : plan(plan), kernel(e.kernel), b(e.b), threads(e.threads), iterations(e.iterations),
        stored(e.stored()), results(e.resultNumbers()),
        loads(llvm::map_to_vector(plan.loads, [&](unsigned i) { return kernel.getLoad(i); })) {}

  void run() {
    Value thread = threads.thread(), block = threads.block();
    column = threads.remainder(thread, kTile);
    row = threads.divide(thread, kTile);
    auto takeTile = [&](unsigned dim) {
      int64_t tiles = llvm::divideCeil(kernel.space[dim], kTile);
      Value tile = threads.remainder(block, tiles);
      block = threads.divide(block, tiles);
      return threads.scale(tile, kTile);
    };
    firstStore = takeTile(plan.storeDim);
    firstLoad = takeTile(plan.loadDim);
    iterations.bindIteration(plan.outerDims, block, IterationVector());
    iterations.hoist(stored, /*level=*/0);
    loadSquares();
    threads.barrier();
    storeSquares();
  }

private:
  static constexpr int64_t kPitch = kTile + 1;

  Type storageOf(KernelLoadOp load) { return getStorageType(load.getValue().getType()); }

  /// Returns the thread's k-th row of the tile.
  Value rowAt(int64_t k) { return threads.add(row, k * kTileRows); }

  /// Binds a dimension to first + offset. Returns whether the index is below the extent; null if it
  /// always is.
  Value bind(unsigned dim, Value first, Value offset) {
    Value index = threads.add(first, offset);
    iterations.bindDim(dim, index);
    int64_t extent = kernel.space[dim];
    return extent % kTile != 0 ? threads.less(index, extent) : Value();
  }

  void loadSquares() {
    for (KernelLoadOp load : loads)
      squares.push_back(threads.allocateShared(storageOf(load), kTile * kPitch));
    SmallVector<SmallVector<Value>> rows(kTile / kTileRows);
    for (auto [k, loaded] : llvm::enumerate(rows)) {
      IterationEmitter::Scope scope(iterations);
      Value inColumn = bind(plan.loadDim, firstLoad, column);
      iterations.bindExists(threads.both(inColumn, bind(plan.storeDim, firstStore, rowAt(k))));
      for (KernelLoadOp load : loads)
        loaded.push_back(iterations.get(load.getValue()));
    }
    for (auto [k, loaded] : llvm::enumerate(rows)) {
      Value place = threads.add(threads.scale(rowAt(k), kPitch), column);
      for (auto [square, value] : llvm::zip_equal(squares, loaded)) {
        Value bits = toStorage(b, value, value.getType());
        LLVM::StoreOp::create(b, bits, threads.elementAt(square, bits.getType(), place));
      }
    }
  }

  void storeSquares() {
    SmallVector<std::pair<IterationEmitter::State, Value>> rows;
    for (int64_t k = 0; k < kTile / kTileRows; ++k) {
      IterationEmitter::Scope scope(iterations);
      Value exists = threads.both(bind(plan.storeDim, firstStore, column),
                                  bind(plan.loadDim, firstLoad, rowAt(k)));
      iterations.bindExists(exists);
      Value place = threads.add(threads.scale(column, kPitch), rowAt(k));
      for (auto [load, square] : llvm::zip_equal(loads, squares)) {
        Type type = KernelLoadOp(load).getValue().getType();
        Value bits = LLVM::LoadOp::create(b, storageOf(load),
                                          threads.elementAt(square, storageOf(load), place));
        iterations.define(KernelLoadOp(load).getValue(), fromStorage(b, bits, type));
      }
      iterations.hoist(stored, /*level=*/0);
      rows.push_back({iterations.getState(), exists});
    }
    for (auto &[state, exists] : rows) {
      IterationEmitter::Scope scope(iterations);
      iterations.setState(state);
      threads.ifThen(exists, [&] { iterations.store(results); });
    }
  }

  const TransposePlan &plan;
  const NormalKernel &kernel;
  ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  GlobalIterationEmitter &iterations;
  SmallVector<Value> stored;
  SmallVector<unsigned> results;
  SmallVector<KernelLoadOp> loads;
  SmallVector<Value> squares;
  Value row, column, firstLoad, firstStore;
};

} // namespace

void mtc::gpu::emitTranspose(LaunchEmitter &emitter, const TransposePlan &plan) {
  TransposeEmitter(emitter, plan).run();
}
