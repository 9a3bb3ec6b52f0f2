//===- MovementOps.cpp - Slice, pad, reverse, concatenate -------------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Scalar.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mtc;

static SmallVector<AffineExpr> dims(KernelBuilder &kernel, int64_t rank) {
  return llvm::map_to_vector(llvm::seq<int64_t>(rank), [&](int64_t i) { return kernel.dim(i); });
}

//===------------------------------------------------------------------------------------------===//
// Slice
//===------------------------------------------------------------------------------------------===//

LogicalResult SliceOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  int64_t rank = input.getRank();
  ArrayRef<int64_t> offsets = getOffsets(), strides = getStrides();
  if (static_cast<int64_t>(offsets.size()) != rank ||
      static_cast<int64_t>(strides.size()) != rank ||
      llvm::any_of(offsets, [](int64_t o) { return o < 0; }) ||
      llvm::any_of(strides, [](int64_t s) { return s < 1; }))
    return emitOpError() << "offsets " << toText(offsets) << " and strides " << toText(strides)
                         << " must be " << rank
                         << " each, offsets not negative, strides positive (slice_c1)";
  if (result.getRank() != rank || result.getElementType() != input.getElementType())
    return emitOpError() << "result is " << result << ", expected rank " << rank << " and elements "
                         << input.getElementType() << " (slice_c2)";
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t extent = input.getDimSize(axis), size = result.getDimSize(axis);
    // Compares the quotient and not the product, which might overflow.
    bool fits = size == 0 ? offsets[axis] <= extent
                          : offsets[axis] < extent &&
                                size - 1 <= (extent - 1 - offsets[axis]) / strides[axis];
    if (!fits)
      return emitOpError() << "axis " << axis << " has extent " << extent << ", too short for "
                           << size << " elements from " << offsets[axis] << " by " << strides[axis]
                           << " (slice_c2)";
  }
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType()) // Only a slice of the whole tensor has its type.
    return getInput();
  return foldStrided(adaptor.getInput(), getType(), getLayout());
}

StridedLayout SliceOp::getLayout() {
  StridedLayout layout{0, rowMajorStrides(shapeOf(getInput()))};
  for (auto [stride, offset, step] : llvm::zip_equal(layout.strides, getOffsets(), getStrides())) {
    layout.offset += offset * stride;
    stride *= step;
  }
  return layout;
}

/// y[i] = x[offset + i * stride]; dx is dy at these positions and 0 elsewhere.
void SliceOp::buildGradient(GradientBuilder &g) {
  SmallVector<int64_t> high, interior;
  ArrayRef<int64_t> from = shapeOf(getInput()), to = getType().getShape();
  if (llvm::is_contained(to, 0)) {
    g.set(0, g.splat(getInput().getType(), 0.0));
    return;
  }
  for (auto [extent, size, offset, stride] :
       llvm::zip_equal(from, to, getOffsets(), getStrides())) {
    high.push_back(extent - 1 - (offset + (size - 1) * stride));
    interior.push_back(size == 1 ? 0 : stride - 1);
  }
  g.set(0, g.pad(g.cotangent(0), getOffsets(), high, interior));
}

FusibleShape SliceOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *SliceOp::buildKernel(OpBuilder &builder) {
  int64_t rank = getType().getRank();
  KernelBuilder kernel(builder, *this, getType().getShape());
  SmallVector<AffineExpr> index;
  for (int64_t axis = 0; axis < rank; ++axis)
    index.push_back(kernel.dim(axis) * getStrides()[axis] + getOffsets()[axis]);
  Value value = kernel.load(0, index);
  return kernel.yield(value, dims(kernel, rank));
}

namespace {

/// slice(slice(x)) => slice(x).
struct ComposeSlices : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<SliceOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is no slice");
    SmallVector<int64_t> offsets, strides;
    for (int64_t axis = 0; axis < op.getType().getRank(); ++axis) {
      int64_t size = op.getType().getDimSize(axis);
      // The stride is irrelevant for at most one element; 1 avoids overflow of the product.
      std::optional<int64_t> shift =
          llvm::checkedMul(op.getOffsets()[axis], inner.getStrides()[axis]);
      std::optional<int64_t> stride =
          size <= 1 ? 1 : llvm::checkedMul(op.getStrides()[axis], inner.getStrides()[axis]);
      if (!shift || !stride || size == 0)
        return rewriter.notifyMatchFailure(op, "nothing is read");
      offsets.push_back(inner.getOffsets()[axis] + *shift);
      strides.push_back(*stride);
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getInput(), offsets, strides);
    return success();
  }
};

