//===- ReductionOps.cpp - Reductions, cumulative sums, top-k ----------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Scalar.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mtc;

static SmallVector<AffineExpr> dims(KernelBuilder &kernel, ArrayRef<int64_t> which) {
  return llvm::map_to_vector(which, [&](int64_t i) { return kernel.dim(i); });
}

//===------------------------------------------------------------------------------------------===//
// Reduce
//===------------------------------------------------------------------------------------------===//

LogicalResult ReduceOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  if (!ascendWithin(getAxes(), input.getRank()))
    return emitOpError() << "axes " << toText(getAxes())
                         << " must be ascending axes of the operand, of rank " << input.getRank()
                         << " (reduce_c1)";
  SmallVector<int64_t> expected = withoutAxes(input.getShape(), getAxes());
  if (result.getShape() != ArrayRef<int64_t>(expected) ||
      result.getElementType() != input.getElementType())
    return emitOpError() << "result is " << result << ", expected extents " << toText(expected)
                         << " of " << input.getElementType() << " (reduce_c2)";
  bool isLogical = getKind() == ReductionKind::And || getKind() == ReductionKind::Or;
  if (isLogical != input.getElementType().isInteger(1))
    return emitOpError() << stringifyReductionKind(getKind()) << " cannot reduce "
                         << input.getElementType() << ", expected "
                         << (isLogical ? "i1" : "numbers") << " (reduce_c3)";
  return success();
}

Cost ReduceOp::getCost() {
  Cost cost = detail::defaultCost(*this);
  cost.flops = getInput().getType().getNumElements();
  return cost;
}

/// Returns the combination of `count` copies of `value`, count > 0.
static Attribute combineEqual(ReductionKind kind, Attribute value, int64_t count) {
  if (kind != ReductionKind::Add && kind != ReductionKind::Mul)
    return value;
  bool isSum = kind == ReductionKind::Add;
  if (auto number = dyn_cast<FloatAttr>(value)) {
    double x = number.getValueAsDouble();
    return FloatAttr::get(number.getType(), isSum ? x * count : std::pow(x, count));
  }
  auto number = cast<IntegerAttr>(value);
  // Doubling and squaring, so that integers wrap as at run time.
  APInt power = number.getValue(), result(power.getBitWidth(), isSum ? 0 : 1);
  for (; count > 0; count >>= 1) {
    if (count & 1)
      result = isSum ? result + power : result * power;
    power = isSum ? power + power : power * power;
  }
  return IntegerAttr::get(number.getType(), result);
}

OpFoldResult ReduceOp::fold(FoldAdaptor adaptor) {
  if (getAxes().empty())
    return getInput();
  RankedTensorType input = getInput().getType();
  Type element = input.getElementType();
  int64_t count = 1;
  for (int64_t axis : getAxes())
    count *= input.getDimSize(axis);
  if (count == 0 && !isa<FloatType>(element)) {
    auto neutral =
        cast<IntegerAttr>(neutralElement(getKind(), getScalarType(element), isUnsigned(element)));
    return DenseElementsAttr::get(getType(), neutral.getValue());
  }
  if (count == 0) {
    auto neutral = cast<FloatAttr>(neutralElement(getKind(), getScalarType(element)));
    return DenseElementsAttr::get(getType(),
                                  FloatAttr::get(element, neutral.getValueAsDouble()).getValue());
  }
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getInput()))
    return DenseElementsAttr::get(getType(),
                                  combineEqual(getKind(), splat.getSplatValue<Attribute>(), count));
  return {};
}

/// y = sum of x; dx = dy, broadcast.
static Value sumGradient(GradientBuilder &g, ReduceOp op) {
  return g.broadcast(g.cotangent(0), op.getAxes(), shapeOf(op.getInput()));
}

