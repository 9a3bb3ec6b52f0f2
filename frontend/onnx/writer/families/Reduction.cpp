//===- Reduction.cpp - Reductions as ONNX nodes -----------------------------------------------===//

#include "frontend/onnx/writer/Conversions.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

StringRef operatorOf(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::Add:
    return "ReduceSum";
  case ReductionKind::Mul:
    return "ReduceProd";
  case ReductionKind::Max:
  case ReductionKind::Or:
    return "ReduceMax";
  case ReductionKind::Min:
  case ReductionKind::And:
    return "ReduceMin";
  }
  llvm_unreachable("all kinds are handled");
}

/// Returns a type that the operator supports: reductions of booleans and of integers below 32 bits
/// are computed in 32 or 64 bits of the same sign.
Type computedElement(Type element) {
  if (isa<FloatType>(element) || element.getIntOrFloatBitWidth() >= 32)
    return element;
  return IntegerType::get(element.getContext(), 32,
                          isUnsigned(element) ? IntegerType::Unsigned : IntegerType::Signless);
}

GraphValue convertReduce(ReduceOp op, GraphBuilder &b) {
  GraphValue x = b.get(op.getInput());
  if (op.getAxes().empty())
    return x;
  Type element = x.element(), computed = computedElement(element);
  GraphValue result =
      b.node(operatorOf(op.getKind()), {b.cast(x, computed), b.integers(op.getAxes())},
             b.typeOf(op.getResult().getType().getShape(), computed), {{"keepdims", 0}});
  return b.cast(result, element);
}

GraphValue convertCumulativeSum(CumulativeSumOp op, GraphBuilder &b) {
  GraphValue x = b.get(op.getInput());
  Type element = x.element();
  GraphValue axis = b.scalar(IntegerType::get(b.getContext(), 64), op.getAxis());
  GraphValue sums = b.same("CumSum", {b.cast(x, computedElement(element)), axis},
                           {{"exclusive", static_cast<int64_t>(op.getExclusive())},
                            {"reverse", static_cast<int64_t>(op.getReverse())}});
  return b.cast(sums, element);
}

void convertTopK(TopKOp op, GraphBuilder &b) {
  RankedTensorType type = op.getValues().getType();
  Type index = IntegerType::get(b.getContext(), 64);
  SmallVector<GraphValue> results =
      b.nodes("TopK", {b.get(op.getInput()), b.integers(type.getShape().back())},
              {type, b.typeOf(type.getShape(), index)},
              {{"axis", -1}, {"largest", static_cast<int64_t>(!op.getSmallest())}});
  b.define(op.getValues(), results[0]);
  b.define(op.getIndices(), b.cast(results[1], op.getIndices().getType().getElementType()));
}

} // namespace

void addReductionConversions(Conversions &conversions) {
  conversions.add(convertReduce);
  conversions.add(convertCumulativeSum);
  conversions.addDefining(convertTopK);
}

} // namespace mtc::onnx
