//===- LaunchPlan.h - Mapping of iteration spaces to grids and blocks -------------------------===//
//
// A plan depends on the kernel only, not on the device, so results do not depend on the device.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_GPU_LAUNCHPLAN_H
#define MTC_CODEGEN_GPU_LAUNCHPLAN_H

#include "codegen/kernels/KernelAnalysis.h"
#include "codegen/target/PlanFields.h"

#include <array>
#include <string>
#include <variant>

namespace mtc::gpu {

/// The grid, block and shared memory of a launch.
struct LaunchSize {
  std::array<int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  /// Static shared memory per block. Launches request no dynamic shared memory.
  int64_t sharedBytes = 0;

  template <typename Visitor> static constexpr void visitFields(Visitor &&field) {
    field("grid", &LaunchSize::grid);
    field("block", &LaunchSize::block);
    field("shared", &LaunchSize::sharedBytes);
  }
  bool operator==(const LaunchSize &) const = default;
};
struct Launch : LaunchSize {
  std::string symbol;
};

/// Describes a linear index over a list of dimensions, the last one fastest. If `dim` is set and is
/// in the list, it is the last dimension, and the index counts groups of `width` of its indices.
struct IterationVector {
  std::optional<unsigned> dim;
  int64_t width = 1;

  template <typename Visitor> static constexpr void visitFields(Visitor &&field) {
    field("dim", &IterationVector::dim);
    field("width", &IterationVector::width);
  }
  bool operator==(const IterationVector &) const = default;
};

/// A thread computes `unroll` vectors of iterations at a time, with all loads before the first
/// store.
struct ElementwisePlan {
  IterationVector vector;
  llvm::SmallVector<unsigned> dims;
  int64_t unroll = 1;

  static constexpr llvm::StringLiteral keyword = "elementwise";
  template <typename Visitor> static constexpr void visitFields(Visitor &&field) {
    field("vector", &ElementwisePlan::vector);
    field("dims", &ElementwisePlan::dims);
    field("unroll", &ElementwisePlan::unroll);
  }
  bool operator==(const ElementwisePlan &) const = default;
};

/// Rows are the iterations of the dimensions that are not reduced. A team of threads shares a row,
/// or a vector of adjacent rows. Each member combines its values in order, then the team combines
/// the members' values in a fixed tree. If there are few rows, `splits` blocks share a row, one
/// chunk each: the launch of each reduction level stores partial results in scratch memory, and the
/// next launch starts from them.
struct ReductionPlan {
  IterationVector vector;
  bool vectorIsReduced = false;
  llvm::SmallVector<unsigned> rowDims, reducedDims;
  int64_t team = 1;
  /// Rows, or vectors of rows, per block.
  int64_t rowsPerBlock = 1;
  int64_t splits = 1;
  /// Reduced iterations, or vectors of them, per split.
  int64_t chunk = 1;
  /// The number of vectors per team member if its part of a row fits in registers across reduction
  /// levels. Otherwise the number is 0, and each level reloads the row.
  int64_t residentSteps = 0;
  /// Vectors that a member loads before it combines them.
  int64_t unroll = 1;
  int64_t rows = 1, steps = 1; ///< total number, where a vector counts as one
  /// The number of groups of rows, or 0 for kernels without column sums. A team computes the rows
  /// of a group, which are `shares` apart, sequentially and stores the column sums in scratch
  /// memory. Column sum i is an array [copies, elements of the result] at byte `partials[i]`. A
  /// final launch adds up the copies.
  int64_t groups = 0;
  llvm::SmallVector<int64_t> partials;

  /// The extent of the leading row dimensions that no column sum reduces. A group contains rows of
  /// one index of these dimensions only; its sums are one of `copies` partial sums.
  int64_t keptRows = 1;
  /// Whether the teams of a block add up their column sums and store one copy.
  bool sumsBlocks = false;

  static constexpr llvm::StringLiteral keyword = "reduction";
  template <typename Visitor> static constexpr void visitFields(Visitor &&field) {
    field("vector", &ReductionPlan::vector);
    field("along_rows", &ReductionPlan::vectorIsReduced);
    field("row_dims", &ReductionPlan::rowDims);
    field("reduced_dims", &ReductionPlan::reducedDims);
    field("team", &ReductionPlan::team);
    field("rows_per_block", &ReductionPlan::rowsPerBlock);
    field("splits", &ReductionPlan::splits);
    field("chunk", &ReductionPlan::chunk);
    field("resident_steps", &ReductionPlan::residentSteps);
    field("unroll", &ReductionPlan::unroll);
    field("rows", &ReductionPlan::rows);
    field("steps", &ReductionPlan::steps);
    field("groups", &ReductionPlan::groups);
    field("partials", &ReductionPlan::partials);
    field("kept_rows", &ReductionPlan::keptRows);
    field("sums_blocks", &ReductionPlan::sumsBlocks);
  }
  bool operator==(const ReductionPlan &) const = default;