/// y = product of x; dx_i = dy * product of the other elements. With `rest` as the product of the
/// nonzero elements, this is dy * rest / x_i if no other element is zero (x_i itself is replaced by
/// 1 if it is zero), and 0 otherwise. Exact for any number of zeros; saves x.
static Value productGradient(GradientBuilder &g, ReduceOp op) {
  Value x = op.getInput(), dy = g.cotangent(0);
  auto repeat = [&](Value v) { return g.broadcast(v, op.getAxes(), shapeOf(x)); };
  Value zero = g.splat(x, 0.0), one = g.splat(x, 1.0);
  Value isZero = g.compare(Predicate::Eq, x, zero);
  Value asNumber = g.select(isZero, one, zero);
  Value filled = g.select(isZero, one, x);
  Value zeros = g.sum(asNumber, op.getAxes());
  Value rest = g.reduce(ReductionKind::Mul, filled, op.getAxes());
  Value noOtherZero = g.compare(Predicate::Eq, repeat(zeros), asNumber);
  return g.select(noOtherZero, g.div(repeat(g.mul(dy, rest)), filled), zero);
}

/// y = max or min of x; dy is divided equally among the elements that attain it, as in PyTorch's
/// amax. NaN never attains it. Saves x and y.
static Value extremumGradient(GradientBuilder &g, ReduceOp op) {
  Value x = op.getInput(), zero = g.splat(x, 0.0);
  auto repeat = [&](Value v) { return g.broadcast(v, op.getAxes(), shapeOf(x)); };
  Value attains = g.compare(Predicate::Eq, x, repeat(op.getResult()));
  Value count = g.sum(g.select(attains, g.splat(x, 1.0), zero), op.getAxes());
  return g.select(attains, repeat(g.div(g.cotangent(0), count)), zero);
}

void ReduceOp::buildGradient(GradientBuilder &g) {
  switch (getKind()) {
  case ReductionKind::Add:
    return g.set(0, sumGradient(g, *this));
  case ReductionKind::Mul:
    return g.set(0, productGradient(g, *this));
  case ReductionKind::Max:
  case ReductionKind::Min:
    return g.set(0, extremumGradient(g, *this));
  case ReductionKind::And:
  case ReductionKind::Or:
    return; // Booleans have no cotangent.
  }
}

FusibleShape ReduceOp::getFusibleShape() {
  return shapeOfReduction(getInput().getType().getShape(), getAxes());
}

Operation *ReduceOp::buildKernel(OpBuilder &builder) {
  RankedTensorType input = getInput().getType();
  int64_t rank = input.getRank();
  KernelBuilder kernel(builder, *this, input.getShape(), getAxes());
  Value value = kernel.load(0, dims(kernel, otherAxes(rank, {})));
  value = kernel.reduce(getKind(), value, isUnsigned(input.getElementType()));
  return kernel.yield(value, dims(kernel, otherAxes(rank, getAxes())));
}

namespace {

/// Returns whether a large reduction has too few results to occupy many threads.
static bool leavesFewRows(RankedTensorType from, RankedTensorType to) {
  constexpr int64_t enoughRows = 64, iterationsOfOneThread = 1 << 16;
  return to.getNumElements() < enoughRows && from.getNumElements() > iterationsOfOneThread;
}

/// reduce(reduce(x)) => reduce(x), for reductions of the same kind.
struct ComposeReductions : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReduceOp>();
    if (!inner || inner.getKind() != op.getKind() || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "operand is no reduction of this kind and for this");
    if (leavesFewRows(inner.getInput().getType(), op.getType()) &&
        !leavesFewRows(inner.getInput().getType(), inner.getType()))
      return rewriter.notifyMatchFailure(op, "threads share the rows of the first reduction");
    SmallVector<int64_t> axes = llvm::to_vector(inner.getAxes());
    llvm::append_range(axes,
                       pick(otherAxes(inner.getInput().getType().getRank(), axes), op.getAxes()));
    llvm::sort(axes);
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), op.getKind(), inner.getInput(), axes);
    return success();
  }
};

/// reduce(x) => reshape(x), if every reduced axis has extent 1.
struct ReductionOfUnitsIsReshape : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    if (llvm::any_of(op.getAxes(), [&](int64_t a) { return shapeOf(op.getInput())[a] != 1; }))
      return rewriter.notifyMatchFailure(op, "an axis has several elements");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};

} // namespace

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeReductions, ReductionOfUnitsIsReshape>(context);
}

//===------------------------------------------------------------------------------------------===//
// Sum of rows in order
//===------------------------------------------------------------------------------------------===//

