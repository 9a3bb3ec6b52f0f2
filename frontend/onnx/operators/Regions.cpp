//===- Regions.cpp - RoiAlign, MaxRoiPool and DeformConv --------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/Taps.h"
#include "frontend/onnx/operators/support/Windows.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

Value plus(TensorBuilder &b, Value x, double by) { return b.add(x, b.splat(x, by)); }
Value times(TensorBuilder &b, Value x, double by) { return b.mul(x, b.splat(x, by)); }

/// Returns column `i` of a matrix [rows, columns], as [rows].
Value column(TensorBuilder &b, Value matrix, int64_t i) {
  int64_t rows = shapeOf(matrix)[0];
  return b.reshape(b.slice(matrix, {0, i}, {rows, 1}, {1, 1}), {rows});
}

//===--- RoiAlign -----------------------------------------------------------------------------===//

struct RoiAlign {
  bool takesMaximum, isHalfPixel;
  int64_t height, width; ///< Bins per region.
  int64_t samples;       ///< Samples per bin along each axis.
  double scale;

  static FailureOr<RoiAlign> read(NodeView &node) {
    // Version 10 does not shift by half a pixel.
    StringRef byDefault = node.version() < 16 ? "output_half_pixel" : "half_pixel";
    StringRef mode = node.choice("mode", "avg", {"avg", "max"});
    StringRef coordinates = node.choice("coordinate_transformation_mode", byDefault,
                                        {"half_pixel", "output_half_pixel"});
    RoiAlign read{mode == "max",
                  coordinates == "half_pixel",
                  node.integer("output_height", 1),
                  node.integer("output_width", 1),
                  node.integer("sampling_ratio", 0),
                  node.floating("spatial_scale", 1)};
    if (node.failed())
      return failure();
    if (read.height < 1 || read.width < 1)
      return node.failure("has " + Twine(read.height) + " x " + Twine(read.width) +
                          " bins, expected at least 1 x 1");
    return read;
  }
};

/// X [N, C, H, W], regions [R, 4] of (x1, y1, x2, y2), batch indices [R], result [R, C, bins…].
LogicalResult inferRoiAlign(Inference &node) {
  FailureOr<RoiAlign> read = RoiAlign::read(node);
  if (failed(read) || !node.hasRank(0, 4, 4) || !node.hasRank(1, 2, 2) || !node.hasRank(2, 1, 1))
    return failure();
  if (node.dim(1, 1) != 4 || node.dim(2, 0) != node.dim(1, 0))
    return node.failure("has regions of shape " + shapeText(node.shape(1)) +
                        " and batch indices of shape " + shapeText(node.shape(2)) +
                        ", expected [R, 4] and [R]");
  if (node.dim(0, 2) < 1 || node.dim(0, 3) < 1)
    return node.failure("has images of shape " + shapeText(node.shape(0)) + ", which are empty");
  return node.result(0, node.elementType(0),
                     {node.dim(1, 0), node.dim(0, 1), read->height, read->width});
}

/// Returns the taps of `bins * samples` sample points along one axis of each region, [R, bins ·
/// samples]. Points more than one element outside the image have weight 0; other outside points are
/// clamped to the border.
std::array<Tap, 2> regionTaps(TensorBuilder &b, const RoiAlign &read, Value begin, Value end,
                              int64_t bins, int64_t extent) {
  double offset = read.isHalfPixel ? 0.5 : 0.0;
  begin = plus(b, times(b, begin, read.scale), -offset);
  end = plus(b, times(b, end, read.scale), -offset);
  Value size = b.sub(end, begin);
  if (!read.isHalfPixel)
    size = b.max(size, b.splat(size, 1.0));
  int64_t places = bins * read.samples;
  SmallVector<int64_t> shape{shapeOf(begin)[0], places};
  Value number = b.iota(RankedTensorType::get(shape, typeOf(begin).getElementType()), 1);
  number = times(b, plus(b, number, 0.5), 1 / static_cast<double>(places));
  Value place = b.add(b.broadcast(begin, {1}, shape), b.mul(number, b.broadcast(size, {1}, shape)));
  Value low = b.splat(place, 0.0), high = b.splat(place, static_cast<double>(extent - 1));
  Value isNear =
      b.logicalAnd(b.compare(Predicate::Ge, place, b.splat(place, -1.0)),
                   b.compare(Predicate::Le, place, b.splat(place, static_cast<double>(extent))));
  std::array<Tap, 2> taps = linearTaps(b, clip(b, place, low, high), extent);
  for (Tap &tap : taps)
    tap.weight = b.select(isNear, tap.weight, b.splat(place, 0.0));
  return taps;
}

