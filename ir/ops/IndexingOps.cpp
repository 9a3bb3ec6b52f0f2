//===- IndexingOps.cpp - Gather and scatter-add -----------------------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

namespace {

/// The axes of the result of `gather`: the operand's axes before `axis` (the first `batch` of which
/// are batch axes), the remaining axes of the indices, and the operand's axes after `axis`.
struct Layout {
  int64_t axis, batch, indexAxes, rank;

  Layout(RankedTensorType input, RankedTensorType indices, int64_t axis, int64_t batch)
      : axis(axis), batch(batch), indexAxes(indices.getRank() - batch),
        rank(input.getRank() - 1 + indexAxes) {}

  SmallVector<AffineExpr> all(KernelBuilder &kernel) const {
    SmallVector<AffineExpr> index;
    for (int64_t i = 0; i < rank; ++i)
      index.push_back(kernel.dim(i));
    return index;
  }
  /// Returns the position of an iteration's index in the indices.
  SmallVector<AffineExpr> inIndices(KernelBuilder &kernel) const {
    SmallVector<AffineExpr> index;
    for (int64_t i = 0; i < batch; ++i)
      index.push_back(kernel.dim(i));
    for (int64_t i = 0; i < indexAxes; ++i)
      index.push_back(kernel.dim(axis + i));
    return index;
  }
  /// Returns the position of an iteration's element in the operand, with symbol 0 along `axis`.
  SmallVector<AffineExpr> inInput(KernelBuilder &kernel) const {
    SmallVector<AffineExpr> index;
    for (int64_t i = 0; i < axis; ++i)
      index.push_back(kernel.dim(i));
    index.push_back(kernel.symbol(0));
    for (int64_t i = axis + indexAxes; i < rank; ++i)
      index.push_back(kernel.dim(i));
    return index;
  }
};

/// The constraint labels in diagnostics of `verifyGather`.
struct GatherConstraints {
  StringRef axes, batch, result, elements;
};

} // namespace

/// Verifies that `gathered` is the result type of `gather` of `input`.
static LogicalResult verifyGather(Operation *op, RankedTensorType input, RankedTensorType indices,
                                  RankedTensorType gathered, int64_t axis, int64_t batch,
                                  const GatherConstraints &names) {
  if (batch < 0 || batch > axis || axis >= input.getRank() || batch > indices.getRank())
    return op->emitOpError() << "axis " << axis << " and batch " << batch
                             << " must obey 0 <= batch <= axis < " << input.getRank()
                             << " and batch <= " << indices.getRank() << " (" << names.axes << ")";
  ArrayRef<int64_t> inputBatch = input.getShape().take_front(batch),
                    indexBatch = indices.getShape().take_front(batch);
  if (inputBatch != indexBatch)
    return op->emitOpError() << "batch extents are " << toText(inputBatch) << " and "
                             << toText(indexBatch) << ", expected the same (" << names.batch << ")";
  SmallVector<int64_t> expected(input.getShape().take_front(axis));
  llvm::append_range(expected, indices.getShape().drop_front(batch));
  llvm::append_range(expected, input.getShape().drop_front(axis + 1));
  auto type = RankedTensorType::get(expected, input.getElementType());
  if (gathered != type)
    return op->emitOpError() << "gathered elements are " << gathered << ", expected " << type
                             << " (" << names.result << ")";
  if (input.getDimSize(axis) == 0 && !llvm::is_contained(indices.getShape(), 0))
    return op->emitOpError() << "indices point into axis " << axis << ", which has no element ("
                             << names.elements << ")";
  return success();
}

//===------------------------------------------------------------------------------------------===//
// Gather
//===------------------------------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  return verifyGather(*this, getInput().getType(), getIndices().getType(), getType(), getAxis(),
                      getBatch(), {"gather_c1", "gather_c2", "gather_c3", "gather_c4"});
}

/// y = x at indices; dx = sums of dy by index. Saves the indices.
void GatherOp::buildGradient(GradientBuilder &g) {
  g.set(0, g.scatterAdd(g.cotangent(0), getIndices(), getAxis(), getBatch(),
                        shapeOf(getInput())[getAxis()]));
}

