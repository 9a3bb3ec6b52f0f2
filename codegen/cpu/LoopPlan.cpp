//===- LoopPlan.cpp - How a kernel's space becomes items, loops and vectors -------------------===//

#include "codegen/cpu/LoopPlan.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

namespace {

/// Points in an item: enough that the loop over items costs nothing, few enough that a launch has
/// items for many threads.
constexpr int64_t kPointsPerItem = 4096;
/// Points that are worth a call on a thread of its own.
constexpr int64_t kPointsPerCall = 16384;
/// Lanes of a vector of 32-bit elements: four registers of 512 bits hide the latency of arithmetic.
constexpr int64_t kLanes = 64;
/// A tile is this many lanes by as many rows.
constexpr int64_t kTileLanes = 16;
constexpr size_t kLongestTiledBody = 40;
/// A reduced dim shorter than this is not worth a vector.
constexpr int64_t kShortestVectorReduction = 8;

class Planner {
public:
  explicit Planner(const NormalKernel &kernel) : kernel(kernel) {}

  LoopPlan run() {
    chooseVectorDim();
    chooseLanes();
    chooseTile();
    orderDims();
    if (kernel.columnSums.empty())
      formItems();
    else
      formItemsOfColumnSums();
    return plan;
  }

private:
  /// How well lanes along a dim access memory: 1 if each access is contiguous or the same for all
  /// lanes, less where lanes gather or are too few.
  double vectorScore(unsigned dim) {
    double sum = 0, count = 0;
    auto weigh = [&](const LinearForm &form, double weight, bool irregular) {
      std::optional<int64_t> stride = form.stride(dim);
      count += weight;
      if (stride && !irregular && (*stride == 1 || *stride == 0))
        sum += weight;
      else
        sum += weight / 8;
    };
    for (const auto &[op, form] : kernel.loads) {
      OperandRange symbols = cast<KernelLoadOp>(op).getSymbols();
      if (!form.dependence() && symbols.empty())
        continue; // The same element at every point: it says nothing of a dim.
      weigh(form, 1, llvm::any_of(symbols, [&](Value symbol) {
              return contains(kernel.values.lookup(symbol).dims, dim);
            }));
    }
    for (unsigned i = 0; i < kernel.stores.size(); ++i)
      if (contains(kernel.storeDims(i), dim))
        weigh(kernel.stores[i], 2, false);
    double filled = std::min<double>(kernel.space[dim], 16) / 16;
    return (count == 0 ? 1 : sum / count) * filled;
  }

  std::optional<unsigned> bestDim(DimSet among) {
    std::optional<unsigned> best;
    double bestScore = 0;
    for (unsigned dim = 0; dim < kernel.rank(); ++dim) {
      if (!contains(among, dim))
        continue;
      double score = vectorScore(dim);
      if (score >= bestScore) {
        best = dim;
        bestScore = score;
      }
    }
    return best;
  }

  void chooseVectorDim() {
    if (kernel.lastRow > 0) {
      plan.vectorDim = 1; // So that a row has the same loops whether it is whole or not.
      return;
    }
    // Lanes along a dim that is summed over would meet at one place.
    plan.vectorDim = bestDim(kernel.allDims() & ~kernel.reduced & ~kernel.summedDims);
    if (!kernel.reduced || kernel.scatters())
      return;
    unsigned last = kernel.rank() - 1;
    bool rows = contains(kernel.reduced, last) && kernel.space[last] >= kShortestVectorReduction;
    std::optional<unsigned> candidate = rows ? last : bestDim(kernel.reduced);
    // Rows are reduced in lanes unless memory runs along another dim; others only if nothing else
    // fills lanes.
    double gain = vectorScore(*candidate) * (rows ? 2 : 0.5);
    if (!plan.vectorDim || gain >= vectorScore(*plan.vectorDim))
      plan.vectorDim = candidate;
  }

  void chooseLanes() {
    if (!plan.vectorDim)
      return;
    unsigned widest = 32, operations = 0;
    bool callsLibrary = false;
    for (Operation &op : kernel.body->without_terminator()) {
      for (Type type : op.getResultTypes()) {
        if (!contains(kernel.values.lookup(op.getResult(0)).dims, *plan.vectorDim))
          continue;
        widest = std::max(widest, type.getIntOrFloatBitWidth());
        ++operations;
        callsLibrary |= isa<math::MathDialect>(op.getDialect()) && type.isF64();
      }
    }
    int64_t lanes = kLanes * 32 / widest;
    // Long bodies would spill registers.
    if (operations > 60)
      lanes = std::min<int64_t>(lanes, 32);
    if (callsLibrary)
      lanes = 8;
    plan.lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(kernel.space[*plan.vectorDim]));
    if (plan.lanes == 1 && kernel.lastRow == 0)
      plan.vectorDim.reset();
  }

