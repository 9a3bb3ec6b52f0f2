//===- KernelEmitter.cpp - Kernels as functions over a range of work items --------------------===//
//
// One loop nest serves all shapes of kernels:
// - Elementwise: work items, inner loops, lanes, stores.
// - Reductions: each iteration of the parallel dimensions has one loop over the reduced dimensions
//   per reduction level, with accumulators as loop-carried values. A further loop stores the
//   results that vary along the reduced dimensions. The other stores follow. Lanes are along a
//   reduced dimension (row reduction, where the lanes' accumulators are combined at the end) or
//   along a parallel one (column reduction).
// - Scatter: an item zeroes its owned part of the results, then adds one iteration after the other.
// - Column sums: an item accumulates them in its part of the scratch buffer, and a second stage
//   adds up the items (ColumnSums.h).
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/cpu/KernelEmitter.h"

#include "codegen/cpu/ColumnSums.h"
#include "codegen/cpu/FiniteRows.h"
#include "codegen/cpu/KeptValues.h"
#include "codegen/cpu/ReductionEmitter.h"
#include "codegen/cpu/VectorIterationEmitter.h"
#include "codegen/kernels/Reductions.h"
#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

namespace {

class KernelEmitter {
public:
  KernelEmitter(const NormalKernel &kernel, const LoopPlan &plan, ImplicitLocOpBuilder &b,
                VectorIterationEmitter &emitter, Value scratch)
      : kernel(kernel), plan(plan), b(b), emitter(emitter), scratch(scratch), kept(kernel, plan),
        reductions(kernel, plan, b, emitter, kept) {
    if (plan.vectorIsReduced(kernel))
      finite = findFiniteRows(kernel);
  }

  void run(Value begin, Value end) {
    KernelYieldOp yield = kernel.yield;
    for (unsigned i = 0; i < kernel.outputs.size(); ++i) {
      bool varies = (kernel.storeDims(i) & kernel.reduced) != 0;
      (varies || kernel.scatters() ? iterationResults : rowResults).push_back(i);
    }
    kept.allocate(b);
    stored.assign(yield.getValues().begin(), yield.getValues().end());
    stored.append(yield.getSymbols().begin(), yield.getSymbols().end());
    loop(begin, end, 1, [&](Value item) {
      if (!kernel.columnSums.empty())
        clearPartials(item);
      emitItem(item);
    });
  }

private:
  using Body = llvm::function_ref<void(Value)>;

  /// Emits for (i = low; i < high; i += step), with the body in its own scope.
  void loop(Value low, Value high, int64_t step, Body body) {
    auto forOp = scf::ForOp::create(b, low, high, emitter.index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forOp.getBody());
    IterationEmitter::Scope scope(emitter);
    body(forOp.getInductionVar());
  }

  void emitItem(Value item) {
    // The block's index is the fastest digit of the item's index.
    Value rest = item, blockIndex;
    auto takeDigit = [&](int64_t extent, bool last) {
      Value digit = rest;
      if (!last) {
        digit = arith::RemUIOp::create(b, rest, emitter.index(extent));
        rest = arith::DivUIOp::create(b, rest, emitter.index(extent));
      }
      return digit;
    };
    if (plan.blockDim) {
      int64_t blocks = llvm::divideCeil(kernel.space[*plan.blockDim], plan.block);
      blockIndex = takeDigit(blocks, plan.itemDims.empty());
    }
    for (unsigned i = plan.itemDims.size(); i-- > 0;) {
      unsigned dim = plan.itemDims[i];
      if (dim == plan.tileDim)
        bindTileBlock(takeDigit(llvm::divideCeil(kernel.space[dim], kTileBlock), i == 0));
      else
        emitter.bindDim(dim, takeDigit(kernel.space[dim], i == 0));
    }
    if (!plan.blockDim)
      return emitIterations();
    int64_t extent = kernel.space[*plan.blockDim];
    Value low = arith::MulIOp::create(b, blockIndex, emitter.index(plan.block));
    Value high = arith::AddIOp::create(b, low, emitter.index(plan.block));
    if (extent % plan.block != 0)
      high = arith::MinSIOp::create(b, high, emitter.index(extent));
    if (kernel.lastRow > 0)
      return emitRows(low, high);
    emitDim(*plan.blockDim, low, high, [&] { emitIterations(); });
  }

  /// Emits the rows of a block; the last row of the space is shorter than the others.
  void emitRows(Value low, Value high) {
    emitter.hoist(stored, /*level=*/0);
    Value last = emitter.index(kernel.space[0] - 1);
    loop(low, arith::MinSIOp::create(b, high, last), 1, [&](Value row) {
      emitter.bindDim(0, row);
      emitIterations();
    });
    Value hasLast = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, high, last);
    auto branch = scf::IfOp::create(b, hasLast, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenYield());
    IterationEmitter::Scope scope(emitter);
    emitter.bindDim(0, last);
    rowExtent = kernel.lastRow;
    emitIterations();
    rowExtent.reset();
  }

