//===- FiniteRows.cpp - Rows without elements that are not finite -----------------------------===//
//
// max(bits(select(condition, x, 0)) & INT32_MAX), where the condition is |x| < inf, or its
// conjunction with |y| < inf for other elements y that are reduced in the same way.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/cpu/FiniteRows.h"

#include "codegen/kernels/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

/// Returns the select of a maximum magnitude, or null.
static arith::SelectOp findSelect(KernelReduceOp reduce) {
  auto magnitude = reduce.getValue().getDefiningOp<arith::AndIOp>();
  APInt mask;
  if (reduce.getKind() != ReductionKind::Max || !reduce.getType().isInteger(32) || !magnitude ||
      !matchPattern(magnitude.getRhs(), m_ConstantInt(&mask)) || !mask.isMaxSignedValue())
    return {};
  auto bits = magnitude.getLhs().getDefiningOp<arith::BitcastOp>();
  auto select = bits ? bits.getIn().getDefiningOp<arith::SelectOp>() : nullptr;
  return select && matchPattern(select.getFalseValue(), m_AnyZeroFloat()) ? select : nullptr;
}

/// Returns the element that a comparison determines to be finite, or null.
static Value findTested(Value condition) {
  auto comparison = condition.getDefiningOp<arith::CmpFOp>();
  if (!comparison || comparison.getPredicate() != arith::CmpFPredicate::OLT ||
      !matchPattern(comparison.getRhs(), m_PosInfFloat()))
    return {};
  auto magnitude = comparison.getLhs().getDefiningOp<math::AbsFOp>();
  return magnitude ? magnitude.getOperand() : Value();
}

std::optional<FiniteRows> mtc::cpu::findFiniteRows(const NormalKernel &kernel) {
  FiniteRows rows;
  DenseSet<Value> reduced;
  for (KernelReduceOp reduce : Reductions(kernel, 1).ops) {
    arith::SelectOp select = findSelect(reduce);
    if (!select || (rows.condition && select.getCondition() != rows.condition))
      continue;
    rows.condition = select.getCondition();
    rows.maxima.push_back(reduce);
    reduced.insert(select.getTrueValue());
  }
  if (!rows.condition)
    return std::nullopt;
  SmallVector<Value> conditions = {rows.condition};
  while (!conditions.empty()) {
    Value condition = conditions.pop_back_val();
    if (auto both = condition.getDefiningOp<arith::AndIOp>())
      conditions.append({both.getLhs(), both.getRhs()});
    else if (!reduced.contains(findTested(condition)))
      return std::nullopt;
  }
  return rows;
}
