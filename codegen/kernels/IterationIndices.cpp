//===- IterationIndices.cpp - Affine functions of a kernel's iteration ------------------------===//

#include "codegen/kernels/IterationEmitter.h"

#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mtc;

Value IterationEmitter::indexLike(int64_t value, Type like) {
  return splatConstant(b, b.getIntegerAttr(indexType, value), like);
}

/// Converts an integer of the body (i64) to the index type. The truncation is lossless for valid
/// indices.
Value IterationEmitter::toIndex(Value integer) {
  Type type = withShapeOf(indexType, integer.getType());
  return type == integer.getType() ? integer : arith::TruncIOp::create(b, type, integer);
}

Value IterationEmitter::emitIndex(KernelIndexOp op) {
  Value value = offsets(offsetOf(kernel.indices.find(op)->second, {}));
  Type type = withShapeOf(b.getI64Type(), value.getType());
  return type == value.getType() ? value : arith::ExtSIOp::create(b, type, value);
}

IterationEmitter::LaneOffset IterationEmitter::offsetOf(const LinearForm &form,
                                                        ValueRange symbols) {
  LaneOffset result;
  SmallVector<Value> uniform;
  auto scaled = [&](Value value, int64_t factor) -> Value {
    if (factor == 1)
      return value;
    return arith::MulIOp::create(b, value, indexLike(factor, value.getType()));
  };
  auto addLanes = [&](Value value) {
    result.laneOffsets =
        result.laneOffsets ? arith::AddIOp::create(b, result.laneOffsets, value) : value;
  };
  for (unsigned dim = 0; dim < kernel.rank(); ++dim)
    if (form.dims[dim] != 0)
      uniform.push_back(scaled(state.dims[dim], form.dims[dim]));
  if (state.lanesDim)
    result.laneStride = form.dims[*state.lanesDim];
  bool symbolInLanes = false;
  SmallVector<Value> symbolValues;
  for (Value symbol : symbols)
    symbolValues.push_back(toIndex(symbol));
  for (auto [position, symbol] : llvm::enumerate(symbolValues)) {
    if (((form.restSymbols >> position) & 1) && isVector(symbol))
      symbolInLanes = true;
    if (form.symbols[position] == 0)
      continue;
    Value term = scaled(symbol, form.symbols[position]);
    if (isVector(term))
      addLanes(term);
    else
      uniform.push_back(term);
  }
  bool restInLanes = symbolInLanes || (state.lanesDim && contains(form.restDims, *state.lanesDim));
  if (restInLanes)
    addLanes(expand(form.rest, symbolValues, /*inLanes=*/true));
  else if (auto constant = dyn_cast<AffineConstantExpr>(form.rest);
           !constant || constant.getValue() != 0)
    uniform.push_back(expand(form.rest, symbolValues, /*inLanes=*/false));
  for (Value term : uniform)
    result.uniform = result.uniform ? arith::AddIOp::create(b, result.uniform, term) : term;
  if (!result.uniform)
    result.uniform = index(0);
  return result;
}

/// Returns the offset as a scalar, or as a vector over the lanes.
Value IterationEmitter::offsets(const LaneOffset &at) {
  if (at.isUniform())
    return at.uniform;
  Value sum = broadcast(at.uniform);
  if (at.laneStride != 0) {
    SmallVector<Attribute> steps;
    for (int64_t lane = 0; lane < state.lanes; ++lane)
      steps.push_back(b.getIntegerAttr(indexType, lane * at.laneStride));
    auto type = cast<VectorType>(inLanes(indexType));
    sum = arith::AddIOp::create(b, sum,
                                arith::ConstantOp::create(b, DenseElementsAttr::get(type, steps)));
  }
  if (at.laneOffsets)
    sum = arith::AddIOp::create(b, sum, at.laneOffsets);
  return sum;
}

Value IterationEmitter::lanesIndex(unsigned dim) {
  LaneOffset at;
  at.uniform = state.dims[dim];
  at.laneStride = 1;
  return offsets(at);
}

/// Returns whether an expression is non-negative for all indices of the space.
static bool isNonNegative(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  if (isa<AffineDimExpr>(expr) || expr.getKind() == AffineExprKind::Mod)
    return true;
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr))
    return isNonNegative(binary.getLHS()) && isNonNegative(binary.getRHS());
  return false;
}

Value IterationEmitter::expand(AffineExpr expr, ArrayRef<Value> symbols, bool asLanes) {
  Type type = asLanes ? inLanes(indexType) : indexType;
  auto shaped = [&](Value value) { return asLanes ? broadcast(value) : value; };
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return indexLike(constant.getValue(), type);
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    unsigned position = dim.getPosition();
    return asLanes && state.lanesDim == position ? lanesIndex(position)
                                                 : shaped(state.dims[position]);
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return shaped(symbols[symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = expand(binary.getLHS(), symbols, asLanes);
  Value rhs = expand(binary.getRHS(), symbols, asLanes);
  bool simple = isNonNegative(binary.getLHS());
  Value zero = indexLike(0, type);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, lhs, rhs);
  case AffineExprKind::Mod: {
    if (simple)
      return arith::RemUIOp::create(b, lhs, rhs);
    Value remainder = arith::RemSIOp::create(b, lhs, rhs);
    Value negative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, remainder, zero);
    Value moved = arith::AddIOp::create(b, remainder, rhs);
    return arith::SelectOp::create(b, negative, moved, remainder);
  }
  case AffineExprKind::FloorDiv:
    if (simple)
      return arith::DivUIOp::create(b, lhs, rhs);
    return arith::FloorDivSIOp::create(b, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(b, lhs, rhs);
  default:
    llvm_unreachable("all kinds are covered");
  }
}