/// slice(concatenate(.., x, ..)) => slice(x), if only elements of x are read.
struct SliceOfOneOperand : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto concatenate = op.getInput().getDefiningOp<ConcatenateOp>();
    if (!concatenate)
      return rewriter.notifyMatchFailure(op, "operand is no concatenate");
    int64_t axis = concatenate.getAxis(), size = op.getType().getDimSize(axis);
    if (size == 0)
      return rewriter.notifyMatchFailure(op, "nothing is read");
    int64_t first = op.getOffsets()[axis], last = first + (size - 1) * op.getStrides()[axis];
    int64_t begin = 0;
    for (Value input : concatenate.getInputs()) {
      int64_t end = begin + shapeOf(input)[axis];
      if (begin <= first && last < end) {
        SmallVector<int64_t> offsets = llvm::to_vector(op.getOffsets());
        offsets[axis] -= begin;
        rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), input, offsets, op.getStrides());
        return success();
      }
      begin = end;
    }
    return rewriter.notifyMatchFailure(op, "several operands are read");
  }
};

} // namespace

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeSlices, SliceOfOneOperand>(context);
}

//===------------------------------------------------------------------------------------------===//
// Pad
//===------------------------------------------------------------------------------------------===//

/// Returns low + n + (n - 1) * interior + high, or nullopt if it does not fit into 64 bits.
static std::optional<int64_t> paddedExtent(int64_t extent, int64_t low, int64_t high,
                                           int64_t interior) {
  std::optional<int64_t> spread = llvm::checkedMul(std::max<int64_t>(extent - 1, 0), interior);
  for (int64_t part : {extent, low, high})
    if (spread)
      spread = llvm::checkedAdd(*spread, part);
  return spread;
}

LogicalResult PadOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  size_t rank = input.getRank();
  for (auto [name, values] :
       {std::pair("low", getLow()), {"high", getHigh()}, {"interior", getInterior()}})
    if (values.size() != rank || llvm::any_of(values, [](int64_t v) { return v < 0; }))
      return emitOpError() << name << " " << toText(values) << " must hold " << rank
                           << " numbers that are not negative (pad_c1)";
  if (result.getRank() != input.getRank() || result.getElementType() != input.getElementType())
    return emitOpError() << "result is " << result << ", expected rank " << rank << " and elements "
                         << input.getElementType() << " (pad_c2)";
  for (size_t axis = 0; axis < rank; ++axis) {
    std::optional<int64_t> expected =
        paddedExtent(input.getDimSize(axis), getLow()[axis], getHigh()[axis], getInterior()[axis]);
    if (!expected)
      return emitOpError() << "the result's extent along axis " << axis
                           << " does not fit into 64 bits (pad_c2)";
    if (*expected != result.getDimSize(axis))
      return emitOpError() << "result has extent " << result.getDimSize(axis) << " along axis "
                           << axis << ", expected " << *expected << " (pad_c2)";
  }
  if (getValue().getType() != input.getElementType())
    return emitOpError() << "value is " << getValue().getType() << ", expected "
                         << input.getElementType() << " (pad_c3)";
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (getInput().getType().getNumElements() == 0)
    return DenseElementsAttr::get(getType(), getValue());
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getInput());
      splat && splat.getSplatValue<Attribute>() == getValue())
    return splat.resizeSplat(getType());
  return {};
}

/// y[low + i * (interior + 1)] = x[i]; dx is dy at these positions.
void PadOp::buildGradient(GradientBuilder &g) {
  SmallVector<int64_t> strides =
      llvm::map_to_vector(getInterior(), [](int64_t interior) { return interior + 1; });
  g.set(0, g.slice(g.cotangent(0), getLow(), shapeOf(getInput()), strides));
}

FusibleShape PadOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *PadOp::buildKernel(OpBuilder &builder) {
  RankedTensorType type = getType();
  KernelBuilder kernel(builder, *this, type.getShape());
  SmallVector<AffineExpr> index;
  Value guard;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    int64_t low = getLow()[axis], step = getInterior()[axis] + 1;
    AffineExpr shifted = kernel.dim(axis) - low;
    index.push_back(shifted.floorDiv(step));
    if (low > 0)
      guard = kernel.require(guard, arith::CmpIPredicate::sge, shifted, 0);
    if (getHigh()[axis] > 0)
      guard = kernel.require(guard, arith::CmpIPredicate::slt, shifted,
                             (shapeOf(getInput())[axis] - 1) * step + 1);
    if (step > 1)
      guard = kernel.require(guard, arith::CmpIPredicate::eq, shifted % step, 0);
  }
  Value value;
  if (guard) {
    Value otherwise = scalarConstant(kernel.body(), getLoc(), getValue(), type.getElementType());
    value = kernel.loadIf(guard, otherwise, 0, index);
  } else {
    value = kernel.load(0, index);
  }
  return kernel.yield(value, dims(kernel, type.getRank()));
}

//===------------------------------------------------------------------------------------------===//
// Reverse
//===------------------------------------------------------------------------------------------===//

