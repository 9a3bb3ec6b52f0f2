//===- WindowOps.cpp - Sliding windows and their adjoint --------------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Scalar.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <numeric>

using namespace mlir;
using namespace mtc;

namespace {

/// Windows along one axis: `position` and `tap` are axes of the tensor of windows.
struct Slide {
  int64_t position, tap;
  int64_t positions, taps; ///< Extents of these axes.
  int64_t stride, dilation;

  /// Returns the index of the last tap of the last window, or -1 if there are no taps; nullopt if
  /// it does not fit into 64 bits.
  std::optional<int64_t> last() const {
    if (positions == 0 || taps == 0)
      return -1;
    std::optional<int64_t> first = llvm::checkedMul(positions - 1, stride),
                           reach = llvm::checkedMul(taps - 1, dilation);
    return first && reach ? llvm::checkedAdd(*first, *reach) : std::nullopt;
  }

  /// Returns whether windows are contiguous without inner gaps, so that a reshape splits them. With
  /// a single tap, a slice removes the gaps between windows.
  bool tiles() const { return taps == 1 || (dilation == 1 && stride == taps); }
  /// Returns the extent of the axis without the gaps between windows.
  int64_t tiledExtent() const { return positions * taps; }
  int64_t gap() const { return taps == 1 ? stride : 1; }
};

/// Returns the slides of `windows`, whose last axes are the taps.
template <typename Op> SmallVector<Slide> slidesOf(Op op, RankedTensorType windows) {
  SmallVector<Slide> slides;
  int64_t tap = windows.getRank() - op.getAxes().size();
  for (auto [axis, stride, dilation] :
       llvm::zip_equal(op.getAxes(), op.getStrides(), op.getDilations())) {
    slides.push_back(
        {axis, tap, windows.getDimSize(axis), windows.getDimSize(tap), stride, dilation});
    ++tap;
  }
  return slides;
}

/// Verifies the axes, strides and dilations of `windows` along `slid`.
template <typename Op>
LogicalResult verifyWindows(Op op, RankedTensorType windows, RankedTensorType slid,
                            StringRef name) {
  ArrayRef<int64_t> axes = op.getAxes();
  auto arePositive = [&](ArrayRef<int64_t> values) {
    return values.size() == axes.size() && llvm::all_of(values, [](int64_t v) { return v > 0; });
  };
  if (!ascendWithin(axes, slid.getRank()) || !arePositive(op.getStrides()) ||
      !arePositive(op.getDilations()))
    return op.emitOpError() << "has axes " << toText(axes) << ", strides "
                            << toText(op.getStrides()) << " and dilations "
                            << toText(op.getDilations())
                            << ", expected ascending axes of a tensor of rank " << slid.getRank()
                            << ", each with a positive stride and dilation (" << name << "_c1)";
  int64_t rank = slid.getRank();
  bool fits = windows.getRank() == rank + static_cast<int64_t>(axes.size()) &&
              windows.getElementType() == slid.getElementType();
  for (int64_t axis = 0; fits && axis < rank; ++axis)
    fits = llvm::is_contained(axes, axis) || windows.getDimSize(axis) == slid.getDimSize(axis);
  if (!fits)
    return op.emitOpError() << "windows are " << windows << " along " << slid << ", expected "
                            << axes.size() << " axes more and equal extents on axes other than "
                            << toText(axes) << " (" << name << "_c2)";
  return success();
}

/// Returns whether slices, reshapes and transposes can extract all windows.
bool allTile(ArrayRef<Slide> slides) {
  return llvm::all_of(slides, [](const Slide &slide) { return slide.tiles(); });
}

/// Returns the extents of `shape` with each slid axis split into positions and taps, and the
/// permutation that moves the taps after the other axes.
std::pair<SmallVector<int64_t>, SmallVector<int64_t>> tiledShape(ArrayRef<int64_t> shape,
                                                                 ArrayRef<Slide> slides) {
  SmallVector<int64_t> extents, order, taps;
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    const auto *slide = llvm::find_if(
        slides, [&](const Slide &s) { return s.position == static_cast<int64_t>(axis); });
    order.push_back(extents.size());
    if (slide == slides.end()) {
      extents.push_back(extent);
      continue;
    }
    extents.push_back(slide->positions);
    taps.push_back(extents.size());
    extents.push_back(slide->taps);
  }
  llvm::append_range(order, taps);
  return {extents, order};
}

} // namespace

