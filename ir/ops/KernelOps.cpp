//===- KernelOps.cpp - Verifiers and canonicalization of kernels ------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Shape.h"
#include "ir/ops/KernelCost.h"
#include "ir/ops/KernelDimensions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mtc;

//===------------------------------------------------------------------------------------------===//
// Common to kernels and kernel functions
//===------------------------------------------------------------------------------------------===//

static FusibleShape shapeOfKernel(ArrayRef<int64_t> space, ArrayRef<int64_t> reduced, Block &body) {
  if (cast<KernelYieldOp>(body.getTerminator()).scatters())
    return FusibleShape::Scatter;
  return shapeOfReduction(space, reduced);
}

static LogicalResult verifySums(Operation *op, KernelYieldOp yield, ArrayRef<int64_t> reduced,
                                TypeRange outputs) {
  if (yield.scatters() && yield.getAdded().size() != outputs.size())
    return op->emitOpError("adds ") << yield.getAdded().size() << " of its " << outputs.size()
                                    << " results, expected all of them with symbols (kernel_c6)";
  if (Value onto = yield.getOnto();
      onto && (!yield.scatters() || !isa<BlockArgument>(onto) || outputs.size() != 1 ||
               onto.getType() != outputs.front()))
    return op->emitOpError("adds onto ") << onto << ", expected an argument of the type of its "
                                         << "only result, and symbols (kernel_c9)";
  int64_t before = -1;
  for (int64_t result : yield.getAdded()) {
    if (result <= before || result >= static_cast<int64_t>(outputs.size()) ||
        (!yield.scatters() && !isa<FloatType>(getElementTypeOrSelf(outputs[result]))))
      return op->emitOpError("adds to result ")
             << result << ", expected ascending numbers below " << outputs.size()
             << " and, without symbols, results of floats (kernel_c6)";
    before = result;
  }
  if (yield.scatters())
    return success();
  for (int64_t sum : yield.getAdded()) {
    AffineMap map = cast<AffineMapAttr>(yield.getMaps()[sum]).getValue();
    for (unsigned d = 0; d < map.getNumDims(); ++d) {
      if (map.isFunctionOfDim(d) || llvm::is_contained(reduced, d))
        continue;
      for (auto [i, other] : llvm::enumerate(yield.getMaps().getAsValueRange<AffineMapAttr>()))
        if (!yield.isAdded(i) && !other.isFunctionOfDim(d))
          return op->emitOpError("sums over dimension ")
                 << d << ", which result " << i << " omits without `add` (kernel_c6)";
    }
  }
  return success();
}

/// Verifies kernel_c8.
static LogicalResult verifyIterations(Operation *op, ArrayRef<int64_t> space,
                                      ArrayRef<int64_t> reduced, std::optional<int64_t> iterations,
                                      KernelYieldOp yield) {
  if (!iterations)
    return success();
  bool isValid = space.size() == 2 && !llvm::is_contained(reduced, 0) && yield.getAdded().empty() &&
                 *iterations > (space[0] - 1) * space[1] && *iterations < space[0] * space[1] &&
                 space[0] > 1;
  if (!isValid)
    return op->emitOpError() << *iterations
                             << " iterations: expected iterations that end in the last row of a "
                                "two-dimensional space, without reduced dimensions and added "
                                "results (kernel_c8)";
  return success();
}

namespace {

/// The inclusive range of an index over a space.
struct IndexRange {
  int64_t first, last;
};

} // namespace