/// Computes the mean or maximum of samples, each interpolated from four elements. The maximum
/// compares the four weighted elements individually, as the standard's reference implementation
/// does. (He et al., "Mask R-CNN", 2017.)
LogicalResult convertRoiAlign(Conversion &node) {
  FailureOr<RoiAlign> read = RoiAlign::read(node);
  if (failed(read))
    return failure();
  if (read->samples < 1)
    return node.failure(
        "attribute sampling_ratio = " + Twine(read->samples) +
        ", expected a positive number; adaptive sampling depends on the data of the regions");
  if (failed(checkAddressable(node, {node.dim(1, 0), read->height, read->samples, read->width,
                                     read->samples, node.dim(0, 1)})))
    return failure();
  TensorBuilder &b = node.b;
  Type element = node.elementType(0), type = computeType(b, element);
  int64_t channels = node.dim(0, 1), height = node.dim(0, 2), width = node.dim(0, 3);
  int64_t regions = node.dim(1, 0), rows = read->height * read->samples,
          columns = read->width * read->samples;
  Value corners = b.cast(node.value(1), type);
  std::array<Tap, 2> vertical =
      regionTaps(b, *read, column(b, corners, 1), column(b, corners, 3), read->height, height);
  std::array<Tap, 2> horizontal =
      regionTaps(b, *read, column(b, corners, 0), column(b, corners, 2), read->width, width);
  Value image = b.cast(node.value(2), b.getI64Type());
  SmallVector<int64_t> places{regions, rows, columns};
  Value first = b.broadcast(times(b, image, static_cast<double>(height * width)), {1, 2}, places);
  // Channels-last, so that one gather reads all channels of a sample.
  Value x = b.reshape(b.transpose(b.cast(node.value(0), type), {0, 2, 3, 1}),
                      {node.dim(0, 0) * height * width, channels});
  Value sum;
  for (const Tap &v : vertical)
    for (const Tap &h : horizontal) {
      Value line = b.broadcast(times(b, v.index, static_cast<double>(width)), {2}, places);
      Value index = b.add(b.add(first, line), b.broadcast(h.index, {1}, places));
      Value weight = b.mul(b.broadcast(v.weight, {2}, places), b.broadcast(h.weight, {1}, places));
      Value elements = b.gather(x, index, 0, 0);
      Value part = b.mul(elements, b.broadcast(weight, {3}, shapeOf(elements)));
      sum = !sum ? part : read->takesMaximum ? b.max(sum, part) : b.add(sum, part);
    }
  sum =
      b.reshape(sum, {regions, read->height, read->samples, read->width, read->samples, channels});
  Value y =
      read->takesMaximum ? b.reduce(ReductionKind::Max, sum, {2, 4}) : meanOver(b, sum, {2, 4});
  return node.result(0, b.cast(b.transpose(y, {0, 3, 1, 2}), element));
}

//===--- MaxRoiPool ---------------------------------------------------------------------------===//

/// X [N, C, H, W], regions [R, 5] of (batch index, x1, y1, x2, y2), result [R, C, bins…].
LogicalResult inferMaxRoiPool(Inference &node) {
  node.floating("spatial_scale", 1);
  SmallVector<int64_t> bins = node.integers("pooled_shape", {});
  if (node.failed() || !node.hasRank(0, 4, 4) || !node.hasRank(1, 2, 2))
    return failure();
  if (bins.size() != 2 || bins[0] < 1 || bins[1] < 1)
    return node.failure("attribute pooled_shape = " + shapeText(bins) +
                        ", expected two positive numbers");
  if (node.dim(1, 1) != 5)
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected [R, 5]");
  return node.result(0, node.elementType(0), {node.dim(1, 0), node.dim(0, 1), bins[0], bins[1]});
}

/// Returns a mask [R, bins, extent] of the elements in each bin of a region. `begin` and `end` are
/// rounded and inclusive. Adjacent bins overlap if their boundary is not an integer.
Value inBins(TensorBuilder &b, Value begin, Value end, double scale, int64_t bins, int64_t extent) {
  auto rounded = [&](Value x) { // Rounds halves away from zero.
    Value size = plus(b, b.abs(times(b, x, scale)), 0.5);
    return b.mul(b.sign(x), FloorOp::create(b, size));
  };
  begin = rounded(begin);
  Value size = plus(b, b.sub(rounded(end), begin), 1);
  size = times(b, b.max(size, b.splat(size, 1.0)), 1 / static_cast<double>(bins));
  SmallVector<int64_t> shape{shapeOf(begin)[0], bins}, all{shape[0], bins, extent};
  Value number = b.iota(RankedTensorType::get(shape, typeOf(begin).getElementType()), 1);
  Value width = b.broadcast(size, {1}, shape), origin = b.broadcast(begin, {1}, shape);
  Value from = b.mul(number, width), to = b.mul(plus(b, number, 1), width);
  from = b.add(FloorOp::create(b, from), origin);
  to = b.add(CeilOp::create(b, to), origin);
  Value place = b.iota(RankedTensorType::get(all, typeOf(begin).getElementType()), 2);
  return b.logicalAnd(b.compare(Predicate::Ge, place, b.broadcast(from, {2}, all)),
                      b.compare(Predicate::Lt, place, b.broadcast(to, {2}, all)));
}