  int64_t extentOf(unsigned dim) const {
    return dim == 1 && rowExtent ? *rowExtent : kernel.space[dim];
  }

  /// Binds a dimension to each index of low..high-1 in turn, or to lanes if it is the vector
  /// dimension.
  void emitDim(unsigned dim, Value low, Value high, llvm::function_ref<void()> body) {
    if (dim != plan.vectorDim) {
      emitter.hoist(stored, /*level=*/0);
      return loop(low, high, 1, [&](Value i) {
        emitter.bindDim(dim, i);
        body();
      });
    }
    int64_t extent = extentOf(dim), full = extent / plan.lanes * plan.lanes;
    if (full > 0) {
      emitter.hoist(stored, /*level=*/0);
      Value fullEnd = full == extent ? high : arith::MinSIOp::create(b, high, emitter.index(full));
      loop(low, fullEnd, plan.lanes, [&](Value i) {
        emitter.bindLanes(dim, i, plan.lanes, plan.lanes);
        body();
      });
    }
    if (full == extent)
      return;
    // The partial vector belongs to the block at the end of the dimension.
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, high, emitter.index(extent));
    auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenYield());
    IterationEmitter::Scope scope(emitter);
    int64_t lanes = plan.tileDim ? plan.lanes : llvm::PowerOf2Ceil(extent - full);
    emitter.bindLanes(dim, emitter.index(full), lanes, extent - full);
    body();
  }

  void emitWhole(unsigned dim, llvm::function_ref<void()> body) {
    emitDim(dim, emitter.index(0), emitter.index(extentOf(dim)), body);
  }

  void emitDims(ArrayRef<unsigned> dims, llvm::function_ref<void()> body) {
    if (dims.empty())
      return body();
    emitWhole(dims.front(), [&] { emitDims(dims.drop_front(), body); });
  }

  void emitIterations() {
    if (kernel.scatters() && !kernel.addsOnto())
      for (unsigned result : iterationResults)
        emitZeros(result);
    emitDims(plan.innerDims, [&] { emitIteration(); });
  }

  /// Emits one iteration of the parallel dimensions: the reductions level by level, then the
  /// stores.
  void emitIteration() {
    if (plan.tileDim)
      return emitTiles();
    if (finite)
      return emitFiniteIteration();
    emitFromLevel(1);
  }

  /// Emits level 1 as if all elements were finite. If its maxima are finite, the other levels need
  /// no checks, either; otherwise all levels are computed with checks.
  void emitFiniteIteration() {
    const IterationEmitter::State checked = emitter.getState();
    IterationEmitter::Scope scope(emitter);
    emitter.define(finite->condition, arith::ConstantOp::create(b, b.getBoolAttr(true)));
    reductions.emitLevel(1, rowExtent);
    constexpr int32_t infinity = 0x7f800000;
    Value bound = arith::ConstantOp::create(b, b.getI32IntegerAttr(infinity)), all;
    for (KernelReduceOp reduce : finite->maxima) {
      Value isFinite = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                             emitter.get(reduce.getResult()), bound);
      all = all ? arith::AndIOp::create(b, all, isFinite).getResult() : isFinite;
    }
    auto branch = scf::IfOp::create(b, all, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    {
      IterationEmitter::Scope inBranch(emitter);
      b.setInsertionPoint(branch.thenYield());
      emitFromLevel(2);
    }
    emitter.setState(checked);
    b.setInsertionPoint(branch.elseYield());
    emitFromLevel(1);
  }

  /// Emits the reductions from a level on, then the stores.
  void emitFromLevel(unsigned first) {
    for (unsigned level = first; level <= kernel.levels; ++level)
      reductions.emitLevel(level, rowExtent);
    if (!iterationResults.empty()) {
      emitter.hoist(stored, kernel.levels);
      emitDims(plan.reducedDims, [&] {
        kept.load(b, emitter);
        emitter.store(iterationResults);
      });
    }
    if (!rowResults.empty())
      emitter.store(rowResults);
  }

  //===----------------------------------------------------------------------------------------===//
  // Column sums
  //===----------------------------------------------------------------------------------------===//

  /// Zeroes the item's partial sums.
  void clearPartials(Value item) {
    Value zero = arith::ConstantOp::create(b, b.getI8IntegerAttr(0));
    for (auto [result, offset] : llvm::zip_equal(kernel.columnSums, plan.partials)) {
      int64_t bytes = kernel.outputs[result].getNumElements() * bytesOfPartial(kernel, result);
      Value partial = partialAt(arith::AddIOp::create(
          b, emitter.index(offset), arith::MulIOp::create(b, item, emitter.index(bytes))));
      LLVM::MemsetOp::create(b, partial, zero, emitter.index(bytes), /*isVolatile=*/false);
      emitter.addUpAt(result, partial);
    }
  }

  Value partialAt(Value bytes) {
    return LLVM::GEPOp::create(b, scratch.getType(), b.getI8Type(), scratch, bytes);
  }

  //===----------------------------------------------------------------------------------------===//
  // Transposed tiles
  //===----------------------------------------------------------------------------------------===//

  void bindTileBlock(Value block) {
    int64_t extent = kernel.space[*plan.tileDim];
    tileLow = arith::MulIOp::create(b, block, emitter.index(kTileBlock));
    tileHigh = arith::AddIOp::create(b, tileLow, emitter.index(kTileBlock));
    if (extent % kTileBlock != 0)
      tileHigh = arith::MinSIOp::create(b, tileHigh, emitter.index(extent));
  }

  /// Emits the item's indices of the tiled dimension, for the bound lanes.
  void emitTiles() {
    int64_t extent = kernel.space[*plan.tileDim], full = extent / plan.lanes * plan.lanes;
    Value fullEnd =
        full == extent ? tileHigh : arith::MinSIOp::create(b, tileHigh, emitter.index(full));
    loop(tileLow, fullEnd, plan.lanes, [&](Value row) { emitTile(row, plan.lanes); });
    if (full == extent)
      return;
    Value isLast =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, tileHigh, emitter.index(extent));
    auto branch = scf::IfOp::create(b, isLast, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenYield());
    emitTile(emitter.index(full), extent - full);
  }

  void emitTile(Value row, int64_t rows) {
    SmallVector<SmallVector<Value>> tiles;
    {
      IterationEmitter::Scope scope(emitter);
      emitter.bindDim(*plan.tileDim, row);
      for (unsigned load : plan.tiledLoads)
        tiles.push_back(emitter.loadTransposed(kernel.getLoad(load), rows));
    }
    for (int64_t i = 0; i < rows; ++i) {
      IterationEmitter::Scope scope(emitter);
      emitter.bindDim(*plan.tileDim, arith::AddIOp::create(b, row, emitter.index(i)));
      for (auto [load, tile] : llvm::zip_equal(plan.tiledLoads, tiles))
        emitter.define(kernel.getLoad(load).getValue(), tile[i]);
      emitter.store(rowResults);
    }
  }

  //===----------------------------------------------------------------------------------------===//
  // Scatter
  //===----------------------------------------------------------------------------------------===//

  /// Zeroes the item's owned part of a result: its indices of the owned dimensions, and all indices
  /// of the other axes.
  void emitZeros(unsigned result) {
    SmallVector<unsigned> dims;
    for (unsigned dim : plan.innerDims)
      if (contains(kernel.owned, dim))
        dims.push_back(dim);
    emitDims(dims, [&] {
      SmallVector<std::pair<int64_t, int64_t>> axes = kernel.freeAxes[result];
      int64_t contiguous = 1;
      if (!emitter.hasLanes())
        for (; !axes.empty() && axes.back().second == contiguous; axes.pop_back())
          contiguous *= axes.back().first;
      emitZerosAlong(result, axes, emitter.index(0), contiguous);
    });
  }

  void emitZerosAlong(unsigned result, ArrayRef<std::pair<int64_t, int64_t>> axes, Value offset,
                      int64_t contiguous) {
    if (axes.empty())
      return emitter.storeZeros(result, offset, contiguous);
    auto [extent, stride] = axes.front();
    loop(emitter.index(0), emitter.index(extent), 1, [&](Value i) {
      Value term = arith::MulIOp::create(b, i, emitter.index(stride));
      emitZerosAlong(result, axes.drop_front(), arith::AddIOp::create(b, offset, term), contiguous);
    });
  }

  const NormalKernel &kernel;
  const LoopPlan &plan;
  ImplicitLocOpBuilder &b;
  VectorIterationEmitter &emitter;
  Value scratch;
  KeptValues kept;
  ReductionEmitter reductions;
  std::optional<FiniteRows> finite;
  SmallVector<unsigned> iterationResults, rowResults;
  SmallVector<Value> stored;
  Value tileLow, tileHigh;
  std::optional<int64_t> rowExtent; ///< of the last row, if it is shorter
};

} // namespace

void mtc::cpu::emitKernel(const NormalKernel &kernel, const LoopPlan &plan, StringRef symbol,
                          ModuleOp module, TablePermutations permutations) {
  ImplicitLocOpBuilder b(kernel.body->getParentOp()->getLoc(), module.getContext());
  StageFunction stage = beginStage(b, kernel, symbol, module);
  VectorIterationEmitter emitter(b, kernel, stage.operands, stage.fault, permutations);
  emitter.prepareTables(plan.lanes);
  KernelEmitter(kernel, plan, b, emitter, stage.scratch).run(stage.begin, stage.end);
  LLVM::ReturnOp::create(b, ValueRange());
  if (!kernel.columnSums.empty())
    emitColumnSums(kernel, plan, columnSumsSymbol(symbol), module);
}
