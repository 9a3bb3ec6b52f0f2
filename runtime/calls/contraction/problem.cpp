// Simplification of contractions. Every step preserves the set of (lhs, rhs, out) elements that are
// multiplied and summed.
#include "runtime/calls/contraction/problem.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace mtc::runtime {

int64_t ContractionProblem::entries() const {
  int64_t count = 1;
  for (const BatchAxis &axis : batch)
    count *= axis.extent;
  return count;
}

/// Returns whether a batch axis of stride `batchStride` and a matrix axis can be collapsed into one
/// axis of a single stride.
static bool continues(int64_t batchStride, int64_t extent, int64_t stride) {
  return extent == 1 || batchStride == extent * stride;
}

/// Collapses a batch axis along which rhs is broadcast into the rows of lhs and out. Returns false
/// if the strides do not allow it.
static bool joinToRows(ContractionProblem &p, const BatchAxis &axis) {
  if (axis.rhs != 0 || !continues(axis.lhs, p.m(), p.lhs.rowStride) ||
      !continues(axis.out, p.m(), p.out.rowStride))
    return false;
  for (size_t i = 0; i < p.addends.size(); ++i)
    if (!continues(axis.addends[i], p.m(), p.addends[i].rowStride))
      return false;
  if (p.m() == 1) {
    p.lhs.rowStride = axis.lhs;
    p.out.rowStride = axis.out;
  }
  for (size_t i = 0; i < p.addends.size(); ++i) {
    if (p.m() == 1)
      p.addends[i].rowStride = axis.addends[i];
    p.addends[i].rows *= axis.extent;
  }
  p.lhs.rows *= axis.extent;
  p.out.rows *= axis.extent;
  return true;
}

/// Collapses a batch axis along which lhs is broadcast into the columns of rhs and out. Returns
/// false if the strides do not allow it.
static bool joinToColumns(ContractionProblem &p, const BatchAxis &axis) {
  if (axis.lhs != 0 || !continues(axis.rhs, p.n(), p.rhs.columnStride) ||
      !continues(axis.out, p.n(), p.out.columnStride))
    return false;
  for (size_t i = 0; i < p.addends.size(); ++i)
    if (!continues(axis.addends[i], p.n(), p.addends[i].columnStride))
      return false;
  if (p.n() == 1) {
    p.rhs.columnStride = axis.rhs;
    p.out.columnStride = axis.out;
  }
  for (size_t i = 0; i < p.addends.size(); ++i) {
    if (p.n() == 1)
      p.addends[i].columnStride = axis.addends[i];
    p.addends[i].columns *= axis.extent;
  }
  p.rhs.columns *= axis.extent;
  p.out.columns *= axis.extent;
  return true;
}

static void joinBroadcasts(ContractionProblem &p) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = p.batch.size(); i-- > 0;) {
      if (joinToRows(p, p.batch[i]) || joinToColumns(p, p.batch[i])) {
        p.batch.erase(p.batch.begin() + static_cast<std::ptrdiff_t>(i));
        changed = true;
      }
    }
  }
}

static void mergeBatch(std::vector<BatchAxis> &batch) {
  std::sort(batch.begin(), batch.end(), [](const BatchAxis &a, const BatchAxis &b) {
    return std::tie(a.out, a.lhs, a.rhs) > std::tie(b.out, b.lhs, b.rhs);
  });
  for (size_t i = batch.size(); i-- > 1;) {
    BatchAxis &outer = batch[i - 1], &inner = batch[i];
    bool together = outer.lhs == inner.extent * inner.lhs &&
                    outer.rhs == inner.extent * inner.rhs && outer.out == inner.extent * inner.out;
    for (size_t a = 0; a < inner.addends.size(); ++a)
      together &= outer.addends[a] == inner.extent * inner.addends[a];
    if (!together)
      continue;
    inner.extent *= outer.extent;
    batch.erase(batch.begin() + static_cast<std::ptrdiff_t>(i - 1));
  }
}

/// Strides of axes with extent 1 are never used, but libraries derive the layout from them.
static void densifyUnitExtents(MatrixLayout &matrix) {
  if (matrix.columns == 1 && matrix.rows == 1)
    matrix.rowStride = matrix.columnStride = 1;
  else if (matrix.columns == 1)
    // A strided column is a row-major matrix with one column; so is a dense one.
    matrix.columnStride = 1;
  else if (matrix.rows == 1)
    matrix.rowStride = matrix.columnStride == 1 ? matrix.columns : 1;
}

static MatrixLayout transposed(const MatrixLayout &matrix) {
  return {matrix.columns, matrix.rows, matrix.columnStride, matrix.rowStride};
}

static void swapOperands(ContractionProblem &p) {
  std::swap(p.lhs, p.rhs);
  p.lhs = transposed(p.lhs);
  p.rhs = transposed(p.rhs);
  p.out = transposed(p.out);
  for (MatrixLayout &addend : p.addends)
    addend = transposed(addend);
  for (BatchAxis &axis : p.batch)
    std::swap(axis.lhs, axis.rhs);
  p.swapped = !p.swapped;
}

ContractionProblem simplifyContraction(const MtcContraction &c) {
  ContractionProblem p;
  const uint32_t row = c.batch_rank, column = c.batch_rank + 1;
  p.lhs = {c.m, c.k, c.lhs_strides[row], c.lhs_strides[column]};
  p.rhs = {c.k, c.n, c.rhs_strides[row], c.rhs_strides[column]};
  p.out = {c.m, c.n, c.out_strides[row], c.out_strides[column]};
  for (uint32_t i = 0; i < c.batch_rank; ++i)
    if (c.batch[i] != 1)
      p.batch.push_back({c.batch[i], c.lhs_strides[i], c.rhs_strides[i], c.out_strides[i]});
  for (uint32_t a = 0; a < c.addend_count; ++a) {
    const int64_t *strides = c.addend_strides[a];
    p.addends.push_back({c.m, c.n, strides[row], strides[column]});
    size_t axis = 0;
    for (uint32_t i = 0; i < c.batch_rank; ++i)
      if (c.batch[i] != 1)
        p.batch[axis++].addends[a] = strides[i];
  }
  if (p.isEmpty())
    return p;

  mergeBatch(p.batch);
  joinBroadcasts(p);
  mergeBatch(p.batch);
  densifyUnitExtents(p.lhs);
  densifyUnitExtents(p.rhs);
  densifyUnitExtents(p.out);
  for (MatrixLayout &addend : p.addends) {
    if (addend.rows == 1)
      addend.rowStride = p.out.rowStride;
    if (addend.columns == 1)
      addend.columnStride = p.out.columnStride;
  }
  if (!p.out.isRowMajor() && transposed(p.out).isRowMajor())
    swapOperands(p);
  return p;
}

} // namespace mtc::runtime
