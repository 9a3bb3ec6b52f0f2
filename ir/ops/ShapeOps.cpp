//===- ShapeOps.cpp - Constants, index tensors, broadcast, reshape, transpose -----------------===//
//
// Slice, pad, reverse and concatenate are in MovementOps.cpp.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Scalar.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mtc;

/// Returns the dimensions of the space as an index.
static SmallVector<AffineExpr> dims(KernelBuilder &kernel, int64_t rank) {
  return llvm::map_to_vector(llvm::seq<int64_t>(rank), [&](int64_t i) { return kernel.dim(i); });
}

/// Ends a kernel whose element in each iteration is the operand's element at `index`.
static Operation *readAt(KernelBuilder &kernel, ArrayRef<AffineExpr> index, int64_t rank) {
  Value value = kernel.load(0, index);
  return kernel.yield(value, dims(kernel, rank));
}

//===------------------------------------------------------------------------------------------===//
// Constant
//===------------------------------------------------------------------------------------------===//

OpFoldResult mtc::ConstantOp::fold(FoldAdaptor) { return getValue(); }

FusibleShape mtc::ConstantOp::getFusibleShape() {
  return isa<SplatElementsAttr>(getValue()) ? FusibleShape::Elementwise : FusibleShape::Opaque;
}

Operation *mtc::ConstantOp::buildKernel(OpBuilder &builder) {
  RankedTensorType type = getType();
  auto splat = cast<SplatElementsAttr>(getValue());
  KernelBuilder kernel(builder, *this, type.getShape());
  Value value = scalarConstant(kernel.body(), getLoc(), splat.getSplatValue<Attribute>(),
                               type.getElementType());
  return kernel.yield(value, dims(kernel, type.getRank()));
}

//===------------------------------------------------------------------------------------------===//
// Iota
//===------------------------------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  int64_t rank = getType().getRank(), axis = getAxis();
  if (axis < 0 || axis >= rank)
    return emitOpError() << "axis " << axis << " is not within the result's rank " << rank
                         << " (iota_c1)";
  return success();
}

FusibleShape IotaOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *IotaOp::buildKernel(OpBuilder &builder) {
  RankedTensorType type = getType();
  KernelBuilder kernel(builder, *this, type.getShape());
  Value index = kernel.index(kernel.dim(getAxis()));
  Value value =
      convertScalar(kernel.body(), getLoc(), index, index.getType(), type.getElementType());
  return kernel.yield(value, dims(kernel, type.getRank()));
}

//===------------------------------------------------------------------------------------------===//
// Broadcast
//===------------------------------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  if (!ascendWithin(getAxes(), result.getRank()))
    return emitOpError() << "axes " << toText(getAxes())
                         << " must be ascending axes of the result, of rank " << result.getRank()
                         << " (broadcast_c1)";
  SmallVector<int64_t> kept = withoutAxes(result.getShape(), getAxes());
  if (ArrayRef<int64_t>(kept) != input.getShape())
    return emitOpError() << "operand has extents " << toText(input.getShape())
                         << ", expected the result's without the axes, " << toText(kept)
                         << " (broadcast_c2)";
  if (input.getElementType() != result.getElementType())
    return emitOpError() << "operand has elements " << input.getElementType()
                         << ", expected the result's, " << result.getElementType()
                         << " (broadcast_c2)";
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getAxes().empty())
    return getInput();
  return foldStrided(adaptor.getInput(), getType(), getLayout());
}

StridedLayout BroadcastOp::getLayout() {
  SmallVector<int64_t> strides(getType().getRank(), 0);
  SmallVector<int64_t> inputStrides = rowMajorStrides(shapeOf(getInput()));
  SmallVector<int64_t> kept = otherAxes(getType().getRank(), getAxes());
  for (auto [axis, stride] : llvm::zip_equal(kept, inputStrides))
    strides[axis] = stride;
  return {0, strides};
}

/// y = x repeated along `axes`; dx = sum of dy over `axes`.
void BroadcastOp::buildGradient(GradientBuilder &g) { g.set(0, g.sum(g.cotangent(0), getAxes())); }

FusibleShape BroadcastOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *BroadcastOp::buildKernel(OpBuilder &builder) {
  int64_t rank = getType().getRank();
  KernelBuilder kernel(builder, *this, getType().getShape());
  SmallVector<AffineExpr> index;
  for (int64_t axis : otherAxes(rank, getAxes()))
    index.push_back(kernel.dim(axis));
  return readAt(kernel, index, rank);
}