//===------------------------------------------------------------------------------------------===//
// Windows
//===------------------------------------------------------------------------------------------===//

LogicalResult WindowsOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  if (failed(verifyWindows(*this, result, input, "windows")))
    return failure();
  for (const Slide &slide : slidesOf(*this, result)) {
    std::optional<int64_t> last = slide.last();
    if (!last || *last >= input.getDimSize(slide.position))
      return emitOpError() << "axis " << slide.position << " has extent "
                           << input.getDimSize(slide.position) << ", too short for "
                           << slide.positions << " windows of " << slide.taps
                           << " taps with stride " << slide.stride << " and dilation "
                           << slide.dilation << " (windows_c3)";
  }
  return success();
}

OpFoldResult WindowsOp::fold(FoldAdaptor adaptor) {
  if (getAxes().empty())
    return getInput();
  return foldStrided(adaptor.getInput(), getType(), getLayout());
}

StridedLayout WindowsOp::getLayout() {
  StridedLayout layout{0, rowMajorStrides(shapeOf(getInput()))};
  for (const Slide &slide : slidesOf(*this, getType())) {
    int64_t &stride = layout.strides[slide.position];
    layout.strides.push_back(stride * slide.dilation);
    stride *= slide.stride;
  }
  return layout;
}

/// y[o, k] = x[o * stride + k * dilation]; dx sums dy where windows overlap.
void WindowsOp::buildGradient(GradientBuilder &g) {
  SmallVector<int64_t> offsets(getAxes().size(), 0);
  g.set(0, g.overlapAdd(g.cotangent(0), getAxes(), offsets, getStrides(), getDilations(),
                        shapeOf(getInput())));
}

FusibleShape WindowsOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *WindowsOp::buildKernel(OpBuilder &builder) {
  RankedTensorType type = getType();
  KernelBuilder kernel(builder, *this, type.getShape());
  SmallVector<AffineExpr> place, index;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    place.push_back(kernel.dim(axis));
  index.assign(place.begin(), place.begin() + getInput().getType().getRank());
  for (const Slide &slide : slidesOf(*this, type))
    index[slide.position] =
        place[slide.position] * slide.stride + place[slide.tap] * slide.dilation;
  return kernel.yield(kernel.load(0, index), place);
}

namespace {

/// windows(x) => transpose(reshape(slice(x))), if windows do not overlap.
struct WindowsThatTile : OpRewritePattern<WindowsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowsOp op, PatternRewriter &rewriter) const override {
    SmallVector<Slide> slides = slidesOf(op, op.getType());
    if (!allTile(slides))
      return rewriter.notifyMatchFailure(op, "windows overlap, or have gaps");
    TensorBuilder b(op.getLoc(), rewriter);
    int64_t rank = typeOf(op.getInput()).getRank();
    SmallVector<int64_t> sizes(shapeOf(op.getInput())), strides(rank, 1);
    for (const Slide &slide : slides) {
      sizes[slide.position] = slide.tiledExtent();
      strides[slide.position] = slide.gap();
    }
    Value tiles = b.slice(op.getInput(), SmallVector<int64_t>(rank, 0), sizes, strides);
    auto [extents, order] = tiledShape(sizes, slides);
    rewriter.replaceOp(op, b.transpose(b.reshape(tiles, extents), order));
    return success();
  }
};

} // namespace

void WindowsOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<WindowsThatTile>(context);
}

//===------------------------------------------------------------------------------------------===//
// Overlap-add
//===------------------------------------------------------------------------------------------===//

LogicalResult OverlapAddOp::verify() {
  RankedTensorType windows = getInput().getType(), result = getType();
  if (failed(verifyWindows(*this, windows, result, "overlap_add")))
    return failure();
  if (getOffsets().size() != getAxes().size() ||
      llvm::any_of(getOffsets(), [](int64_t offset) { return offset < 0; }))
    return emitOpError() << "offsets " << toText(getOffsets()) << " must hold " << getAxes().size()
                         << " numbers that are not negative (overlap_add_c1)";
  for (auto [slide, offset] : llvm::zip_equal(slidesOf(*this, windows), getOffsets()))
    if (!slide.last() || !llvm::checkedAdd(offset, result.getDimSize(slide.position)))
      return emitOpError() << "along axis " << slide.position << " the positions of "
                           << slide.positions << " windows of " << slide.taps
                           << " taps with stride " << slide.stride << " and dilation "
                           << slide.dilation << ", or of " << result.getDimSize(slide.position)
                           << " elements from offset " << offset
                           << ", do not fit into 64 bits (overlap_add_c3)";
  return success();
}