/// Computes the maximum of each bin, 0 for empty bins: first over columns, then over rows.
/// (Girshick, "Fast R-CNN", 2015.)
LogicalResult convertMaxRoiPool(Conversion &node) {
  TensorBuilder &b = node.b;
  double scale = node.floating("spatial_scale", 1);
  Type element = node.elementType(0), type = computeType(b, element);
  ArrayRef<int64_t> shape = node.resultShape();
  int64_t regions = shape[0], channels = shape[1], height = node.dim(0, 2), width = node.dim(0, 3);
  Value given = b.detach(b.cast(node.value(1), type));
  Value image = b.cast(column(b, given, 0), b.getI64Type());
  Value x = b.gather(b.cast(node.value(0), type), image, 0, 0); // [R, C, H, W].
  Value inColumns = inBins(b, column(b, given, 1), column(b, given, 3), scale, shape[3], width);
  Value inRows = inBins(b, column(b, given, 2), column(b, given, 4), scale, shape[2], height);
  SmallVector<int64_t> wide{regions, channels, height, shape[3], width};
  Value minimum = b.splat(RankedTensorType::get(wide, type), -INFINITY);
  Value perColumn =
      b.reduce(ReductionKind::Max,
               b.select(b.broadcast(inColumns, {1, 2}, wide), b.broadcast(x, {3}, wide), minimum),
               {4}); // [R, C, H, bins].
  SmallVector<int64_t> tall{regions, channels, shape[2], height, shape[3]};
  minimum = b.splat(RankedTensorType::get(tall, type), -INFINITY);
  Value y = b.reduce(
      ReductionKind::Max,
      b.select(b.broadcast(inRows, {1, 4}, tall), b.broadcast(perColumn, {2}, tall), minimum), {3});
  Value isEmpty = b.compare(Predicate::Eq, y, b.splat(y, -INFINITY));
  return node.result(0, b.cast(b.select(isEmpty, b.splat(y, 0.0), y), element));
}

//===--- DeformConv ---------------------------------------------------------------------------===//

struct Deformed {
  int64_t group, offsetGroup;
  Windows windows;

  static FailureOr<Deformed> read(NodeView &node) {
    int64_t group = node.integer("group", 1), offsetGroup = node.integer("offset_group", 1);
    if (node.failed() || !node.hasRank(0, 4, 4) || !node.hasRank(1, 4, 4))
      return failure();
    Extents kernel(node.shape(1).drop_front(2));
    Extents said = node.integers("kernel_shape", kernel);
    if (!node.failed() && said != kernel)
      return node.failure("attribute kernel_shape = " + shapeText(said) + ", but the weight has " +
                          shapeText(kernel));
    int64_t channels = node.dim(0, 1);
    if (group < 1 || offsetGroup < 1 || channels % group != 0 || channels % offsetGroup != 0 ||
        node.dim(1, 0) % group != 0 || node.dim(1, 1) != channels / group)
      return node.failure("has " + Twine(channels) + " channels, a weight of shape " +
                          shapeText(node.shape(1)) + ", " + Twine(group) + " groups and " +
                          Twine(offsetGroup) + " offset groups, which do not match");
    FailureOr<Windows> windows = readWindows(node, node.shape(0).drop_front(2), kernel);
    if (node.failed() || failed(windows))
      return failure();
    return Deformed{group, offsetGroup, *windows};
  }
};

/// X [N, C, H, W], W [M, C / group, kernel…], offset [N, offset groups · taps · 2, output…], B [M],
/// mask [N, offset groups · taps, output…].
LogicalResult inferDeformConv(Inference &node) {
  FailureOr<Deformed> read = Deformed::read(node);
  if (failed(read))
    return failure();
  int64_t taps = elementCount(read->windows.kernel), batch = node.dim(0, 0);
  auto image = [&](int64_t channels) { return read->windows.resultShape(batch, channels); };
  if (!node.hasShape(2, image(read->offsetGroup * taps * 2)) || !node.hasShape(3, node.dim(1, 0)) ||
      !node.hasShape(4, image(read->offsetGroup * taps)))
    return failure();
  return node.result(0, node.elementType(0), read->windows.resultShape(batch, node.dim(1, 0)));
}

