//===- RefusePlan.cpp - Validation of a kernel's launch plan ----------------------------------===//
//
// Plans made by the planner are valid. A plan that was parsed from text may refer to dimensions
// that do not exist or omit iterations.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/gpu/AccessAnalysis.h"
#include "codegen/gpu/LaunchPlan.h"
#include "codegen/gpu/PartialResults.h"

#include <numeric>

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

static bool isLaunch(const LaunchSize &launch) {
  constexpr int64_t maxThreads = 1024, maxSharedBytes = 48 * 1024,
                    maxGrid = std::numeric_limits<int32_t>::max();
  auto isLine = [](const std::array<int64_t, 3> &extents, int64_t limit) {
    return extents[0] >= 1 && extents[0] <= limit && extents[1] == 1 && extents[2] == 1;
  };
  return isLine(launch.grid, maxGrid) && isLine(launch.block, maxThreads) &&
         launch.sharedBytes <= maxSharedBytes;
}

static bool isVector(const IterationVector &vector, const NormalKernel &kernel, bool exact) {
  if (!vector.dim)
    return vector.width == 1;
  if (*vector.dim >= kernel.rank())
    return false;
  const bool isFixed = fixesSumOrder(kernel) && contains(kernel.reduced, *vector.dim);
  const int64_t maximum =
      isFixed ? fixedVectorWidth(kernel, *vector.dim) : vectorWidth(kernel, *vector.dim, exact);
  return vector.width == 1 || maximum % vector.width == 0;
}

/// Returns whether arrays of these sizes are stored in the scratch buffer in order, without
/// overlap.
static bool lieInScratch(ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes, int64_t scratchBytes) {
  if (offsets.size() != sizes.size())
    return false;
  int64_t end = 0;
  for (auto [offset, size] : llvm::zip_equal(offsets, sizes)) {
    if (offset < end || offset > scratchBytes)
      return false;
    end = offset + size;
  }
  return end <= scratchBytes;
}

static SmallVector<int64_t> partialSizes(const NormalKernel &kernel, ArrayRef<unsigned> results,
                                         int64_t copies) {
  return llvm::map_to_vector(results, [&](unsigned result) {
    return copies * kernel.outputs[result].getNumElements() *
           elementBytes(typeOfPartial(kernel, result));
  });
}

static constexpr const char *wrongDims = "its dims are not the kernel's, each once";
static constexpr const char *wrongVector = "the kernel's accesses do not form these vectors";
static constexpr const char *wrongPartials = "partial results are outside the scratch";

static std::string refuse(const ElementwisePlan &plan, const NormalKernel &kernel, int64_t,
                          int64_t) {
  if (!kernel.isSpace({plan.dims}) || (kernel.lastRow > 0 && plan.dims.back() != 1))
    return wrongDims;
  if (!isVector(plan.vector, kernel, /*exact=*/kernel.rank() > 1) ||
      (plan.vector.dim && plan.dims.back() != *plan.vector.dim))
    return wrongVector;
  return "";
}

static std::string refuse(const TransposePlan &plan, const NormalKernel &kernel, int64_t, int64_t) {
  if (!kernel.isSpace({plan.outerDims, {plan.loadDim}, {plan.storeDim}}) || kernel.lastRow > 0)
    return wrongDims;
  bool valid = llvm::all_of(plan.loads, [&](unsigned number) {
    KernelLoadOp load = kernel.getLoad(number);
    return load && !load.getGuard() && load.getSymbols().empty() &&
           kernel.loads.find(load)->second.stride(plan.loadDim) == 1;
  });
  return valid ? "" : "loads do not run along 'load_dim'";
}

