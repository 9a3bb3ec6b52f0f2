//===- KernelBuilder.cpp - Builder for mtc.kernel ---------------------------------------------===//

#include "ir/builders/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <optional>

using namespace mlir;
using namespace mtc;

KernelBuilder::KernelBuilder(OpBuilder &builder, Operation *op, ArrayRef<int64_t> space,
                             ArrayRef<int64_t> reduced, std::optional<int64_t> iterations)
    : spaceExtents(space), bodyBuilder(op->getLoc(), builder.getContext()) {
  if (spaceExtents.empty())
    spaceExtents.push_back(1);
  SmallVector<Value> inputs;
  SmallVector<DenseElementsAttr> splats;
  for (Value operand : op->getOperands()) {
    DenseElementsAttr splat;
    if (!matchPattern(operand, m_Constant(&splat)) || !splat.isSplat()) {
      splat = {};
      if (!llvm::is_contained(inputs, operand))
        inputs.push_back(operand);
    }
    splats.push_back(splat);
  }
  SmallVector<int64_t> combined =
      llvm::to_vector(llvm::make_filter_range(reduced, [&](int64_t d) { return space[d] != 1; }));
  kernel = KernelOp::create(builder, op->getLoc(), op->getResultTypes(), spaceExtents, combined,
                            iterations, inputs);
  Block &block = kernel.getBody().emplaceBlock();
  for (Value input : inputs)
    block.addArgument(input.getType(), op->getLoc());
  bodyBuilder.setInsertionPointToEnd(&block);
  for (auto [operand, splat] : llvm::zip_equal(op->getOperands(), splats)) {
    isSplat.push_back(static_cast<bool>(splat));
    if (splat)
      sources.push_back(scalarConstant(bodyBuilder, op->getLoc(), splat.getSplatValue<Attribute>(),
                                       splat.getElementType()));
    else
      sources.push_back(block.getArgument(llvm::find(inputs, operand) - inputs.begin()));
  }
}

unsigned KernelBuilder::addConstant(ElementsAttr elements) {
  OpBuilder builder(kernel);
  Value value = mtc::ConstantOp::create(builder, kernel.getLoc(), elements);
  kernel.getInputsMutable().append(value);
  sources.push_back(kernel.getBody().front().addArgument(value.getType(), kernel.getLoc()));
  isSplat.push_back(false);
  return sources.size() - 1;
}

AffineMap KernelBuilder::map(ArrayRef<AffineExpr> index, unsigned symbolCount) {
  AffineMap result = AffineMap::get(rank(), symbolCount, index, bodyBuilder.getContext());
  return simplifyOverSpace(result, spaceExtents);
}

Value KernelBuilder::load(unsigned operand, ArrayRef<AffineExpr> index, ValueRange symbols) {
  return loadIf({}, {}, operand, index, symbols);
}

Value KernelBuilder::loadIf(Value guard, Value otherwise, unsigned operand,
                            ArrayRef<AffineExpr> index, ValueRange symbols) {
  Value source = sources[operand];
  if (isSplat[operand])
    return guard ? arith::SelectOp::create(bodyBuilder, guard, source, otherwise) : source;
  Type scalar = getScalarType(cast<RankedTensorType>(source.getType()).getElementType());
  return KernelLoadOp::create(bodyBuilder, scalar, source, map(index, symbols.size()), symbols,
                              guard, otherwise);
}

Value KernelBuilder::addRows(unsigned operand, ArrayRef<AffineExpr> index, Value onto,
                             Value decay) {
  Value source = sources[operand];
  Type scalar = getScalarType(cast<RankedTensorType>(source.getType()).getElementType());
  return KernelAddRowsOp::create(bodyBuilder, scalar, source, map(index, /*symbolCount=*/1), onto,
                                 decay, /*guard=*/Value());
}

Value KernelBuilder::index(AffineExpr expr) {
  AffineMap expression = map(expr, 0);
  if (auto number = dyn_cast<AffineConstantExpr>(expression.getResult(0)))
    return constant(number.getValue());
  return KernelIndexOp::create(bodyBuilder, bodyBuilder.getI64Type(), expression);
}

Value KernelBuilder::constant(int64_t value) {
  return arith::ConstantOp::create(bodyBuilder, bodyBuilder.getI64IntegerAttr(value));
}

Value KernelBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(bodyBuilder, predicate, a, b);
}

Value KernelBuilder::require(Value guard, arith::CmpIPredicate predicate, AffineExpr expr,
                             int64_t bound) {
  Value holds = compare(predicate, index(expr), constant(bound));
  return guard ? arith::AndIOp::create(bodyBuilder, guard, holds).getResult() : holds;
}

Value KernelBuilder::check(Value index, int64_t extent, bool isUnsigned) {
  Type i64 = bodyBuilder.getI64Type();
  if (index.getType() != i64) {
    if (isUnsigned)
      index = arith::ExtUIOp::create(bodyBuilder, i64, index);
    else
      index = arith::ExtSIOp::create(bodyBuilder, i64, index);
  }
  return KernelCheckOp::create(bodyBuilder, i64, index, extent);
}

Value KernelBuilder::reduce(ReductionKind kind, Value value, bool isUnsigned) {
  if (kernel.getReduced().empty())
    return value;
  return KernelReduceOp::create(bodyBuilder, value.getType(), kind, value, isUnsigned);
}