LogicalResult AddRowsOp::verify() {
  RankedTensorType rows = getRows().getType(), result = getType();
  const auto column = static_cast<int64_t>(getColumn());
  if (rows.getRank() != 2 || rows.getDimSize(0) < 1 || column < 0 ||
      column > rows.getDimSize(1) - result.getNumElements())
    return emitOpError("adds ") << result.getNumElements() << " elements from column " << column
                                << " of " << rows << ", expected columns of a matrix (add_rows_c1)";
  const Type element = rows.getElementType();
  const bool hasOneElement = result.getElementType() == element &&
                             (!getOnto() || getOnto().getType() == result) &&
                             (!getDecay() || getDecay()->getType() == element);
  if (!hasOneElement)
    return emitOpError("has the result ") << result << ", expected elements of " << element
                                          << ", which `onto` and `decay` have, too (add_rows_c2)";
  return success();
}

Cost AddRowsOp::getCost() {
  Cost cost = detail::defaultCost(*this);
  cost.flops = getRows().getType().getDimSize(0) * getType().getNumElements();
  return cost;
}

FusibleShape AddRowsOp::getFusibleShape() { return FusibleShape::Elementwise; }

Operation *AddRowsOp::buildKernel(OpBuilder &builder) {
  RankedTensorType type = getType();
  KernelBuilder kernel(builder, *this, type.getShape());
  const SmallVector<AffineExpr> index = dims(kernel, otherAxes(type.getRank(), {}));
  unsigned rows = 0;
  if (DenseElementsAttr splat; matchPattern(getRows(), m_Constant(&splat)) && splat.isSplat())
    rows = kernel.addConstant(splat);
  AffineExpr column = kernel.number(0);
  for (auto [expr, extent] : llvm::zip_equal(index, type.getShape()))
    column = column * extent + expr;
  column = column + static_cast<int64_t>(getColumn());
  Value onto, decay;
  if (getOnto())
    onto = kernel.load(1, index);
  if (getDecay())
    decay = scalarConstant(kernel.body(), getLoc(), *getDecay(), type.getElementType());
  return kernel.yield(kernel.addRows(rows, {kernel.symbol(0), column}, onto, decay), index);
}

//===------------------------------------------------------------------------------------------===//
// Cumulative sum
//===------------------------------------------------------------------------------------------===//

LogicalResult CumulativeSumOp::verify() {
  int64_t axis = getAxis(), rank = getType().getRank();
  if (axis < 0 || axis >= rank)
    return emitOpError() << "axis " << axis << " is not within rank " << rank
                         << " (cumulative_sum_c1)";
  return success();
}

/// y_i = sum over j <= i of x_j; dx_j = sum over i >= j of dy_i, the reverse cumulative sum.
void CumulativeSumOp::buildGradient(GradientBuilder &g) {
  g.set(0, g.cumulativeSum(g.cotangent(0), getAxis(), getExclusive(), !getReverse()));
}

FusibleShape CumulativeSumOp::getFusibleShape() { return FusibleShape::RowReduction; }

/// A row reduction over an additional dimension j of the space: x_j is added if j <= i.
Operation *CumulativeSumOp::buildKernel(OpBuilder &builder) {
  RankedTensorType type = getType();
  int64_t rank = type.getRank(), axis = getAxis();
  SmallVector<int64_t> space = llvm::to_vector(type.getShape());
  space.push_back(type.getDimSize(axis));
  KernelBuilder kernel(builder, *this, space, rank);
  SmallVector<int64_t> all = otherAxes(rank, {});
  SmallVector<AffineExpr> index = dims(kernel, all);
  index[axis] = kernel.dim(rank);
  AffineExpr distance =
      getReverse() ? kernel.dim(rank) - kernel.dim(axis) : kernel.dim(axis) - kernel.dim(rank);
  Value counts = kernel.compare(arith::CmpIPredicate::sge, kernel.index(distance),
                                kernel.constant(getExclusive() ? 1 : 0));
  Value zero = scalarConstant(kernel.body(), getLoc(), getScalarType(type.getElementType()), 0);
  Value sum = kernel.reduce(ReductionKind::Add, kernel.loadIf(counts, zero, 0, index));
  return kernel.yield(sum, dims(kernel, all));
}