LogicalResult ReverseOp::verify() {
  if (!ascendWithin(getAxes(), getType().getRank()))
    return emitOpError() << "axes " << toText(getAxes())
                         << " must be ascending axes of a tensor of rank " << getType().getRank()
                         << " (reverse_c1)";
  return success();
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> shape = getType().getShape();
  if (llvm::all_of(getAxes(), [&](int64_t axis) { return shape[axis] == 1; }))
    return getInput();
  // reverse(reverse(x)) => x
  if (auto inner = getInput().getDefiningOp<ReverseOp>(); inner && inner.getAxes() == getAxes())
    return inner.getInput();
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  int64_t base = 0;
  for (int64_t axis : getAxes()) {
    base += (shape[axis] - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return foldStrided(adaptor.getInput(), getType(), {base, strides});
}

/// y = x reversed; dx = dy reversed.
void ReverseOp::buildGradient(GradientBuilder &g) {
  g.set(0, g.reverse(g.cotangent(0), getAxes()));
}

FusibleShape ReverseOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *ReverseOp::buildKernel(OpBuilder &builder) {
  int64_t rank = getType().getRank();
  KernelBuilder kernel(builder, *this, getType().getShape());
  SmallVector<AffineExpr> index = dims(kernel, rank);
  for (int64_t axis : getAxes())
    index[axis] = getType().getDimSize(axis) - 1 - index[axis];
  Value value = kernel.load(0, index);
  return kernel.yield(value, dims(kernel, rank));
}

//===------------------------------------------------------------------------------------------===//
// Concatenate
//===------------------------------------------------------------------------------------------===//

LogicalResult ConcatenateOp::verify() {
  RankedTensorType result = getType();
  int64_t axis = getAxis();
  if (getInputs().empty())
    return emitOpError() << "has no operand, expected one at least (concatenate_c1)";
  for (auto [i, input] : llvm::enumerate(getInputs()))
    if (typeOf(input).getRank() != result.getRank() ||
        typeOf(input).getElementType() != result.getElementType())
      return emitOpError() << "operand " << i << " is " << input.getType() << ", expected rank "
                           << result.getRank() << " and elements " << result.getElementType()
                           << " (concatenate_c1)";
  if (axis < 0 || axis >= result.getRank())
    return emitOpError() << "axis " << axis << " is not within rank " << result.getRank()
                         << " (concatenate_c2)";
  int64_t sum = 0;
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    SmallVector<int64_t> expected = llvm::to_vector(result.getShape());
    expected[axis] = shapeOf(input)[axis];
    if (shapeOf(input) != ArrayRef<int64_t>(expected))
      return emitOpError() << "operand " << i << " has extents " << toText(shapeOf(input))
                           << ", expected " << toText(expected) << " (concatenate_c3)";
    std::optional<int64_t> next = llvm::checkedAdd(sum, expected[axis]);
    if (!next)
      return emitOpError() << "the extents along axis " << axis
                           << " do not fit into 64 bits (concatenate_c3)";
    sum = *next;
  }
  if (sum != result.getDimSize(axis))
    return emitOpError() << "result has extent " << result.getDimSize(axis) << " along axis "
                         << axis << ", expected " << sum << " (concatenate_c3)";
  return success();
}

OpFoldResult ConcatenateOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1)
    return getInputs().front();
  // Removes operands without elements, unless all operands are empty.
  SmallVector<Value> filled = llvm::filter_to_vector(
      getInputs(), [&](Value input) { return shapeOf(input)[getAxis()] != 0; });
  if (!filled.empty() && filled.size() < getInputs().size()) {
    getInputsMutable().assign(filled);
    return getResult();
  }
  auto first = dyn_cast_if_present<SplatElementsAttr>(adaptor.getInputs().front());
  if (!first)
    return {};
  for (Attribute input : adaptor.getInputs()) {
    auto splat = dyn_cast_if_present<SplatElementsAttr>(input);
    if (!splat || splat.getSplatValue<Attribute>() != first.getSplatValue<Attribute>())
      return {};
  }
  return first.resizeSplat(getType());
}

/// y is the concatenation of the operands; each operand's gradient is its slice of dy.
void ConcatenateOp::buildGradient(GradientBuilder &g) {
  int64_t rank = getType().getRank();
  SmallVector<int64_t> offsets(rank, 0), strides(rank, 1);
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (g.needs(i))
      g.set(i, g.slice(g.cotangent(0), offsets, shapeOf(input), strides));
    offsets[getAxis()] += shapeOf(input)[getAxis()];
  }
}

FusibleShape ConcatenateOp::getFusibleShape() { return FusibleShape::Elementwise; }

/// Each operand is loaded in the iterations of its part of the result; elsewhere the value is that
/// of the preceding operands.
Operation *ConcatenateOp::buildKernel(OpBuilder &builder) {
  RankedTensorType type = getType();
  int64_t rank = type.getRank();
  KernelBuilder kernel(builder, *this, type.getShape());
  AffineExpr along = kernel.dim(getAxis());
  Value value = scalarConstant(kernel.body(), getLoc(), getScalarType(type.getElementType()), 0);
  int64_t begin = 0, total = type.getDimSize(getAxis());
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    int64_t end = begin + shapeOf(input)[getAxis()];
    SmallVector<AffineExpr> index = dims(kernel, rank);
    index[getAxis()] = along - begin;
    Value guard;
    if (begin > 0)
      guard = kernel.require(guard, arith::CmpIPredicate::sge, along, begin);
    if (end < total)
      guard = kernel.require(guard, arith::CmpIPredicate::slt, along, end);
    if (begin < end)
      value = guard ? kernel.loadIf(guard, value, i, index) : kernel.load(i, index);
    begin = end;
  }
  return kernel.yield(value, dims(kernel, rank));
}
