//===- ContractionShape.cpp - A contraction as a library sees it ------------------------------===//

#include "passes/memory/ContractionShape.h"

using namespace mlir;
using namespace mtc;

static SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// The stride of axes seen as one, in the order given; nothing if they cannot be. Axes of extent 1
/// have no say.
static std::optional<int64_t> mergedStride(ArrayRef<int64_t> axes, ArrayRef<int64_t> shape,
                                           ArrayRef<int64_t> strides) {
  std::optional<int64_t> inner, outerExpected;
  for (int64_t axis : llvm::reverse(axes)) {
    if (shape[axis] == 1)
      continue;
    if (outerExpected && strides[axis] != *outerExpected)
      return std::nullopt;
    if (!inner)
      inner = strides[axis];
    outerExpected = strides[axis] * shape[axis];
  }
  return inner.value_or(1);
}

static int64_t product(ArrayRef<int64_t> axes, ArrayRef<int64_t> shape) {
  int64_t result = 1;
  for (int64_t axis : axes)
    result *= shape[axis];
  return result;
}

ContractionView mtc::viewContraction(ContractOp op) {
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  SmallVector<int64_t> lhsStrides = rowMajorStrides(lhs.getShape());
  SmallVector<int64_t> rhsStrides = rowMajorStrides(rhs.getShape());
  SmallVector<int64_t> lhsFree = op.getLhsFree(), rhsFree = op.getRhsFree();

  std::optional<int64_t> m = mergedStride(lhsFree, lhs.getShape(), lhsStrides);
  std::optional<int64_t> n = mergedStride(rhsFree, rhs.getShape(), rhsStrides);
  std::optional<int64_t> lhsK = mergedStride(op.getLhsContract(), lhs.getShape(), lhsStrides);
  std::optional<int64_t> rhsK = mergedStride(op.getRhsContract(), rhs.getShape(), rhsStrides);

  ContractionView view;
  view.lhsFits = m && lhsK;
  view.rhsFits = n && rhsK;
  if (!view.lhsFits || !view.rhsFits)
    return view;

  ContractionShape shape;
  shape.element = lhs.getElementType();
  for (auto [l, r] : llvm::zip_equal(op.getLhsBatch(), op.getRhsBatch())) {
    shape.batch.push_back(lhs.getShape()[l]);
    shape.lhsStrides.push_back(lhsStrides[l]);
    shape.rhsStrides.push_back(rhsStrides[r]);
  }
  shape.m = product(lhsFree, lhs.getShape());
  shape.n = product(rhsFree, rhs.getShape());
  shape.k = product(op.getLhsContract(), lhs.getShape());
  shape.lhsStrides.append({*m, *lhsK});
  shape.rhsStrides.append({*rhsK, *n});
  int64_t outer = shape.m * shape.n;
  SmallVector<int64_t> batchStrides(shape.batch.size());
  for (size_t i = shape.batch.size(); i-- > 0;) {
    batchStrides[i] = outer;
    outer *= shape.batch[i];
  }
  shape.outStrides = batchStrides;
  shape.outStrides.append({shape.n, 1});
  view.shape = shape;
  return view;
}