KernelOp KernelBuilder::yield(ValueRange values, ArrayRef<SmallVector<AffineExpr>> indices,
                              ValueRange symbols, std::optional<unsigned> onto) {
  SmallVector<AffineMap> maps;
  for (const SmallVector<AffineExpr> &index : indices)
    maps.push_back(map(index, symbols.size()));
  SmallVector<int64_t> added;
  if (!symbols.empty())
    llvm::append_range(added, llvm::seq<int64_t>(0, maps.size()));
  KernelYieldOp::create(bodyBuilder, values, bodyBuilder.getAffineMapArrayAttr(maps), symbols,
                        added, onto ? sources[*onto] : Value());
  return kernel;
}

void mtc::replaceByKernel(FusibleOpInterface op) {
  OpBuilder builder(op);
  Operation *kernel = op.buildKernel(builder);
  kernel->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->replaceAllUsesWith(kernel->getResults());
  op->erase();
}

//===------------------------------------------------------------------------------------------===//
// Simplification over a space
//===------------------------------------------------------------------------------------------===//

namespace {
struct Range {
  int64_t low, high; // Inclusive.
};

/// Rewrites expressions whose dimensions range over a space of known extents.
class SpaceSimplifier {
public:
  explicit SpaceSimplifier(ArrayRef<int64_t> space) : space(space) {}

  AffineExpr simplify(AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && space[dim.getPosition()] == 1)
        return getAffineConstantExpr(0, expr.getContext());
      return expr;
    }
    AffineExpr lhs = simplify(binary.getLHS()), rhs = simplify(binary.getRHS());
    if (expr.getKind() == AffineExprKind::Add)
      return lhs + rhs;
    if (expr.getKind() == AffineExprKind::Mul)
      return lhs * rhs;
    auto divisor = dyn_cast<AffineConstantExpr>(rhs);
    if (divisor && divisor.getValue() > 0)
      return divide(lhs, divisor.getValue(), expr.getKind());
    return getAffineBinaryOpExpr(expr.getKind(), lhs, rhs);
  }

private:
  /// (m * c + r) floordiv c => m and (m * c + r) mod c => r, if r is within 0..c-1.
  AffineExpr divide(AffineExpr dividend, int64_t divisor, AffineExprKind kind) {
    SmallVector<AffineExpr> terms;
    collectTerms(dividend, terms);
    AffineExpr quotient = getAffineConstantExpr(0, dividend.getContext()), rest = quotient;
    for (AffineExpr term : terms) {
      if (term.isMultipleOf(divisor))
        quotient = quotient + term.floorDiv(divisor);
      else
        rest = rest + term;
    }
    std::optional<Range> range = rangeOf(rest);
    bool restVanishes = range && range->low >= 0 && range->high < divisor;
    switch (kind) {
    case AffineExprKind::FloorDiv:
      return restVanishes ? quotient : quotient + rest.floorDiv(divisor);
    case AffineExprKind::Mod:
      return restVanishes ? rest : rest % divisor;
    default:
      return getAffineBinaryOpExpr(kind, dividend,
                                   getAffineConstantExpr(divisor, dividend.getContext()));
    }
  }

  static void collectTerms(AffineExpr expr, SmallVectorImpl<AffineExpr> &terms) {
    if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
        sum && expr.getKind() == AffineExprKind::Add) {
      collectTerms(sum.getLHS(), terms);
      collectTerms(sum.getRHS(), terms);
      return;
    }
    terms.push_back(expr);
  }

  std::optional<Range> rangeOf(AffineExpr expr) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return Range{number.getValue(), number.getValue()};
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return Range{0, space[dim.getPosition()] - 1};
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return std::nullopt;
    std::optional<Range> lhs = rangeOf(binary.getLHS()), rhs = rangeOf(binary.getRHS());
    if (!lhs || !rhs)
      return std::nullopt;
    if (expr.getKind() == AffineExprKind::Add)
      return Range{lhs->low + rhs->low, lhs->high + rhs->high};
    if (rhs->low != rhs->high)
      return std::nullopt;
    int64_t factor = rhs->low;
    if (expr.getKind() == AffineExprKind::Mul)
      return factor >= 0 ? Range{lhs->low * factor, lhs->high * factor}
                         : Range{lhs->high * factor, lhs->low * factor};
    if (factor <= 0)
      return std::nullopt;
    if (expr.getKind() == AffineExprKind::Mod)
      return Range{0, factor - 1};
    if (expr.getKind() == AffineExprKind::FloorDiv)
      return Range{llvm::divideFloorSigned(lhs->low, factor),
                   llvm::divideFloorSigned(lhs->high, factor)};
    return std::nullopt;
  }

  ArrayRef<int64_t> space;
};
} // namespace

/// Returns whether an expression is a sum of dims, symbols and constants with constant factors, for
/// which `simplifyAffineExpr` is idempotent.
static bool isLinear(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  if (expr.getKind() == AffineExprKind::Mul)
    return isa<AffineConstantExpr>(binary.getRHS()) && isLinear(binary.getLHS());
  return expr.getKind() == AffineExprKind::Add && isLinear(binary.getLHS()) &&
         isLinear(binary.getRHS());
}

AffineMap mtc::simplifyOverSpace(AffineMap map, ArrayRef<int64_t> space) {
  SpaceSimplifier simplifier(space);
  auto flatten = [&](AffineExpr expr) {
    return isa<AffineBinaryOpExpr>(expr)
               ? simplifyAffineExpr(expr, map.getNumDims(), map.getNumSymbols())
               : expr;
  };
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults()) {
    AffineExpr flat = flatten(expr), simplified = simplifier.simplify(flat);
    results.push_back(simplified == flat && isLinear(flat) ? flat : flatten(simplified));
  }
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext());
}