namespace {

/// broadcast(broadcast(x)) => broadcast(x).
struct ComposeBroadcasts : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<BroadcastOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is no broadcast");
    int64_t rank = op.getType().getRank();
    SmallVector<int64_t> middle = otherAxes(rank, op.getAxes()); // Axes of the inner result.
    SmallVector<int64_t> axes = llvm::to_vector(op.getAxes());
    llvm::append_range(axes, pick(middle, inner.getAxes()));
    llvm::sort(axes);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getInput(), axes);
    return success();
  }
};

/// broadcast(x) => reshape(x), if every new axis has extent 1.
struct BroadcastOfUnitsIsReshape : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    if (!llvm::all_of(op.getAxes(), [&](int64_t a) { return op.getType().getDimSize(a) == 1; }))
      return rewriter.notifyMatchFailure(op, "an axis repeats elements");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};

} // namespace

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeBroadcasts, BroadcastOfUnitsIsReshape>(context);
}

//===------------------------------------------------------------------------------------------===//
// Reshape
//===------------------------------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  std::optional<int64_t> from = countElements(input.getShape()),
                         to = countElements(result.getShape());
  if (!from || !to || *from != *to || input.getElementType() != result.getElementType())
    return emitOpError() << "cannot reshape " << input << " to " << result
                         << ": they must have equally many elements of the same type (reshape_c1)";
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (Attribute splat = foldSplat(adaptor.getInput(), getType()))
    return splat;
  if (auto elements = dyn_cast_if_present<DenseElementsAttr>(adaptor.getInput()))
    return elements.reshape(getType());
  return {};
}

/// y = x with other extents; dx = dy with the extents of x.
void ReshapeOp::buildGradient(GradientBuilder &g) {
  g.set(0, g.reshape(g.cotangent(0), shapeOf(getInput())));
}

FusibleShape ReshapeOp::getFusibleShape() { return FusibleShape::Elementwise; }

/// Computes the operand's index: axes of operand and result form groups with equal numbers of
/// elements. Within a group, the index is linearized over the result's axes and delinearized over
/// the operand's axes.
Operation *ReshapeOp::buildKernel(OpBuilder &builder) {
  ArrayRef<int64_t> from = shapeOf(getInput()), to = getType().getShape();
  int64_t fromRank = from.size(), toRank = to.size();
  KernelBuilder kernel(builder, *this, to);
  SmallVector<AffineExpr> index(fromRank, kernel.number(0));
  for (int64_t i = 0, j = 0; i < fromRank && j < toRank;) {
    int64_t fromBegin = i, toBegin = j, fromCount = from[i++], toCount = to[j++];
    while (fromCount != toCount)
      if (fromCount < toCount)
        fromCount *= from[i++];
      else
        toCount *= to[j++];
    AffineExpr linear = kernel.number(0);
    for (int64_t axis = toBegin; axis < j; ++axis)
      linear = linear * to[axis] + kernel.dim(axis);
    int64_t stride = 1;
    for (int64_t axis = i - 1; axis >= fromBegin; stride *= from[axis--])
      index[axis] = linear.floorDiv(stride) % from[axis];
  }
  AffineMap map = AffineMap::get(kernel.rank(), 0, index, getContext());
  return readAt(kernel, simplifyOverSpace(map, kernel.space()).getResults(), toRank);
}

namespace {

/// reshape(reshape(x)) => reshape(x).
struct ComposeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is no reshape");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getInput());
    return success();
  }
};

/// reshape(broadcast(x)) => broadcast(reshape(x)), if the reshape only inserts and removes axes of
/// extent 1: those of the result become broadcast axes, and those of x are removed.
struct MoveUnitReshapeBelowBroadcast : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getInput().getDefiningOp<BroadcastOp>();
    if (!broadcast)
      return rewriter.notifyMatchFailure(op, "operand is no broadcast");
    ArrayRef<int64_t> from = shapeOf(broadcast), to = op.getType().getShape();
    auto isLong = [](int64_t extent) { return extent != 1; };
    if (!llvm::equal(llvm::make_filter_range(from, isLong), llvm::make_filter_range(to, isLong)))
      return rewriter.notifyMatchFailure(op, "more than axes of extent 1 change");

    SmallVector<int64_t> kept, axes;
    for (auto [axis, extent] : llvm::enumerate(shapeOf(broadcast.getInput())))
      if (extent != 1)
        kept.push_back(extent);
    int64_t source = 0;
    for (auto [axis, extent] : llvm::enumerate(to)) {
      if (extent == 1) {
        axes.push_back(axis);
        continue;
      }
      while (from[source] == 1)
        ++source;
      if (llvm::is_contained(broadcast.getAxes(), source++))
        axes.push_back(axis);
    }
    Value input = broadcast.getInput();
    auto keptType = RankedTensorType::get(kept, op.getType().getElementType());
    if (input.getType() != keptType)
      input = ReshapeOp::create(rewriter, op.getLoc(), keptType, input);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), input, axes);
    return success();
  }
};

} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeReshapes, MoveUnitReshapeBelowBroadcast>(context);
}