  /// Returns the number of groups that divide the rows of one index of the kept dimensions.
  int64_t shares() const { return groups / keptRows; }
  /// Returns the number of partial sums of each column sum.
  int64_t copies() const { return sumsBlocks ? groups / rowsPerBlock : shares(); }
  /// Returns whether adjacent groups are of adjacent indices of the leading row dimensions, rather
  /// than of adjacent copies: teams of one thread then access adjacent columns.
  bool keptRowsAreNeighbours() const { return keptRows > 1 && team == 1; }
  int64_t rowsPerGroup() const { return (rows / keptRows + shares() - 1) / shares(); }
  /// Returns the number of teams in a launch.
  int64_t teams() const { return groups > 0 ? groups : rows; }
  /// Returns whether the members of a team are adjacent threads. Otherwise, threads with the same
  /// member index in different teams are adjacent.
  bool membersAreNeighbours() const { return vectorIsReduced; }
  int64_t threads() const { return team * rowsPerBlock; }
  /// Returns the number of lanes of a row value that depends on these dimensions: one for each row
  /// of a vector.
  int64_t lanesOf(DimSet dims) const {
    return !vectorIsReduced && vector.dim && contains(dims, *vector.dim) ? vector.width : 1;
  }
};

/// Each result element is the sum of the values scattered to it, in the order of the dimensions
/// that are not owned. A thread computes a vector of owned iterations exclusively.
struct ScatterPlan {
  IterationVector vector;
  llvm::SmallVector<unsigned> ownedDims, otherDims;
  /// Whether the scatter index is uniform over the owned dimensions. If this is true, blocks divide
  /// the indices among themselves, and each block searches for the iterations that scatter to its
  /// indices. Otherwise, each thread executes all other iterations for its owned ones.
  bool byIndex = false;
  int64_t indexStride = 1; ///< between adjacent indices, in elements
  int64_t indexGroups = 1; ///< blocks of group p mod indexGroups handle index p
  /// The number of chunks of iterations. If there are few indices, a block adds only one chunk of
  /// the iterations, into a copy of the results in scratch memory, and a final launch adds up the
  /// copies. The copies of result i are an array [chunks, elements] at byte `partials[i]`; empty
  /// for a single chunk.
  int64_t chunks = 1;
  llvm::SmallVector<int64_t> partials;

  static constexpr llvm::StringLiteral keyword = "scatter";
  template <typename Visitor> static constexpr void visitFields(Visitor &&field) {
    field("vector", &ScatterPlan::vector);
    field("owned_dims", &ScatterPlan::ownedDims);
    field("other_dims", &ScatterPlan::otherDims);
    field("by_index", &ScatterPlan::byIndex);
    field("index_stride", &ScatterPlan::indexStride);
    field("index_groups", &ScatterPlan::indexGroups);
    field("chunks", &ScatterPlan::chunks);
    field("partials", &ScatterPlan::partials);
  }
  bool operator==(const ScatterPlan &) const = default;
};

/// Tiles of kTile x kTile iterations: loads are contiguous along one dimension, stores along the
/// other.
struct TransposePlan {
  unsigned loadDim = 0, storeDim = 0;
  llvm::SmallVector<unsigned> outerDims;
  llvm::SmallVector<unsigned> loads; ///< indices of loads that are staged through shared memory

  static constexpr llvm::StringLiteral keyword = "transpose";
  template <typename Visitor> static constexpr void visitFields(Visitor &&field) {
    field("load_dim", &TransposePlan::loadDim);
    field("store_dim", &TransposePlan::storeDim);
    field("outer_dims", &TransposePlan::outerDims);
    field("loads", &TransposePlan::loads);
  }
  bool operator==(const TransposePlan &) const = default;
};
constexpr int64_t kTile = 32, kTileRows = 8;

/// The usual number of threads per block.
constexpr int64_t kBlock = 256;
/// The number of bytes that a thread should have in flight.
constexpr int64_t kBytesInFlight = 64;

/// The launches of a kernel. The first launch of a scatter kernel zeroes the sums, unless their
/// initial values are an operand.
struct LaunchPlan {
  llvm::SmallVector<LaunchSize> launches;
  int64_t scratchBytes = 0;
  std::variant<ElementwisePlan, TransposePlan, ReductionPlan, ScatterPlan> shape;

  /// Returns the launches of a kernel of this name, with numbered symbols if there are several.
  llvm::SmallVector<Launch> nameLaunches(llvm::StringRef name) const;

  template <typename Visitor> static constexpr void visitFields(Visitor &&field) {
    field("shape", &LaunchPlan::shape);
    field("launches", &LaunchPlan::launches);
    field("scratch", &LaunchPlan::scratchBytes);
  }
  bool operator==(const LaunchPlan &) const = default;
};
inline llvm::hash_code hash_value(const LaunchPlan &plan) { return hashPlan(plan); }

/// Columns per block, and threads per column, of the launch that adds up the groups' sums.
constexpr int64_t kSumColumns = 32, kSumMembers = 32;

/// Returns the shared memory of that launch.
int64_t bytesOfColumnSums(const NormalKernel &kernel, llvm::ArrayRef<unsigned> columnSums);

/// Plans the launches of a kernel on GPUs whose warps have `warp` threads.
LaunchPlan planLaunches(const NormalKernel &kernel, int64_t warp);

/// Returns whether the iterations are independent and can run in any order. A result with fewer
/// elements than iterations may alias an operand that several iterations read.
bool isElementwise(const NormalKernel &kernel);
/// Returns whether any result has an element for each iteration of a reduction's rows.
bool hasResultsOfIterations(const NormalKernel &kernel);
/// Returns whether any result has one element for each row.
bool hasResultsOfRows(const NormalKernel &kernel);

/// Returns why no code can be generated for a plan that was parsed from text, or an empty string.
std::string refusePlan(const LaunchPlan &plan, const NormalKernel &kernel, int64_t warp);

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_LAUNCHPLAN_H