  /// Elementwise kernels that would gather along the lanes what lies along another dim.
  void chooseTile() {
    if (!plan.vectorDim || kernel.reduced || kernel.scatters() || kernel.summedDims ||
        kernel.lastRow > 0 || kernel.space[*plan.vectorDim] < kTileLanes)
      return;
    for (auto [number, load] : llvm::enumerate(kernel.body->getOps<KernelLoadOp>())) {
      const LinearForm &form = kernel.loads.find(load)->second;
      std::optional<int64_t> stride = form.stride(*plan.vectorDim);
      if (!stride || *stride == 0 || *stride == 1 || load.getGuard() || !load.getSymbols().empty())
        continue;
      for (unsigned dim = 0; dim < kernel.rank(); ++dim)
        if (form.stride(dim) == 1 && kernel.space[dim] >= kTileLanes &&
            (!plan.tileDim || plan.tileDim == dim)) {
          plan.tileDim = dim;
          plan.tiledLoads.push_back(number);
        }
    }
    if (!plan.tileDim)
      return;
    // The body is written out for each row of a tile.
    if (llvm::range_size(kernel.body->without_terminator()) > kLongestTiledBody) {
      plan.tileDim.reset();
      plan.tiledLoads.clear();
      return;
    }
    plan.lanes = kTileLanes;
  }

  /// The dims in the order of loops: as in the space, the vector dim last in its group.
  void orderDims() {
    for (unsigned dim = 0; dim < kernel.rank(); ++dim) {
      if (dim == plan.vectorDim || dim == plan.tileDim)
        continue;
      if (contains(kernel.reduced, dim))
        plan.reducedDims.push_back(dim);
      else if (kernel.scatters() && !contains(kernel.owned, dim))
        plan.innerDims.push_back(dim);
      else
        outer.push_back(dim);
    }
    if (!plan.vectorDim)
      return;
    if (contains(kernel.reduced, *plan.vectorDim))
      plan.reducedDims.push_back(*plan.vectorDim);
    else if (kernel.scatters() && !contains(kernel.owned, *plan.vectorDim))
      plan.innerDims.push_back(*plan.vectorDim);
    else
      outer.push_back(*plan.vectorDim);
  }

  void formItems() {
    if (kernel.lastRow > 0)
      return formItemsOfRows();
    int64_t points = 1;
    for (unsigned dim : llvm::concat<unsigned>(plan.reducedDims, plan.innerDims))
      points *= kernel.space[dim];
    if (plan.tileDim)
      points *= kTileBlock;
    // The longest tail of dims that an item can run through as a whole.
    unsigned whole = outer.size();
    while (whole > 0 && points * kernel.space[outer[whole - 1]] <= kPointsPerItem)
      points *= kernel.space[outer[--whole]];
    if (whole > 0) {
      unsigned dim = outer[whole - 1];
      int64_t step = dim == plan.vectorDim ? plan.lanes : 1;
      int64_t wanted = std::max<int64_t>(1, kPointsPerItem / points);
      plan.block = llvm::alignTo(std::min(wanted, kernel.space[dim]), step);
      plan.blockDim = dim;
      points *= plan.block;
      plan.extent = llvm::divideCeil(kernel.space[dim], plan.block);
      plan.itemDims.assign(outer.begin(), outer.begin() + (whole - 1));
      for (unsigned itemDim : plan.itemDims)
        plan.extent *= kernel.space[itemDim];
    }
    plan.innerDims.insert(plan.innerDims.begin(), outer.begin() + whole, outer.end());
    if (plan.tileDim) {
      plan.itemDims.push_back(*plan.tileDim);
      plan.extent *= llvm::divideCeil(kernel.space[*plan.tileDim], kTileBlock);
    }
    plan.grain = std::max<int64_t>(1, kPointsPerCall / points);
  }

  /// Items of rows, of which the last is not whole.
  void formItemsOfRows() {
    plan.blockDim = 0;
    plan.block = std::clamp<int64_t>(kPointsPerItem / kernel.space[1], 1, kernel.space[0]);
    plan.extent = llvm::divideCeil(kernel.space[0], plan.block);
    plan.grain = std::max<int64_t>(1, kPointsPerCall / (plan.block * kernel.space[1]));
    if (plan.reducedDims.empty())
      plan.innerDims.push_back(1);
  }

  /// Few enough items that their partial sums are little beside the rows, and enough for threads.
  void formItemsOfColumnSums() {
    constexpr int64_t maxItems = 64, rowsPerItem = 32;
    for (unsigned dim : outer)
      if (contains(kernel.summedDims, dim) &&
          (!plan.blockDim || kernel.space[dim] > kernel.space[*plan.blockDim]))
        plan.blockDim = dim;
    int64_t points = kernel.points();
    if (plan.blockDim) {
      int64_t rows = kernel.space[*plan.blockDim];
      plan.block = llvm::divideCeil(rows, std::clamp<int64_t>(rows / rowsPerItem, 1, maxItems));
      plan.extent = llvm::divideCeil(rows, plan.block);
      llvm::erase(outer, *plan.blockDim);
    }
    plan.innerDims = outer;
    plan.grain = std::max<int64_t>(1, kPointsPerCall * plan.extent / points);
    for (unsigned result : kernel.columnSums) {
      RankedTensorType type = kernel.outputs[result];
      KernelYieldOp yield = kernel.yield;
      int64_t bytes = yield.getValues()[result].getType().getIntOrFloatBitWidth() / 8;
      plan.partials.push_back(plan.scratchBytes);
      plan.scratchBytes += paddedBytes(plan.extent * type.getNumElements() * bytes);
      plan.sumExtent += llvm::divideCeil(type.getNumElements(), kSumBlock);
    }
    plan.sumGrain = std::max<int64_t>(1, kPointsPerCall / (plan.extent * kSumBlock));
  }

  const NormalKernel &kernel;
  LoopPlan plan;
  SmallVector<unsigned> outer;
};

} // namespace

LoopPlan mtc::cpu::planLoops(const NormalKernel &kernel) { return Planner(kernel).run(); }