/// Convolution with taps displaced by offsets and weighted by a mask. Elements are interpolated
/// linearly, and are 0 out of bounds. (Dai et al., "Deformable convolutional networks", 2017; Zhu
/// et al., v2, 2018.)
LogicalResult convertDeformConv(Conversion &node) {
  FailureOr<Deformed> read = Deformed::read(node);
  if (failed(read))
    return failure();
  TensorBuilder &b = node.b;
  const Windows &windows = read->windows;
  Type element = node.elementType(0), type = computeType(b, element);
  int64_t batch = node.dim(0, 0), channels = node.dim(0, 1), height = node.dim(0, 2),
          width = node.dim(0, 3), groups = read->offsetGroup;
  int64_t kernelHeight = windows.kernel[0], kernelWidth = windows.kernel[1],
          taps = kernelHeight * kernelWidth, rows = windows.output[0], columns = windows.output[1];
  // [N · offset groups, kernel…, output…].
  SmallVector<int64_t> shape{batch * groups, kernelHeight, kernelWidth, rows, columns};
  auto places = RankedTensorType::get(shape, type);
  Value offsets = b.reshape(b.cast(node.value(2), type), {batch * groups, taps, 2, rows * columns});
  auto place = [&](int64_t axis) {
    Value moved =
        b.slice(offsets, {0, 0, axis, 0}, {batch * groups, taps, 1, rows * columns}, {1, 1, 1, 1});
    Value tap = times(b, b.iota(places, 1 + axis), static_cast<double>(windows.dilations[axis]));
    Value window = times(b, b.iota(places, 3 + axis), static_cast<double>(windows.strides[axis]));
    Value regular = plus(b, b.add(tap, window), static_cast<double>(-windows.before[axis]));
    return b.add(b.reshape(moved, shape), regular);
  };
  // Channels-last, so that one gather reads all channels of an offset group.
  int64_t own = channels / groups;
  Value x = b.reshape(b.cast(node.value(0), type), {batch * groups, own, height * width});
  x = b.transpose(x, {0, 2, 1});
  Value sum;
  for (const Tap &v : linearTaps(b, place(0), height))
    for (const Tap &h : linearTaps(b, place(1), width)) {
      Value index = b.add(times(b, v.index, static_cast<double>(width)), h.index);
      index = b.reshape(index, {batch * groups, taps * rows * columns});
      Value weight = b.reshape(b.mul(v.weight, h.weight), shapeOf(index));
      Value elements = b.gather(x, index, 1, 1);
      Value part = b.mul(elements, b.broadcast(weight, {2}, shapeOf(elements)));
      sum = sum ? b.add(sum, part) : part;
    }
  if (node.has(4)) {
    Value mask = b.reshape(b.cast(node.value(4), type), shapeOf(sum).drop_back());
    sum = b.mul(sum, b.broadcast(mask, {2}, shapeOf(sum)));
  }
  // [N, offset groups, taps, output, channels] to [groups, N, channels of a group, taps, output].
  int64_t group = read->group, depth = channels / group, out = node.dim(1, 0) / group;
  sum = b.reshape(sum, {batch, groups, taps, rows * columns, own});
  sum = b.reshape(b.transpose(sum, {1, 4, 0, 2, 3}), {group, depth, batch, taps, rows * columns});
  Value weight = b.reshape(b.cast(node.value(1), type), {group, out, depth, taps});
  Value y = b.contract(weight, sum, {0}, {0}, {2, 3}, {1, 3}); // [groups, M / groups, N, output].
  y = b.reshape(b.transpose(y, {2, 0, 1, 3}), node.resultShape());
  if (node.has(3))
    y = b.add(y, perChannel(b, b.cast(node.value(3), type), node.resultShape()));
  return node.result(0, b.cast(y, element));
}

} // namespace

void addRegionsOperators(Operators &operators) {
  operators.add("RoiAlign", 10, {.infer = inferRoiAlign, .convert = convertRoiAlign});
  operators.add("MaxRoiPool", 1, {.infer = inferMaxRoiPool, .convert = convertMaxRoiPool});
  operators.add("DeformConv", 19,
                {.infer = inferDeformConv,
                 .convert = convertDeformConv,
                 .roles = {{0, OperandRole::Factor},
                           {1, OperandRole::Factor},
                           {2, OperandRole::BiasOrScale},
                           {3, OperandRole::BiasOrScale},
                           {4, OperandRole::BiasOrScale}}});
}

} // namespace mtc::onnx
