//===- Sampling.cpp - GridSample and AffineGrid -----------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Indices.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/Taps.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

//===--- GridSample ---------------------------------------------------------------------------===//

/// Interpolation parameters of GridSample.
struct Sampling {
  enum class Mode { Nearest, Linear, Cubic } mode;
  enum class Outside { Zeros, Border, Reflection } outside;
  bool alignsCorners; ///< Whether -1 and 1 are the centers of the border elements instead of their
                      ///< edges.

  static FailureOr<Sampling> read(NodeView &node) {
    StringRef linear = node.version() < 20 ? "bilinear" : "linear";
    StringRef cubic = node.version() < 20 ? "bicubic" : "cubic";
    StringRef mode = node.choice("mode", linear, {"nearest", linear, cubic});
    StringRef outside = node.choice("padding_mode", "zeros", {"zeros", "border", "reflection"});
    bool alignsCorners = node.flag("align_corners", false);
    if (node.failed())
      return failure();
    return Sampling{mode == "nearest" ? Mode::Nearest
                    : mode == linear  ? Mode::Linear
                                      : Mode::Cubic,
                    outside == "zeros"    ? Outside::Zeros
                    : outside == "border" ? Outside::Border
                                          : Outside::Reflection,
                    alignsCorners};
  }

  /// Returns the number of taps along each axis.
  int64_t taps() const { return mode == Mode::Nearest ? 1 : mode == Mode::Linear ? 2 : 4; }
};

/// X [N, C, …], grid [N, output…, spatial rank].
LogicalResult inferGridSample(Inference &node) {
  if (!node.hasRank(0, 3) || !node.hasRank(1, node.rank(0), node.rank(0)))
    return failure();
  if (failed(Sampling::read(node)))
    return failure();
  if (node.dim(1, 0) != node.dim(0, 0) || node.shape(1).back() != node.rank(0) - 2)
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected " + Twine(node.dim(0, 0)) + " first and " +
                        Twine(node.rank(0) - 2) + " last");
  for (int64_t axis : llvm::seq<int64_t>(2, node.rank(0)))
    if (node.dim(0, axis) == 0)
      return node.failure("samples axis " + Twine(axis) + ", which is empty");
  Extents shape(node.shape(0).take_front(2));
  llvm::append_range(shape, node.shape(1).drop_front().drop_back());
  return node.result(0, node.elementType(0), shape);
}

/// Builds the taps along one sampled axis.
class SampledAxis {
public:
  SampledAxis(TensorBuilder &b, const Sampling &sampling, int64_t extent)
      : b(b), sampling(sampling), extent(extent) {}

  /// Returns the taps at `grid`, normalized coordinates from -1 to 1.
  SmallVector<Tap> tapsAt(Value grid) {
    auto count = static_cast<double>(extent);
    Value place = sampling.alignsCorners ? times(plus(grid, 1), (count - 1) / 2)
                                         : plus(times(plus(grid, 1), count / 2), -0.5);
    // The taps of a cubic are mapped into bounds individually.
    if (sampling.mode != Sampling::Mode::Cubic)
      place = inside(place);
    if (sampling.mode == Sampling::Mode::Nearest)
      return {tapAt(b, RoundOp::create(b, place), b.splat(place, 1.0), extent)};
    if (sampling.mode == Sampling::Mode::Linear)
      return llvm::to_vector(linearTaps(b, place, extent));
    Value first = FloorOp::create(b, place);
    Value fraction = b.sub(place, first);
    SmallVector<Tap> taps;
    for (int64_t i = -1; i < 3; ++i) {
      Value distance = i <= 0 ? plus(fraction, static_cast<double>(-i))
                              : plus(b.neg(fraction), static_cast<double>(i));
      taps.push_back(tapAt(b, inside(plus(first, static_cast<double>(i))),
                           i == 0 || i == 1 ? near(distance) : far(distance), extent));
    }
    return taps;
  }

private:
  Value plus(Value x, double by) { return b.add(x, b.splat(x, by)); }
  Value times(Value x, double by) { return b.mul(x, b.splat(x, by)); }

