//===- LaunchPlan.h - How a kernel's space becomes grids, blocks, vectors and stages ----------===//
//
// It follows from the kernel alone, not from the device, so that results do not depend on it.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_LAUNCHPLAN_H
#define MTC_CODEGEN_CUDA_LAUNCHPLAN_H

#include "codegen/kernels/KernelAnalysis.h"
#include "codegen/target/PlanFields.h"

#include <array>
#include <string>
#include <variant>

namespace mtc::cuda {

/// The threads of one kernel of the device.
struct LaunchSize {
  std::array<int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  int64_t sharedBytes = 0; ///< Of a block, static: a launch asks for no more.

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

/// Dims as one index, the last fastest. `vector` is the last of them where it is one of them; the
/// index then counts groups of `width` of its indices.
struct PointVector {
  std::optional<unsigned> dim;
  int64_t width = 1;

  template <typename Visitor> static constexpr void visitFields(Visitor &&field) {
    field("dim", &PointVector::dim);
    field("width", &PointVector::width);
  }
  bool operator==(const PointVector &) const = default;
};

/// A thread computes `unroll` vectors of points at a time, all loads before the first store.
struct ElementwisePlan {
  PointVector vector;
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

/// Rows are points of the dims that are not reduced. A team of threads shares a row, or a vector of
/// neighbouring rows: each member combines what it visits in order, then the team its members'
/// values, always in the same tree. Where rows are few, `splits` blocks share a row, each a chunk
/// of it: a launch for each level leaves their values in scratch, the next begins with them.
struct ReductionPlan {
  PointVector vector;
  bool vectorIsReduced = false;
  llvm::SmallVector<unsigned> rowDims, reducedDims;
  int64_t team = 1;
  /// Rows (vectors of rows) in a block.
  int64_t rowsPerBlock = 1;
  int64_t splits = 1;
  /// Reduced points (vectors of them) in a split.
  int64_t chunk = 1;
  /// Where a member's part of a row is so short that its values stay in registers from level to
  /// level: how many vectors they are. Otherwise 0: each level reads again.
  int64_t residentSteps = 0;
  /// Vectors that a member reads before it combines them.
  int64_t unroll = 1;
  int64_t rows = 1, steps = 1; ///< In all, vectors counted as one.
  /// Where there are column sums: a team computes a group of rows one after another, and leaves
  /// what it adds up in scratch, for column sum i at byte `partials[i]` an array [copies, elements
  /// of the result]. A last launch adds up the groups. 0 without column sums.
  int64_t groups = 0;
  llvm::SmallVector<int64_t> partials;

  /// Where the row's dims begin with some that all column sums keep: their points. A group has rows
  /// of one of them, and its sums are a part of those that `copies` groups have of the whole sum.
  int64_t keptRows = 1;

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
  }
  bool operator==(const ReductionPlan &) const = default;

  int64_t copies() const { return groups / keptRows; }
  int64_t rowsPerGroup() const { return (rows / keptRows + copies() - 1) / copies(); }
  /// Teams that a launch needs.
  int64_t teams() const { return groups > 0 ? groups : rows; }
  /// Members of a team are neighbours; otherwise the same members of different teams are.
  bool membersAreNeighbours() const { return vectorIsReduced; }
  int64_t threads() const { return team * rowsPerBlock; }
  /// How many values a row's, which depends on these dims, has: one for each row of a vector.
  int64_t lanesOf(DimSet dims) const {
    return !vectorIsReduced && vector.dim && contains(dims, *vector.dim) ? vector.width : 1;
  }
};

/// Results are sums of what lands on their elements, in the order of the dims that are not owned.
/// A thread has a vector of the owned dims' points, which nothing else adds to.
struct ScatterPlan {
  PointVector vector;
  llvm::SmallVector<unsigned> ownedDims, otherDims;
  /// Where the index along the other dims is one for all owned points: blocks share the indices,
  /// and each looks for the points that land on its own. Otherwise every thread runs through all
  /// points of its own.
  bool byIndex = false;
  int64_t indexStride = 1; ///< Between neighbouring indices, in elements.
  int64_t indexGroups = 1; ///< Index p belongs to blocks of group p mod indexGroups.
  /// Where indices are few, a block adds a chunk of the points only, in a copy of the results in
  /// scratch; a last launch adds up the copies. Result i's are an array [chunks, elements] at byte
  /// `partials[i]`; empty where there is one chunk.
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

/// Squares of kTile x kTile points: loads run along one dim, stores along the other.
struct TransposePlan {
  unsigned loadDim = 0, storeDim = 0;
  llvm::SmallVector<unsigned> outerDims;
  llvm::SmallVector<unsigned> loads; ///< The body's that go through shared memory, by number.

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

/// The first launch of a kernel that adds (ScatterPlan) sets to zero what is added to, unless that
/// starts as an operand.
struct LaunchPlan {
  llvm::SmallVector<LaunchSize> launches;
  int64_t scratchBytes = 0;
  std::variant<ElementwisePlan, TransposePlan, ReductionPlan, ScatterPlan> shape;

  /// Launches of a kernel of this name, numbered where there are several.
  llvm::SmallVector<Launch> nameLaunches(llvm::StringRef name) const;

  template <typename Visitor> static constexpr void visitFields(Visitor &&field) {
    field("shape", &LaunchPlan::shape);
    field("launches", &LaunchPlan::launches);
    field("scratch", &LaunchPlan::scratchBytes);
  }
  bool operator==(const LaunchPlan &) const = default;
};
inline llvm::hash_code hash_value(const LaunchPlan &plan) { return hashPlan(plan); }

/// Columns of a result in a block of the launch that adds up the groups, and threads to a column.
constexpr int64_t kSumColumns = 32, kSumMembers = 8;

LaunchPlan planLaunches(const NormalKernel &kernel);

/// Whether points may be computed in any order, each by itself. A result of fewer points may lie
/// where an operand is read that all of them share.
bool isElementwise(const NormalKernel &kernel);
/// Whether there are results with an element for each point of a reduction's rows, or for each row.
bool hasResultsOfPoints(const NormalKernel &kernel);
bool hasResultsOfRows(const NormalKernel &kernel);

/// Why code cannot be written by a plan that was read from a text; empty if it can.
std::string refusePlan(const LaunchPlan &plan, const NormalKernel &kernel);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_LAUNCHPLAN_H