//===------------------------------------------------------------------------------------------===//
// Transpose
//===------------------------------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  ArrayRef<int64_t> permutation = getPermutation();
  SmallVector<int64_t> sorted = llvm::to_vector(permutation);
  llvm::sort(sorted);
  if (static_cast<int64_t>(sorted.size()) != input.getRank() || !isIdentityPermutation(sorted))
    return emitOpError() << "permutation " << toText(permutation)
                         << " must hold each axis of the operand of rank " << input.getRank()
                         << " once (transpose_c1)";
  SmallVector<int64_t> expected = pick(input.getShape(), permutation);
  if (result.getShape() != ArrayRef<int64_t>(expected) ||
      result.getElementType() != input.getElementType())
    return emitOpError() << "result is " << result << ", expected extents " << toText(expected)
                         << " of " << input.getElementType() << " (transpose_c2)";
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (isIdentityPermutation(getPermutation()))
    return getInput();
  return foldStrided(adaptor.getInput(), getType(), getLayout());
}

StridedLayout TransposeOp::getLayout() {
  return {0, pick(rowMajorStrides(shapeOf(getInput())), getPermutation())};
}

/// y = x with permuted axes; dx = dy with the inverse permutation.
void TransposeOp::buildGradient(GradientBuilder &g) {
  g.set(0, g.transpose(g.cotangent(0), invertPermutationVector(getPermutation())));
}

FusibleShape TransposeOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *TransposeOp::buildKernel(OpBuilder &builder) {
  int64_t rank = getType().getRank();
  KernelBuilder kernel(builder, *this, getType().getShape());
  SmallVector<AffineExpr> index(rank);
  for (auto [axis, source] : llvm::enumerate(getPermutation()))
    index[source] = kernel.dim(axis);
  return readAt(kernel, index, rank);
}

namespace {

/// transpose(transpose(x)) => transpose(x).
struct ComposeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is no transpose");
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getInput(),
                                             pick(inner.getPermutation(), op.getPermutation()));
    return success();
  }
};

/// transpose(x) => reshape(x), if only axes of extent 1 are moved.
struct TransposeOfUnitsIsReshape : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    int64_t previous = -1;
    for (int64_t source : op.getPermutation()) {
      if (shapeOf(op.getInput())[source] == 1)
        continue;
      if (source < previous)
        return rewriter.notifyMatchFailure(op, "elements change their order");
      previous = source;
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};

/// transpose(broadcast(x)) => broadcast(transpose(x)), which moves fewer elements, or none if the
/// axes of x keep their order.
struct MoveTransposeBelowBroadcast : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getInput().getDefiningOp<BroadcastOp>();
    if (!broadcast)
      return rewriter.notifyMatchFailure(op, "operand is no broadcast");
    SmallVector<int64_t> kept = otherAxes(op.getType().getRank(), broadcast.getAxes());
    SmallVector<int64_t> axes, inner;
    for (auto [axis, source] : llvm::enumerate(op.getPermutation()))
      if (llvm::is_contained(broadcast.getAxes(), source))
        axes.push_back(axis);
      else
        inner.push_back(llvm::find(kept, source) - kept.begin());
    Value input = broadcast.getInput();
    if (!isIdentityPermutation(inner))
      input = TransposeOp::create(
          rewriter, op.getLoc(),
          RankedTensorType::get(pick(shapeOf(input), inner), op.getType().getElementType()), input,
          inner);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), input, axes);
    return success();
  }
};

} // namespace

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeTransposes, TransposeOfUnitsIsReshape, MoveTransposeBelowBroadcast>(context);
}