  /// Keys' cubic convolution with a = -3/4, for distances in [0, 1] (`near`) and [1, 2] (`far`).
  Value near(Value x) {
    Value sum = plus(times(x, 1.25), -2.25);
    return plus(b.mul(b.mul(sum, x), x), 1);
  }
  Value far(Value x) {
    Value sum = plus(b.mul(plus(times(x, -0.75), 3.75), x), -6);
    return plus(b.mul(sum, x), 3);
  }

  /// Maps a coordinate into bounds, depending on the padding mode. As in PyTorch, the derivative at
  /// the border is 0, as it is outside.
  Value inside(Value place) {
    if (sampling.outside == Sampling::Outside::Zeros)
      return place;
    if (sampling.outside == Sampling::Outside::Reflection)
      place = reflected(place);
    Value low = b.splat(place, 0.0), high = b.splat(place, static_cast<double>(extent - 1));
    return b.select(b.compare(Predicate::Le, place, low), low,
                    b.select(b.compare(Predicate::Ge, place, high), high, place));
  }

  /// Reflects a coordinate at both ends as often as needed: at the centers of the border elements,
  /// or at their edges.
  Value reflected(Value place) {
    auto count = static_cast<double>(extent);
    double low = sampling.alignsCorners ? 0 : -0.5,
           span = sampling.alignsCorners ? count - 1 : count;
    if (span == 0)
      return b.splat(place, 0.0);
    // A triangle wave with period 2 · span.
    Value x = b.abs(plus(place, -low));
    Value periods = FloorOp::create(b, times(x, 0.5 / span));
    x = b.sub(x, times(periods, 2 * span));
    Value back = plus(b.neg(x), 2 * span);
    return plus(b.select(b.compare(Predicate::Gt, x, b.splat(x, span)), back, x), low);
  }

  TensorBuilder &b;
  const Sampling &sampling;
  int64_t extent;
};

/// y[n, c, p] = sum over taps of the element, weighted by the product of the tap's weights along
/// each axis. The last axis of the grid starts with the coordinate of the last spatial axis.
LogicalResult convertGridSample(Conversion &node) {
  FailureOr<Sampling> sampling = Sampling::read(node);
  if (failed(sampling))
    return failure();
  TensorBuilder &b = node.b;
  int64_t batch = node.dim(0, 0), channels = node.dim(0, 1), rank = node.rank(0) - 2;
  ArrayRef<int64_t> spatial = node.shape(0).drop_front(2);
  int64_t elements = elementCount(spatial);
  int64_t places = elementCount(node.shape(1).drop_front().drop_back());
  int64_t combinations = 1;
  for (int64_t i = 0; i < rank; ++i)
    combinations *= sampling->taps();
  constexpr int64_t maximum = 64;
  if (combinations > maximum)
    return node.failure("reads " + Twine(combinations) +
                        " elements for each output point, expected at most " + Twine(maximum));
  Type element = node.elementType(0);
  Value grid =
      b.cast(b.reshape(node.value(1), {batch, places, rank}), computeType(b, node.elementType(1)));
  SmallVector<SmallVector<Tap>> taps;
  for (int64_t axis = 0; axis < rank; ++axis) {
    Value place = b.slice(grid, {0, 0, rank - 1 - axis}, {batch, places, 1}, {1, 1, 1});
    taps.push_back(
        SampledAxis(b, *sampling, spatial[axis]).tapsAt(b.reshape(place, {batch, places})));
  }
  // Channels-last, so that one gather reads all channels of a sample.
  Value x = b.transpose(b.reshape(node.value(0), {batch, channels, elements}), {0, 2, 1});
  x = b.cast(x, computeType(b, element));
  Type sumType = typeOf(x).getElementType();
  Value sum;
  for (int64_t combination = 0; combination < combinations; ++combination) {
    Value index, weight;
    int64_t rest = combination;
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
      const Tap &tap = taps[axis][rest % sampling->taps()];
      rest /= sampling->taps();
      int64_t stride = elementCount(spatial.drop_front(axis + 1));
      Value part = stride == 1 ? tap.index
                               : b.mul(tap.index, b.splat(tap.index, static_cast<double>(stride)));
      index = index ? b.add(index, part) : part;
      weight = weight ? b.mul(weight, tap.weight) : tap.weight;
    }
    Value read = b.gather(x, index, 1, 1);
    read = b.mul(read, b.broadcast(b.cast(weight, sumType), {2}, shapeOf(read)));
    sum = sum ? b.add(sum, read) : read;
  }
  Value y = b.cast(b.transpose(sum, {0, 2, 1}), element);
  return node.result(0, b.reshape(y, node.resultShape()));
}