Cost OverlapAddOp::getCost() {
  Cost cost = detail::defaultCost(*this);
  cost.flops = getInput().getType().getNumElements();
  return cost;
}

OpFoldResult OverlapAddOp::fold(FoldAdaptor adaptor) {
  if (getAxes().empty())
    return getInput();
  Type element = getType().getElementType();
  auto zeros = [&]() -> Attribute {
    return DenseElementsAttr::get(getType(), OpBuilder(getContext()).getZeroAttr(element));
  };
  if (getInput().getType().getNumElements() == 0)
    return zeros();
  auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getInput());
  if (splat && (matchPattern(splat, m_AnyZeroFloat()) || matchPattern(splat, m_Zero())))
    return zeros();
  return {};
}

/// x[i] sums y[o, k] with o * stride + k * dilation = offset + i; dy is the windows of dx, padded
/// with zeros where sums were discarded.
void OverlapAddOp::buildGradient(GradientBuilder &g) {
  int64_t rank = getType().getRank();
  SmallVector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0), positions, taps;
  for (auto [slide, offset] :
       llvm::zip_equal(slidesOf(*this, getInput().getType()), getOffsets())) {
    low[slide.position] = offset;
    high[slide.position] =
        std::max<int64_t>(0, *slide.last() + 1 - offset - getType().getDimSize(slide.position));
    positions.push_back(slide.positions);
    taps.push_back(slide.taps);
  }
  Value padded = g.pad(g.cotangent(0), low, high, interior);
  g.set(0, g.windows(padded, getAxes(), positions, taps, getStrides(), getDilations()));
}

FusibleShape OverlapAddOp::getFusibleShape() {
  return getInput().getType().getRank() == getType().getRank() ? FusibleShape::Elementwise
                                                               : FusibleShape::RowReduction;
}

namespace {

/// Returns the number b with a * b = 1 modulo m, for coprime a and m.
int64_t inverseModulo(int64_t a, int64_t m) {
  int64_t r = m, next = a % m, t = 0, nextT = 1;
  while (next != 0) {
    int64_t quotient = r / next;
    r = std::exchange(next, r - quotient * next);
    t = std::exchange(nextT, t - quotient * nextT);
  }
  return t < 0 ? t + m : t;
}

/// The taps k of windows o at index i: those with o * stride + k * dilation = i. Let g be the
/// greatest common divisor of stride and dilation. If g does not divide i, there are no such taps.
/// Otherwise, they are every (stride / g)-th tap, and the first one is less than stride / g.
struct TapsAtPlace {
  int64_t divisor, step, count; ///< g, stride / g, and the maximum number of taps.
  AffineExpr tap, window;       ///< Indices of the j-th tap.

  TapsAtPlace(const Slide &slide, AffineExpr place, AffineExpr j)
      : divisor(std::gcd(slide.stride, slide.dilation)), step(slide.stride / divisor),
        count(llvm::divideCeil(slide.taps, step)) {
    int64_t dilation = slide.dilation / divisor;
    AffineExpr first = (place.floorDiv(divisor) * inverseModulo(dilation, step)) % step;
    tap = first + j * step;
    window = (place - first * slide.dilation).floorDiv(slide.stride) - j * dilation;
  }
};

} // namespace

