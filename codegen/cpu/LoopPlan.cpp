//===- LoopPlan.cpp - Mapping of iteration spaces to items, loops and vectors -----------------===//

#include "codegen/cpu/LoopPlan.h"

#include "codegen/cpu/TableLookup.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

namespace {

/// The number of iterations per work item: large enough to amortize the loop over items, and small
/// enough for a launch to have items for many threads.
constexpr int64_t kIterationsPerItem = 4096;
/// The minimum number of iterations for a call on a separate thread.
constexpr int64_t kIterationsPerCall = 16384;
/// The width and height of a tile.
constexpr int64_t kTileLanes = 16;
constexpr size_t kLongestTiledBody = 40;
/// The minimum extent of a vectorized reduced dimension.
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
  /// Returns how well lanes along a dimension access memory: 1 if each access is contiguous or
  /// uniform, less if lanes gather or there are few.
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
      auto load = dyn_cast<KernelLoadOp>(op);
      const ValueRange symbols = load ? ValueRange(load.getSymbols()) : ValueRange();
      if (!form.dependence() && symbols.empty())
        continue; // The element is the same in all iterations, so it does not favor any dimension.
      weigh(form, 1, llvm::any_of(symbols, [&](Value symbol) {
              return contains(kernel.values.lookup(symbol).dims, dim);
            }));
    }
    for (unsigned i = 0; i < kernel.stores.size(); ++i)
      if (contains(kernel.storeDims(i), dim))
        weigh(kernel.stores[i], 2, false);
    // A rank may have few elements of a dimension, which must not change the order of sums.
    const bool isFixed = kernel.hasFixedOrder && !contains(kernel.reduced, dim);
    double filled = isFixed ? 1 : std::min<double>(kernel.space[dim], 16) / 16;
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
      plan.vectorDim = 1; // Full and partial rows then have the same loops.
      return;
    }
    // Lanes along a summed dimension would add to the same element.
    plan.vectorDim = bestDim(kernel.allDims() & ~kernel.reduced & ~kernel.summedDims);
    if (!kernel.reduced || kernel.scatters())
      return;
    unsigned last = kernel.rank() - 1;
    bool rows = contains(kernel.reduced, last) && kernel.space[last] >= kShortestVectorReduction;
    // A rank with one element of all other dimensions adds in the order of ranks with several.
    if (kernel.hasFixedOrder && !plan.vectorDim && !rows)
      return;
    std::optional<unsigned> candidate = rows ? last : bestDim(kernel.reduced);
    // Row reductions are vectorized along the row unless memory is contiguous along another
    // dimension, column reductions only if no other dimension fills the lanes.
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
    if (looksUpBytes())
      lanes = kLanes;
    else if (operations > 60) // Long bodies would spill registers.
      lanes = std::min<int64_t>(lanes, 32);
    if (callsLibrary)
      lanes = 8;
    plan.lanes = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(kernel.space[*plan.vectorDim]));
    if (plan.lanes == 1 && kernel.lastRow == 0)
      plan.vectorDim.reset();
  }

  /// Returns whether permutations of bytes look up a table at kLanes indices. Lanes are not
  /// extended to 64 bits.
  bool looksUpBytes() const {
    return llvm::any_of(kernel.body->getOps<KernelLoadOp>(), [&](KernelLoadOp load) {
      std::optional<SmallTable> table = findSmallTable(load, kernel.loads.find(load)->second);
      return table && isTableOfBytes(*table, kLanes);
    });
  }

  /// Chooses tiles for elementwise kernels with gathers along the lanes that are contiguous along
  /// another dimension.
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
    // The body is emitted once per row of a tile.
    if (llvm::range_size(kernel.body->without_terminator()) > kLongestTiledBody) {
      plan.tileDim.reset();
      plan.tiledLoads.clear();
      return;
    }
    plan.lanes = kTileLanes;
  }

  /// Orders the loops over the dimensions: in the order of the space, with the vector dimension
  /// last in its group.
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
    int64_t iterations = 1;
    for (unsigned dim : llvm::concat<unsigned>(plan.reducedDims, plan.innerDims))
      iterations *= kernel.space[dim];
    if (plan.tileDim)
      iterations *= kTileBlock;
    // Finds the longest suffix of dimensions that fits into an item completely.
    unsigned whole = outer.size();
    while (whole > 0 && iterations * kernel.space[outer[whole - 1]] <= kIterationsPerItem)
      iterations *= kernel.space[outer[--whole]];
    if (whole > 0) {
      unsigned dim = outer[whole - 1];
      int64_t step = dim == plan.vectorDim ? plan.lanes : 1;
      int64_t wanted = std::max<int64_t>(1, kIterationsPerItem / iterations);
      plan.block = llvm::alignTo(std::min(wanted, kernel.space[dim]), step);
      plan.blockDim = dim;
      iterations *= plan.block;
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
    plan.grain = std::max<int64_t>(1, kIterationsPerCall / iterations);
  }

  /// Forms items of rows; the last row is shorter than the others.
  void formItemsOfRows() {
    plan.blockDim = 0;
    plan.block = std::clamp<int64_t>(kIterationsPerItem / kernel.space[1], 1, kernel.space[0]);
    plan.extent = llvm::divideCeil(kernel.space[0], plan.block);
    plan.grain = std::max<int64_t>(1, kIterationsPerCall / (plan.block * kernel.space[1]));
    if (plan.reducedDims.empty())
      plan.innerDims.push_back(1);
  }

  /// Chooses enough items for all threads, but few enough that the partial sums are small relative
  /// to the rows.
  void formItemsOfColumnSums() {
    constexpr int64_t maxItems = 64, rowsPerItem = 32;
    for (unsigned dim : outer)
      if (contains(kernel.summedDims, dim) &&
          (!plan.blockDim || kernel.space[dim] > kernel.space[*plan.blockDim]))
        plan.blockDim = dim;
    int64_t iterations = kernel.iterations();
    if (plan.blockDim) {
      int64_t rows = kernel.space[*plan.blockDim];
      plan.block = llvm::divideCeil(rows, std::clamp<int64_t>(rows / rowsPerItem, 1, maxItems));
      plan.extent = llvm::divideCeil(rows, plan.block);
      llvm::erase(outer, *plan.blockDim);
    }
    plan.innerDims = outer;
    plan.grain = std::max<int64_t>(1, kIterationsPerCall * plan.extent / iterations);
    for (unsigned result : kernel.columnSums) {
      RankedTensorType type = kernel.outputs[result];
      KernelYieldOp yield = kernel.yield;
      int64_t bytes = yield.getValues()[result].getType().getIntOrFloatBitWidth() / 8;
      plan.partials.push_back(plan.scratchBytes);
      plan.scratchBytes += paddedBytes(plan.extent * type.getNumElements() * bytes);
      plan.sumExtent += llvm::divideCeil(type.getNumElements(), kSumBlock);
    }
    plan.sumGrain = std::max<int64_t>(1, kIterationsPerCall / (plan.extent * kSumBlock));
  }

  const NormalKernel &kernel;
  LoopPlan plan;
  SmallVector<unsigned> outer;
};

} // namespace

LoopPlan mtc::cpu::planLoops(const NormalKernel &kernel) { return Planner(kernel).run(); }