FusibleShape GatherOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *GatherOp::buildKernel(OpBuilder &builder) {
  RankedTensorType input = getInput().getType(), indices = getIndices().getType();
  Layout layout(input, indices, getAxis(), getBatch());
  KernelBuilder kernel(builder, *this, getType().getShape());
  Value index = kernel.load(1, layout.inIndices(kernel));
  index = kernel.check(index, input.getDimSize(getAxis()), isUnsigned(indices.getElementType()));
  Value value = kernel.load(0, layout.inInput(kernel), index);
  return kernel.yield(value, layout.all(kernel));
}

namespace {

/// gather(x, i) => slice(x), for a single constant index.
struct GatherOfOneIsSlice : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    DenseIntElementsAttr indices;
    if (!matchPattern(op.getIndices(), m_Constant(&indices)) || indices.getNumElements() != 1)
      return rewriter.notifyMatchFailure(op, "indices are not one constant");
    int64_t axis = op.getAxis(), extent = shapeOf(op.getInput())[axis];
    APInt value = *indices.value_begin<APInt>();
    int64_t index =
        isUnsigned(indices.getElementType()) ? value.getZExtValue() : value.getSExtValue();
    if (index < -extent || index >= extent)
      return rewriter.notifyMatchFailure(op, "the index lies outside: the run reports it");
    SmallVector<int64_t> sizes(shapeOf(op.getInput())), offsets(sizes.size(), 0),
        strides(sizes.size(), 1);
    offsets[axis] = index < 0 ? index + extent : index;
    sizes[axis] = 1;
    TensorBuilder builder(op.getLoc(), rewriter);
    Value slice = builder.slice(op.getInput(), offsets, sizes, strides);
    rewriter.replaceOp(op, builder.reshape(slice, op.getType().getShape()));
    return success();
  }
};

} // namespace

void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<GatherOfOneIsSlice>(context);
}

//===------------------------------------------------------------------------------------------===//
// Scatter-add
//===------------------------------------------------------------------------------------------===//

LogicalResult ScatterAddOp::verify() {
  StringRef name = "scatter_add_c1";
  if (getOnto() && getOnto().getType() != getType())
    return emitOpError("adds onto ")
           << getOnto().getType() << ", but returns " << getType() << " (scatter_add_c2)";
  return verifyGather(*this, getType(), getIndices().getType(), getUpdates().getType(), getAxis(),
                      getBatch(), {name, name, name, name});
}

/// y = base + sums of x by index; dx = dy at the indices, dbase = dy. Saves the indices.
void ScatterAddOp::buildGradient(GradientBuilder &g) {
  g.set(0, g.gather(g.cotangent(0), getIndices(), getAxis(), getBatch()));
  if (getOnto())
    g.set(getOntoMutable().begin()->getOperandNumber(), g.cotangent(0));
}

FusibleShape ScatterAddOp::getFusibleShape() { return FusibleShape::Scatter; }

/// The iteration space has the shape of the updates. The indices' own axes are reduced: iterations
/// with different indices may add to the same element, and all other iterations differ in an index
/// of the result.
Operation *ScatterAddOp::buildKernel(OpBuilder &builder) {
  RankedTensorType indices = getIndices().getType();
  Layout layout(getType(), indices, getAxis(), getBatch());
  SmallVector<int64_t> reduced =
      llvm::to_vector(llvm::seq(layout.axis, layout.axis + layout.indexAxes));
  KernelBuilder kernel(builder, *this, shapeOf(getUpdates()), reduced);
  Value index = kernel.load(1, layout.inIndices(kernel));
  index =
      kernel.check(index, getType().getDimSize(getAxis()), isUnsigned(indices.getElementType()));
  Value value = kernel.load(0, layout.all(kernel));
  std::optional<unsigned> onto;
  if (DenseElementsAttr splat; getOnto())
    onto = matchPattern(getOnto(), m_Constant(&splat)) && splat.isSplat()
               ? kernel.addConstant(splat) // Not a scalar of the body.
               : getOntoMutable().begin()->getOperandNumber();
  return kernel.yield(value, layout.inInput(kernel), index, onto);
}