//===--- AffineGrid ---------------------------------------------------------------------------===//

/// theta [N, r, r + 1], size (N, C and r extents), result [N, extents…, r].
LogicalResult inferAffineGrid(Inference &node) {
  node.flag("align_corners", false);
  std::optional<Extents> size = node.constantInts(1);
  if (!size)
    return node.needsConstant(1);
  if (!node.hasRank(0, 3, 3) || node.failed())
    return failure();
  auto rank = static_cast<int64_t>(size->size()) - 2;
  if (rank != 2 && rank != 3)
    return node.failure(Twine(node.operandName(1)) + " = " + shapeText(*size) +
                        ", expected 4 or 5 extents");
  if (llvm::any_of(*size, [](int64_t extent) { return extent < 1; }))
    return node.failure(Twine(node.operandName(1)) + " = " + shapeText(*size) +
                        ", expected positive extents");
  if (node.shape(0) != ArrayRef<int64_t>({size->front(), rank, rank + 1}))
    return node.failure(Twine(node.operandName(0)) + " has shape " + shapeText(node.shape(0)) +
                        ", expected " + shapeText({size->front(), rank, rank + 1}));
  Extents shape{size->front()};
  llvm::append_range(shape, ArrayRef(*size).drop_front(2));
  shape.push_back(rank);
  return node.result(0, node.elementType(0), shape);
}

/// grid[n, p…] = theta[n] · (coordinates of p, last axis first; 1).
LogicalResult convertAffineGrid(Conversion &node) {
  bool alignsCorners = node.flag("align_corners", false);
  TensorBuilder &b = node.b;
  Type element = node.elementType(0);
  Value theta = b.cast(node.value(0), computeType(b, element));
  ArrayRef<int64_t> shape = node.resultShape();
  auto rank = static_cast<int64_t>(shape.size()) - 2, batch = shape.front();
  auto type = RankedTensorType::get(shape, typeOf(theta).getElementType());
  Extents spatialAxes = llvm::to_vector(llvm::seq<int64_t>(1, rank + 1));
  // Returns column k of theta, broadcast to all positions.
  auto column = [&](int64_t k) {
    Value values = b.reshape(b.slice(theta, {0, 0, k}, {batch, rank, 1}, {1, 1, 1}), {batch, rank});
    return b.broadcast(values, spatialAxes, shape);
  };
  Value grid = column(rank);
  for (int64_t k = 0; k < rank; ++k) {
    int64_t axis = rank - k;
    auto extent = static_cast<double>(shape[axis]);
    double step = alignsCorners ? (extent > 1 ? 2 / (extent - 1) : 0) : 2 / extent;
    double first = alignsCorners ? -1 : 1 / extent - 1;
    Value place = b.iota(type, axis);
    place = b.add(b.mul(place, b.splat(place, step)), b.splat(place, first));
    grid = b.add(grid, b.mul(column(k), place));
  }
  return node.result(0, b.cast(grid, element));
}

} // namespace

void addSamplingOperators(Operators &operators) {
  operators.add("GridSample", 16, {.infer = inferGridSample, .convert = convertGridSample});
  operators.add("AffineGrid", 20, {.infer = inferAffineGrid, .convert = convertAffineGrid});
}

} // namespace mtc::onnx