/// Returns the exact range of a sum of dimensions with constant factors in which each dimension
/// occurs once; nullopt for other expressions. `seen` collects the dimensions.
static std::optional<IndexRange> rangeOf(AffineExpr expr, ArrayRef<int64_t> space,
                                         llvm::SmallBitVector &seen) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return IndexRange{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    if (seen.test(dim.getPosition()))
      return std::nullopt;
    seen.set(dim.getPosition());
    return IndexRange{0, space[dim.getPosition()] - 1};
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || !llvm::is_contained({AffineExprKind::Add, AffineExprKind::Mul}, binary.getKind()))
    return std::nullopt;
  std::optional<IndexRange> lhs = rangeOf(binary.getLHS(), space, seen),
                            rhs = rangeOf(binary.getRHS(), space, seen);
  if (!lhs || !rhs)
    return std::nullopt;
  bool isSum = binary.getKind() == AffineExprKind::Add;
  auto combine = [&](int64_t a, int64_t b) {
    return isSum ? llvm::checkedAdd(a, b) : llvm::checkedMul(a, b);
  };
  std::optional<int64_t> first = combine(lhs->first, rhs->first),
                         last = combine(lhs->last, rhs->last);
  if (!first || !last)
    return IndexRange{INT64_MIN, INT64_MAX};
  return IndexRange{std::min(*first, *last), std::max(*first, *last)};
}

/// Verifies kernel_c10 or load_c3: indices without symbols are within the tensor in every
/// iteration.
static LogicalResult verifyWithin(Operation *op, AffineMap map, ArrayRef<int64_t> space,
                                  RankedTensorType type, StringRef constraint) {
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    llvm::SmallBitVector seen(space.size());
    std::optional<IndexRange> range = rangeOf(expr, space, seen);
    if (range && (range->first < 0 || range->last >= type.getDimSize(axis)))
      return op->emitOpError("index ")
             << axis << " goes from " << range->first << " to " << range->last << " over the space "
             << toText(space) << ", beyond " << type << " (" << constraint << ")";
  }
  return success();
}

static LogicalResult verifyKernel(Operation *op, ArrayRef<int64_t> space, ArrayRef<int64_t> reduced,
                                  std::optional<int64_t> iterations, Block &body,
                                  TypeRange outputs) {
  for (int64_t extent : space)
    if (extent <= 0)
      return op->emitOpError("extent ") << extent << " of the space is not positive (kernel_c1)";
  if (!countElements(space))
    return op->emitOpError("has more iterations than 64 bits can count (kernel_c1)");
  for (auto [i, d] : llvm::enumerate(reduced))
    if (d < 0 || d >= static_cast<int64_t>(space.size()) || (i > 0 && d <= reduced[i - 1]))
      return op->emitOpError("reduced dimension ")
             << d << " does not ascend within a space of rank " << space.size() << " (kernel_c1)";
  bool combines = llvm::any_of(reduced, [&](int64_t d) { return space[d] != 1; });
  for (auto reduce : body.getOps<KernelReduceOp>())
    if (!combines)
      return reduce.emitOpError("has nothing to combine: every reduced dimension of the space has "
                                "extent 1 (kernel_c7)");
  for (Operation &inner : body)
    if (!isa<KernelLoadOp, KernelAddRowsOp, KernelIndexOp, KernelCheckOp, KernelReduceOp,
             KernelYieldOp>(inner) &&
        !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(inner.getDialect()))
      return inner.emitOpError("is not permitted in a kernel's body (kernel_c3)");
  auto yield = cast<KernelYieldOp>(body.getTerminator());
  if (yield.getValues().size() != outputs.size() || yield.getMaps().size() != outputs.size())
    return op->emitOpError("yields ")
           << yield.getValues().size() << " values at " << yield.getMaps().size()
           << " maps, expected " << outputs.size() << " (kernel_c4)";
  DenseMap<Value, llvm::SmallBitVector> known;
  for (auto [value, attribute, type] :
       llvm::zip_equal(yield.getValues(), yield.getMaps(), outputs)) {
    auto tensor = cast<RankedTensorType>(type);
    AffineMap map = cast<AffineMapAttr>(attribute).getValue();
    if (value.getType() != getScalarType(tensor.getElementType()))
      return op->emitOpError("yields ") << value.getType() << " for " << tensor << ", expected "
                                        << getScalarType(tensor.getElementType()) << " (kernel_c4)";
    if (map.getNumDims() != space.size() ||
        map.getNumResults() != static_cast<unsigned>(tensor.getRank()) ||
        map.getNumSymbols() != yield.getSymbols().size())
      return op->emitOpError("yields at ")
             << AffineMapAttr::get(map) << ", expected " << space.size() << " dims, "
             << yield.getSymbols().size() << " symbols and " << tensor.getRank()
             << " results (kernel_c4)";
    // With `iterations`, the last row is partial.
    if (!iterations && failed(verifyWithin(op, map, space, tensor, "kernel_c10")))
      return failure();
    llvm::SmallBitVector dims = dimensionsOf(value, space, reduced, known);
    bool differs =
        llvm::any_of(reduced, [&](int64_t d) { return dims.test(d) && !map.isFunctionOfDim(d); });
    if (!yield.scatters() && differs)
      return op->emitOpError("yields at ")
             << AffineMapAttr::get(map)
             << " a value that differs along a reduced dimension (kernel_c5)";
  }
  if (failed(verifyIterations(op, space, reduced, iterations, yield)))
    return failure();
  return verifySums(op, yield, reduced, outputs);
}

