//===- KernelSpaces.cpp - Common iteration space of two kernels -------------------------------===//

#include "passes/kernels/KernelSpaces.h"

#include "ir/builders/KernelBuilder.h"
#include "passes/kernels/KernelEditing.h"

using namespace mlir;
using namespace mtc;

AffineMap CommonSpace::rewrite(AffineMap map, ArrayRef<AffineExpr> dims) const {
  AffineMap rewritten =
      map.replaceDimsAndSymbols(dims, /*symReplacements=*/{}, space.size(), map.getNumSymbols());
  return simplifyOverSpace(rewritten, space);
}

namespace {

/// A dim of a kernel's iteration space whose size is not 1; lists are innermost first.
struct Dim {
  unsigned position;
  int64_t extent;
  bool isReduced;
};

SmallVector<Dim> dimsOf(KernelOp kernel) {
  SmallVector<Dim> dims;
  for (unsigned d = kernel.getSpace().size(); d-- > 0;)
    if (int64_t extent = kernel.getSpace()[d]; extent != 1)
      dims.push_back({d, extent, llvm::is_contained(kernel.getReduced(), d)});
  return dims;
}

/// Traverses two lists of dims from the innermost outwards, and splits dims at each other's
/// boundaries.
class Refinement {
public:
  Refinement(KernelOp first, KernelOp second)
      : context(first.getContext()), keepsRows{keepsRowsOf(first), keepsRowsOf(second)},
        dims{dimsOf(first), dimsOf(second)}, exprs{zeros(first), zeros(second)} {}

  /// Takes the innermost `iterations` of one kernel, which correspond to one iteration of
  /// the other kernel.
  bool takeRows(unsigned owner, int64_t iterations) {
    while (iterations > 1) {
      if (next[owner] == dims[owner].size())
        return false;
      Dim dim = dims[owner][next[owner]++];
      if (iterations % dim.extent != 0)
        return false;
      iterations /= dim.extent;
      addTerm(owner, dim, 1);
      found.push_back({dim.extent, true});
    }
    return true;
  }

  bool refine() {
    int64_t rest[2] = {1, 1}, stride[2] = {1, 1};
    Dim current[2];
    while (true) {
      bool ended[2];
      for (unsigned i : {0, 1}) {
        ended[i] = rest[i] == 1 && next[i] == dims[i].size();
        if (rest[i] == 1 && !ended[i]) {
          current[i] = dims[i][next[i]++];
          rest[i] = current[i].extent;
          stride[i] = 1;
        }
      }
      if (ended[0] || ended[1])
        return ended[0] && ended[1];
      int64_t extent = std::min(rest[0], rest[1]);
      if (rest[0] % extent != 0 || rest[1] % extent != 0)
        return false;
      for (unsigned i : {0, 1})
        if (keepsRows[i] && current[i].isReduced && extent != current[i].extent)
          return false;
      bool isReduced = current[0].isReduced || current[1].isReduced;
      for (unsigned i : {0, 1}) {
        addTerm(i, current[i], stride[i]);
        anyReduced[i] |= current[i].isReduced;
        onlyReduced[i] &= current[i].isReduced == isReduced;
        stride[i] *= extent;
        rest[i] /= extent;
      }
      found.push_back({extent, isReduced});
    }
  }

  /// Returns whether each kernel reduces over all reduced dims or over none.
  bool agree() {
    return llvm::all_of(ArrayRef{0, 1}, [&](int i) { return onlyReduced[i] || !anyReduced[i]; });
  }

  CommonSpace finish() {
    CommonSpace common;
    unsigned rank = found.size();
    for (auto [i, dim] : llvm::enumerate(llvm::reverse(found))) {
      common.space.push_back(dim.extent);
      if (dim.isReduced)
        common.reduced.push_back(i);
    }
    SmallVector<AffineExpr> outermostFirst(rank);
    for (unsigned i = 0; i < rank; ++i)
      outermostFirst[i] = getAffineDimExpr(rank - 1 - i, context);
    for (unsigned i : {0, 1})
      for (AffineExpr &expr : exprs[i])
        expr = expr.replaceDims(outermostFirst);
    common.first = exprs[0];
    common.second = exprs[1];
    return common;
  }

private:
  struct Found {
    int64_t extent;
    bool isReduced;
  };

