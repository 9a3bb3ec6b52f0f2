//===- Windows.cpp - Sliding windows as ONNX nodes --------------------------------------------===//

#include "frontend/onnx/writer/Conversions.h"

#include "mlir/IR/Builders.h"

#include <numeric>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// The windows along one axis: tap k of window o is element o * stride + k * dilation.
struct Windows {
  int64_t count, taps, stride, dilation;

  /// Returns whether the windows are consecutive blocks.
  bool areBlocks() const { return stride == taps && dilation == 1; }
  /// Returns the extent that the windows cover.
  int64_t extent() const {
    return count == 0 || taps == 0 ? 0 : (count - 1) * stride + (taps - 1) * dilation + 1;
  }
  GraphValue elements(GraphBuilder &b) const {
    SmallVector<int64_t> all;
    for (int64_t o = 0; o < count; ++o)
      for (int64_t k = 0; k < taps; ++k)
        all.push_back(o * stride + k * dilation);
    return b.integers(all);
  }
};

/// Returns the shape with another extent of one axis.
SmallVector<int64_t> withExtent(ArrayRef<int64_t> shape, int64_t axis, int64_t extent) {
  SmallVector<int64_t> other(shape);
  other[axis] = extent;
  return other;
}

/// Returns the first elements of an axis, or appends zeros, up to `extent`.
GraphValue resize(GraphBuilder &b, const GraphValue &x, int64_t axis, int64_t offset,
                  int64_t extent) {
  SmallVector<int64_t> zeros(x.rank(), 0), ones(x.rank(), 1);
  const int64_t missing = std::max<int64_t>(offset + extent - x.shape()[axis], 0);
  GraphValue padded = b.pad(x, zeros, withExtent(zeros, axis, missing), b.scalar(x.element(), 0));
  return b.slice(padded, withExtent(zeros, axis, offset), ones,
                 withExtent(x.shape(), axis, extent));
}

/// [.., n, ..] becomes [.., o, .., k].
GraphValue unfold(GraphBuilder &b, GraphValue x, int64_t axis, const Windows &windows) {
  const int64_t all = windows.count * windows.taps;
  if (windows.areBlocks())
    x = resize(b, x, axis, 0, all);
  else
    x = b.node("Gather", {x, windows.elements(b)},
               b.typeOf(withExtent(x.shape(), axis, all), x.element()), {{"axis", axis}});
  SmallVector<int64_t> split = withExtent(x.shape(), axis, windows.count), order;
  split.insert(split.begin() + axis + 1, windows.taps);
  for (int64_t i = 0; i <= x.rank(); ++i)
    if (i != axis + 1)
      order.push_back(i);
  order.push_back(axis + 1);
  return b.transpose(b.reshape(x, split), order);
}

/// [.., o, .., k] becomes [.., n, ..], the sums of the taps of each element.
GraphValue fold(GraphBuilder &b, const GraphValue &y, int64_t axis, const Windows &windows,
                int64_t offset, int64_t extent) {
  SmallVector<int64_t> order(y.rank() - 1);
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.begin() + axis + 1, y.rank() - 1);
  GraphValue taps = b.transpose(y, order);
  SmallVector<int64_t> merged(y.shape().drop_back());
  merged[axis] = windows.count * windows.taps;
  taps = b.reshape(taps, merged);
  if (!windows.areBlocks()) {
    SmallVector<int64_t> ofRows(merged.size(), 1);
    ofRows[axis] = merged[axis];
    RankedTensorType covered = b.typeOf(withExtent(merged, axis, windows.extent()), y.element());
    taps = b.scatterAdd(std::nullopt, covered, b.reshape(windows.elements(b), ofRows), taps, axis);
  }
  return resize(b, taps, axis, offset, extent);
}

GraphValue convertWindows(WindowsOp op, GraphBuilder &b) {
  GraphValue x = b.get(op.getInput());
  ArrayRef<int64_t> shape = op.getResult().getType().getShape();
  const size_t rank = x.rank();
  for (auto [i, axis] : llvm::enumerate(op.getAxes()))
    x = unfold(b, x, axis,
               {shape[axis], shape[rank + i], op.getStrides()[i], op.getDilations()[i]});
  return x;
}

GraphValue convertOverlapAdd(OverlapAddOp op, GraphBuilder &b) {
  GraphValue y = b.get(op.getInput());
  ArrayRef<int64_t> shape = op.getResult().getType().getShape();
  for (size_t i = op.getAxes().size(); i-- > 0;) {
    const int64_t axis = op.getAxes()[i];
    y = fold(b, y, axis,
             {y.shape()[axis], y.shape().back(), op.getStrides()[i], op.getDilations()[i]},
             op.getOffsets()[i], shape[axis]);
  }
  return y;
}

} // namespace

void addWindowsConversions(Conversions &conversions) {
  conversions.add(convertWindows);
  conversions.add(convertOverlapAdd);
}

} // namespace mtc::onnx