static std::string refuse(const ReductionPlan &plan, const NormalKernel &kernel,
                          int64_t scratchBytes, int64_t warp) {
  // A kernel with column sums only has rows as well, although it reduces none of their dimensions.
  if (!kernel.isSpace({plan.rowDims, plan.reducedDims}) ||
      llvm::any_of(plan.rowDims, [&](unsigned dim) { return contains(kernel.reduced, dim); }))
    return wrongDims;
  if (!isVector(plan.vector, kernel, /*exact=*/true) ||
      (plan.vector.dim &&
       plan.vectorIsReduced != llvm::is_contained(plan.reducedDims, *plan.vector.dim)))
    return wrongVector;
  int64_t rows = iterationsOf(kernel, plan.rowDims), steps = iterationsOf(kernel, plan.reducedDims);
  (plan.vectorIsReduced ? steps : rows) /= plan.vector.width;
  if (plan.rows != rows || plan.steps != steps || plan.splits > steps || plan.chunk > steps ||
      plan.splits * plan.chunk < steps || (kernel.lastRow > 0 && plan.splits > 1))
    return "'rows', 'steps', 'splits' and 'chunk' are not the kernel's";
  if (PartialResults::bytes(kernel, plan) > scratchBytes)
    return wrongPartials;
  if ((plan.groups > 0) != !kernel.columnSums.empty() || plan.groups > plan.rows ||
      plan.rows % plan.keptRows != 0 || plan.groups % plan.keptRows != 0)
    return "'groups' and 'kept_rows' do not match the kernel's column sums";
  if (plan.sumsBlocks &&
      (plan.groups % plan.rowsPerBlock != 0 || plan.keptRows > 1 || !plan.vectorIsReduced ||
       plan.residentSteps == 0 || plan.threads() % warp != 0 ||
       (plan.team < warp ? warp % plan.team : plan.team % warp) != 0))
    return "'sums_blocks' needs sums in registers and whole blocks of groups";
  if (plan.groups > 0 &&
      !lieInScratch(plan.partials, partialSizes(kernel, kernel.columnSums, plan.copies()),
                    scratchBytes))
    return wrongPartials;
  return "";
}

static std::string refuse(const ScatterPlan &plan, const NormalKernel &kernel, int64_t scratchBytes,
                          int64_t) {
  if (!kernel.isSpace({plan.ownedDims, plan.otherDims}) ||
      llvm::any_of(plan.ownedDims, [&](unsigned dim) { return !contains(kernel.owned, dim); }))
    return wrongDims;
  if (!isVector(plan.vector, kernel, /*exact=*/true))
    return wrongVector;
  auto results = llvm::to_vector(llvm::seq<unsigned>(kernel.outputs.size()));
  if (plan.chunks > std::max<int64_t>(1, iterationsOf(kernel, plan.otherDims)))
    return "it has more 'chunks' than points";
  if (plan.chunks > 1 && kernel.addsOnto())
    return "it has 'chunks' of a result that starts as an operand";
  if (plan.chunks > 1 &&
      !lieInScratch(plan.partials, partialSizes(kernel, results, plan.chunks), scratchBytes))
    return wrongPartials;
  return "";
}

template <typename Shape> static bool isShapeOf(const Shape &, const NormalKernel &kernel) {
  if constexpr (std::is_same_v<Shape, ScatterPlan>)
    return kernel.scatters();
  else
    return !kernel.scatters() && std::is_same_v<Shape, ReductionPlan> == !isElementwise(kernel);
}

template <typename Shape>
static size_t countLaunches(const Shape &shape, const NormalKernel &kernel) {
  if constexpr (std::is_same_v<Shape, ScatterPlan>)
    return (kernel.addsOnto() ? 1 : 2) + (shape.chunks > 1);
  if constexpr (std::is_same_v<Shape, ReductionPlan>) {
    size_t rows = shape.splits == 1
                      ? 1
                      : kernel.levels + hasResultsOfIterations(kernel) + hasResultsOfRows(kernel);
    return rows + !kernel.columnSums.empty();
  }
  return 1;
}

std::string mtc::gpu::refusePlan(const LaunchPlan &plan, const NormalKernel &kernel, int64_t warp) {
  auto hasValidShape = [](const auto &shape) { return hasValidNumbers(shape); };
  if (!hasValidNumbers(plan) || !std::visit(hasValidShape, plan.shape) ||
      !llvm::all_of(plan.launches, hasValidNumbers<LaunchSize>))
    return "a number is below its minimum";
  if (!llvm::all_of(plan.launches, isLaunch))
    return "a launch has more threads, blocks or shared memory than a GPU";
  return std::visit(
      [&](const auto &shape) -> std::string {
        if (!isShapeOf(shape, kernel))
          return "the plan is for another kind of kernel";
        if (size_t count = countLaunches(shape, kernel); count != plan.launches.size())
          return "it has " + std::to_string(plan.launches.size()) + " launches, expected " +
                 std::to_string(count);
        return refuse(shape, kernel, plan.scratchBytes, warp);
      },
      plan.shape);
}