//===------------------------------------------------------------------------------------------===//
// KernelOp
//===------------------------------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &b, OperationState &state, TypeRange outputs,
                     ArrayRef<int64_t> space, ArrayRef<int64_t> reduced,
                     std::optional<int64_t> iterations, ValueRange inputs, bool onHost) {
  build(b, state, outputs, b.getDenseI64ArrayAttr(space), b.getDenseI64ArrayAttr(reduced),
        iterations ? b.getI64IntegerAttr(*iterations) : IntegerAttr(),
        onHost ? b.getUnitAttr() : UnitAttr(), inputs);
}

LogicalResult KernelOp::verify() {
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("body's arguments differ from the operands' types (kernel_c2)");
  return verifyKernel(*this, getSpace(), getReduced(), getIterations(), body,
                      getOutputs().getTypes());
}

FusibleShape KernelOp::getShape() {
  return shapeOfKernel(getSpace(), getReduced(), getBody().front());
}

Cost KernelOp::getCost() {
  return costOfKernel(getSpace(), getReduced(), getBody().front(), getOutputs().getTypes());
}

namespace {

/// Removes unused operands and merges duplicate operands.
struct SimplifyKernelInputs : OpRewritePattern<KernelOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(KernelOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    llvm::BitVector dropped(op.getInputs().size());
    DenseMap<Value, unsigned> first;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      BlockArgument argument = body.getArgument(i);
      auto [it, isNew] = first.try_emplace(input, i);
      if (argument.use_empty()) {
        dropped.set(i);
        if (isNew)
          first.erase(it);
      } else if (!isNew) {
        rewriter.replaceAllUsesWith(argument, body.getArgument(it->second));
        dropped.set(i);
      }
    }
    if (dropped.none())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op->eraseOperands(dropped);
      body.eraseArguments(dropped);
    });
    return success();
  }
};

} // namespace

void KernelOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SimplifyKernelInputs>(context);
}

//===------------------------------------------------------------------------------------------===//
// Operations of the body
//===------------------------------------------------------------------------------------------===//

/// Returns the iteration space of the kernel around an operation of its body.
static ArrayRef<int64_t> spaceAround(Operation *op) {
  if (auto kernel = dyn_cast<KernelOp>(op->getParentOp()))
    return kernel.getSpace();
  return cast<KernelFunctionOp>(op->getParentOp()).getSpace();
}

static unsigned spaceRank(Operation *op) { return spaceAround(op).size(); }

static bool hasPartialRow(Operation *op) {
  if (auto kernel = dyn_cast<KernelOp>(op->getParentOp()))
    return kernel.getIterations().has_value();
  return cast<KernelFunctionOp>(op->getParentOp()).getIterations().has_value();
}