  /// The order of a row's sum must not depend on the dims of other kernels.
  static bool keepsRowsOf(KernelOp kernel) {
    return kernel.getShape() == FusibleShape::RowReduction && keepsSumOrder(kernel);
  }

  static SmallVector<AffineExpr> zeros(KernelOp kernel) {
    return SmallVector<AffineExpr>(kernel.getSpace().size(),
                                   getAffineConstantExpr(0, kernel.getContext()));
  }

  /// Adds the next common dim as a term of the owner's dim.
  void addTerm(unsigned owner, Dim dim, int64_t stride) {
    AffineExpr &expr = exprs[owner][dim.position];
    expr = expr + getAffineDimExpr(found.size(), context) * stride;
  }

  MLIRContext *context;
  bool keepsRows[2]; ///< whether reduced dims are not split
  SmallVector<Dim> dims[2];
  SmallVector<AffineExpr> exprs[2];
  unsigned next[2] = {0, 0};
  bool anyReduced[2] = {false, false}, onlyReduced[2] = {true, true};
  SmallVector<Found> found; ///< Innermost first.
};

} // namespace

/// Returns each dim of a kernel as a function of the space of `whole`, whose last row is partial;
/// nothing if the kernel has different iterations.
static std::optional<SmallVector<AffineExpr>> placeInPartRows(KernelOp kernel, KernelOp whole) {
  MLIRContext *context = kernel.getContext();
  AffineExpr row = getAffineDimExpr(0, context), column = getAffineDimExpr(1, context);
  if (kernel.getIterations()) {
    if (kernel.getIterations() != whole.getIterations() || kernel.getSpace() != whole.getSpace())
      return std::nullopt;
    return SmallVector<AffineExpr>{row, column};
  }
  SmallVector<Dim> dims = dimsOf(kernel);
  if (dims.size() != 1 || dims[0].isReduced || iterationsOf(kernel) != iterationsOf(whole) ||
      !yieldOf(kernel).getAdded().empty())
    return std::nullopt;
  SmallVector<AffineExpr> exprs(kernel.getSpace().size(), getAffineConstantExpr(0, context));
  exprs[dims[0].position] = row * whole.getSpace()[1] + column;
  return exprs;
}

/// Returns the common space of two kernels if `whole`, which is one of them, has a partial last
/// row.
static std::optional<CommonSpace> takePartRows(KernelOp first, KernelOp second, KernelOp whole) {
  auto ofFirst = placeInPartRows(first, whole), ofSecond = placeInPartRows(second, whole);
  if (!ofFirst || !ofSecond)
    return std::nullopt;
  CommonSpace common;
  common.space.assign(whole.getSpace().begin(), whole.getSpace().end());
  KernelOp reducing = first.getReduced().empty() ? second : first;
  common.reduced.assign(reducing.getReduced().begin(), reducing.getReduced().end());
  common.iterations = whole.getIterations();
  common.first = std::move(*ofFirst);
  common.second = std::move(*ofSecond);
  return common;
}

std::optional<CommonSpace> mtc::findCommonSpace(KernelOp first, KernelOp second) {
  for (KernelOp whole : {first, second})
    if (whole.getIterations())
      return takePartRows(first, second, whole);
  int64_t iterations[2] = {iterationsOf(first), iterationsOf(second)};
  Refinement refinement(first, second);
  if (iterations[0] != iterations[1]) {
    // One kernel has one iteration per row of the other.
    unsigned larger = iterations[0] > iterations[1] ? 0 : 1;
    KernelOp whole = larger == 0 ? first : second, rows = larger == 0 ? second : first;
    if (iterations[larger] % iterations[1 - larger] != 0 || !rows.getReduced().empty() ||
        (whole.getShape() != FusibleShape::RowReduction &&
         whole.getShape() != FusibleShape::Elementwise))
      return std::nullopt;
    int64_t reducedIterations = 1;
    for (int64_t d : whole.getReduced())
      reducedIterations *= whole.getSpace()[d];
    int64_t rowIterations = iterations[larger] / iterations[1 - larger];
    if (!whole.getReduced().empty() && reducedIterations != rowIterations)
      return std::nullopt;
    if (!refinement.takeRows(larger, rowIterations))
      return std::nullopt;
  }
  if (!refinement.refine() || !refinement.agree())
    return std::nullopt;
  return refinement.finish();
}