/// A row reduction over the taps that may contribute to an element.
Operation *OverlapAddOp::buildKernel(OpBuilder &builder) {
  RankedTensorType type = getType();
  SmallVector<Slide> slides = slidesOf(*this, getInput().getType());
  SmallVector<int64_t> space(type.getShape()), reduced;
  auto tapsAt = [&](unsigned i, int64_t offset) {
    MLIRContext *context = getContext();
    return TapsAtPlace(slides[i], getAffineDimExpr(slides[i].position, context) + offset,
                       getAffineDimExpr(type.getRank() + i, context));
  };
  for (unsigned i = 0; i < slides.size(); ++i) {
    reduced.push_back(space.size());
    space.push_back(tapsAt(i, 0).count);
  }

  KernelBuilder kernel(builder, *this, space, reduced);
  SmallVector<AffineExpr> place, index;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    place.push_back(kernel.dim(axis));
  index = place;
  Value guard;
  for (auto [i, slide, offset] : llvm::enumerate(slides, getOffsets())) {
    TapsAtPlace taps = tapsAt(i, offset);
    index[slide.position] = taps.window;
    index.push_back(taps.tap);
    if (taps.divisor > 1)
      guard = kernel.require(guard, arith::CmpIPredicate::eq,
                             (place[slide.position] + offset) % taps.divisor, 0);
    if (slide.taps % taps.step != 0)
      guard = kernel.require(guard, arith::CmpIPredicate::slt, taps.tap, slide.taps);
    if (taps.count > 1 || (taps.step > 1 && slide.dilation > 1))
      guard = kernel.require(guard, arith::CmpIPredicate::sge, taps.window, 0);
    if ((offset + type.getDimSize(slide.position) - 1) / slide.stride >= slide.positions)
      guard = kernel.require(guard, arith::CmpIPredicate::slt, taps.window, slide.positions);
  }
  Value value;
  if (guard) {
    Value zero = scalarConstant(kernel.body(), getLoc(), getScalarType(type.getElementType()), 0);
    value = kernel.loadIf(guard, zero, 0, index);
  } else {
    value = kernel.load(0, index);
  }
  return kernel.yield(kernel.reduce(ReductionKind::Add, value), place);
}

namespace {

/// overlap_add(y) => pad(reshape(transpose(y))), if windows do not overlap and are complete.
struct OverlapAddOfTiles : OpRewritePattern<OverlapAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(OverlapAddOp op, PatternRewriter &rewriter) const override {
    SmallVector<Slide> slides = slidesOf(op, op.getInput().getType());
    auto isCut = [&](auto pair) {
      auto [slide, offset] = pair;
      return offset != 0 || *slide.last() >= op.getType().getDimSize(slide.position);
    };
    if (!allTile(slides) || llvm::any_of(llvm::zip_equal(slides, op.getOffsets()), isCut))
      return rewriter.notifyMatchFailure(op, "windows overlap, have gaps, or are cut");
    TensorBuilder b(op.getLoc(), rewriter);
    int64_t rank = op.getType().getRank();
    SmallVector<int64_t> sizes(op.getType().getShape()), low(rank, 0), high(rank, 0),
        interior(rank, 0);
    for (const Slide &slide : slides) {
      sizes[slide.position] = slide.tiledExtent();
      interior[slide.position] = slide.gap() - 1;
      high[slide.position] = op.getType().getDimSize(slide.position) - 1 - *slide.last();
    }
    SmallVector<int64_t> order = tiledShape(sizes, slides).second;
    Value tiles = b.transpose(op.getInput(), invertPermutationVector(order));
    rewriter.replaceOp(op, b.pad(b.reshape(tiles, sizes), low, high, interior));
    return success();
  }
};

/// slice(overlap_add(y)) => overlap_add(y) with another offset.
struct SliceOfOverlapAdd : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<OverlapAddOp>();
    if (!inner || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "operand is no overlap_add for this alone");
    SmallVector<int64_t> offsets(inner.getOffsets());
    for (auto [axis, offset, stride] : llvm::enumerate(op.getOffsets(), op.getStrides())) {
      const auto *position = llvm::find(inner.getAxes(), static_cast<int64_t>(axis));
      if (position != inner.getAxes().end() && stride == 1)
        offsets[position - inner.getAxes().begin()] += offset;
      else if (op.getType().getDimSize(axis) != shapeOf(inner)[axis])
        return rewriter.notifyMatchFailure(op, "another axis is cut, or elements are left out");
    }
    rewriter.replaceOpWithNewOp<OverlapAddOp>(op, op.getType(), inner.getInput(), inner.getAxes(),
                                              offsets, inner.getStrides(), inner.getDilations());
    return success();
  }
};

} // namespace

void OverlapAddOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<OverlapAddOfTiles, SliceOfOverlapAdd>(context);
}