//===------------------------------------------------------------------------------------------===//
// Top k
//===------------------------------------------------------------------------------------------===//

LogicalResult TopKOp::verify() {
  RankedTensorType input = getInput().getType();
  for (auto [name, result] : {std::pair<StringRef, RankedTensorType>("values", typeOf(getValues())),
                              {"indices", typeOf(getIndices())}}) {
    bool fits = input.getRank() > 0 && result.getRank() == input.getRank() &&
                result.getShape().drop_back() == input.getShape().drop_back() &&
                result.getShape().back() >= 1 &&
                result.getShape().back() <= input.getShape().back();
    if (!fits)
      return emitOpError() << name << " have extents " << toText(result.getShape())
                           << ", expected those of " << toText(input.getShape())
                           << " with the last between 1 and the operand's (top_k_c1)";
  }
  if (shapeOf(getValues()) != shapeOf(getIndices()))
    return emitOpError() << "values have extents " << toText(shapeOf(getValues()))
                         << " and indices " << toText(shapeOf(getIndices()))
                         << ", expected the same (top_k_c1)";
  if (typeOf(getValues()).getElementType() != input.getElementType())
    return emitOpError() << "values have elements " << typeOf(getValues()).getElementType()
                         << ", expected " << input.getElementType() << " (top_k_c1)";
  return success();
}

/// values = x at indices; dx is dvalues at these indices, which are distinct, and 0 elsewhere.
/// Saves the indices.
void TopKOp::buildGradient(GradientBuilder &g) {
  int64_t last = getInput().getType().getRank() - 1;
  if (Value dy = g.cotangent(0))
    g.set(0, g.scatterAdd(dy, getIndices(), last, last, shapeOf(getInput()).back()));
}

/// The rank of element i is the number of elements j that precede it: larger (smaller) elements,
/// and equal elements with j < i. Element p of the result is the element with rank p.
SmallVector<Value> TopKOp::decompose(TensorBuilder &b) {
  Value x = getInput();
  int64_t rank = typeOf(x).getRank(), last = rank - 1;
  SmallVector<int64_t> pairs = llvm::to_vector(shapeOf(x)); // [.., i, j]
  pairs.push_back(pairs.back());
  auto atI = [&](Value v) { return b.broadcast(v, rank, pairs); };
  auto atJ = [&](Value v) { return b.broadcast(v, last, pairs); };
  auto counts = [&](ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, b.getI32Type());
  };

  Value xi = atI(x), xj = atJ(x);
  Value before = b.compare(getSmallest() ? Predicate::Lt : Predicate::Gt, xj, xi);
  Value equal = b.compare(Predicate::Eq, xj, xi);
  if (isDifferentiable(x.getType())) {
    // NaN is above everything, and equal to itself.
    Value isNan = b.isNan(x), nanI = atI(isNan), nanJ = atJ(isNan);
    Value onlyOne = getSmallest() ? b.logicalAnd(nanI, b.logicalNot(nanJ))
                                  : b.logicalAnd(nanJ, b.logicalNot(nanI));
    before = b.logicalOr(before, onlyOne);
    equal = b.logicalOr(equal, b.logicalAnd(nanI, nanJ));
  }
  Value earlier =
      b.compare(Predicate::Lt, b.iota(counts(pairs), rank), b.iota(counts(pairs), last));
  before = b.logicalOr(before, b.logicalAnd(equal, earlier));
  Value place = b.sum(b.select(before, b.splat(counts(pairs), 1), b.splat(counts(pairs), 0)), rank);

  SmallVector<int64_t> chosen = llvm::to_vector(shapeOf(getValues())); // [.., p, i]
  chosen.push_back(shapeOf(x).back());
  Value isHere =
      b.compare(Predicate::Eq, b.broadcast(place, last, chosen), b.iota(counts(chosen), last));
  Value index =
      b.sum(b.select(isHere, b.iota(counts(chosen), rank), b.splat(counts(chosen), 0)), rank);
  index = b.cast(index, typeOf(getIndices()).getElementType());
  return {b.gather(x, index, last, last), index};
}