LogicalResult KernelLoadOp::verify() {
  AffineMap map = getMap();
  auto type = cast<RankedTensorType>(getSource().getType());
  if (!isa<BlockArgument>(getSource()))
    return emitOpError("reads a value that is not an argument of the body (load_c1)");
  if (map.getNumDims() != spaceRank(*this) || map.getNumSymbols() != getSymbols().size() ||
      map.getNumResults() != static_cast<unsigned>(type.getRank()))
    return emitOpError("reads at ")
           << AffineMapAttr::get(map) << ", expected " << spaceRank(*this) << " dims, "
           << getSymbols().size() << " symbols and " << type.getRank() << " results (load_c1)";
  if (getValue().getType() != getScalarType(type.getElementType()))
    return emitOpError("returns ") << getValue().getType() << ", expected "
                                   << getScalarType(type.getElementType()) << " (load_c2)";
  if (static_cast<bool>(getGuard()) != static_cast<bool>(getOtherwise()))
    return emitOpError(
        "expected both a guard and a value for where it is false, or neither (load_c2)");
  if (getOtherwise() && getOtherwise().getType() != getValue().getType())
    return emitOpError("returns ")
           << getOtherwise().getType() << " where the guard is false, expected "
           << getValue().getType() << " (load_c2)";
  if (getGuard() || hasPartialRow(*this))
    return success();
  return verifyWithin(*this, map, spaceAround(*this), type, "load_c3");
}

LogicalResult KernelAddRowsOp::verify() {
  AffineMap map = getMap();
  RankedTensorType type = getSource().getType();
  if (!isa<BlockArgument>(getSource()))
    return emitOpError("reads a value that is not an argument of the body (kernel_add_rows_c1)");
  const bool hasRow = map.getNumSymbols() == 1 && map.getNumResults() > 0 &&
                      map.getResult(0) == getAffineSymbolExpr(0, getContext()) &&
                      llvm::none_of(map.getResults().drop_front(),
                                    [](AffineExpr expr) { return expr.isFunctionOfSymbol(0); });
  if (!hasRow || map.getNumDims() != spaceRank(*this) ||
      map.getNumResults() != static_cast<unsigned>(type.getRank()))
    return emitOpError("reads at ")
           << AffineMapAttr::get(map) << ", expected " << spaceRank(*this)
           << " dims, one symbol, which is used only as the first result, and " << type.getRank()
           << " results (kernel_add_rows_c1)";
  const Type scalar = getScalarType(type.getElementType());
  for (Value value : {getOnto(), getDecay(), Value(getValue())})
    if (value && value.getType() != scalar)
      return emitOpError("has a scalar of ")
             << value.getType() << ", expected " << scalar << " (kernel_add_rows_c2)";
  if (getGuard() || hasPartialRow(*this))
    return success();
  return verifyWithin(*this, map, spaceAround(*this), type, "kernel_add_rows_c3");
}

LogicalResult KernelIndexOp::verify() {
  AffineMap map = getMap();
  if (map.getNumDims() != spaceRank(*this) || map.getNumSymbols() != 0 || map.getNumResults() != 1)
    return emitOpError("has the map ") << AffineMapAttr::get(map) << ", expected "
                                       << spaceRank(*this) << " dims, no symbols and one result";
  return success();
}

//===------------------------------------------------------------------------------------------===//
// KernelFunctionOp
//===------------------------------------------------------------------------------------------===//

SmallVector<RankedTensorType> KernelFunctionOp::getInputTypes() {
  return llvm::map_to_vector(getBody().getArgumentTypes(),
                             [](Type type) { return cast<RankedTensorType>(type); });
}

SmallVector<RankedTensorType> KernelFunctionOp::getOutputTypes() {
  return llvm::map_to_vector(getOutputs().getAsValueRange<TypeAttr>(),
                             [](Type type) { return cast<RankedTensorType>(type); });
}

LogicalResult KernelFunctionOp::verify() {
  SmallVector<Type> outputs(getOutputs().getAsValueRange<TypeAttr>());
  for (Type type : outputs)
    if (!isa<RankedTensorType>(type))
      return emitOpError("has the output ") << type << ", expected tensors (kernel_c4)";
  return verifyKernel(*this, getSpace(), getReduced(), getIterations(), getBody().front(), outputs);
}

FusibleShape KernelFunctionOp::getShape() {
  return shapeOfKernel(getSpace(), getReduced(), getBody().front());
}

Cost KernelFunctionOp::getCost() {
  SmallVector<Type> outputs(getOutputs().getAsValueRange<TypeAttr>());
  return costOfKernel(getSpace(), getReduced(), getBody().front(), outputs);
}
