//===- Elementwise.cpp - Elementwise operations as ONNX nodes ---------------------------------===//

#include "frontend/onnx/writer/Conversions.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

RankedTensorType resultType(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType());
}

bool isBool(Type element) { return element.isInteger(1); }

/// The operator for each operation that has one of the same semantics and operands. Operators that
/// differ for booleans or integers have conversions of their own below.
struct SameOperator {
  StringLiteral operation, op;
};
constexpr SameOperator sameOperators[] = {
    {NegOp::getOperationName(), "Neg"},          {AbsOp::getOperationName(), "Abs"},
    {ExpOp::getOperationName(), "Exp"},          {LogOp::getOperationName(), "Log"},
    {SqrtOp::getOperationName(), "Sqrt"},        {TanhOp::getOperationName(), "Tanh"},
    {LogisticOp::getOperationName(), "Sigmoid"}, {ErfOp::getOperationName(), "Erf"},
    {SinOp::getOperationName(), "Sin"},          {CosOp::getOperationName(), "Cos"},
    {AsinOp::getOperationName(), "Asin"},        {AcosOp::getOperationName(), "Acos"},
    {AtanOp::getOperationName(), "Atan"},        {FloorOp::getOperationName(), "Floor"},
    {CeilOp::getOperationName(), "Ceil"},        {RoundOp::getOperationName(), "Round"},
    {SignOp::getOperationName(), "Sign"},        {IsNanOp::getOperationName(), "IsNaN"},
    {AddOp::getOperationName(), "Add"},          {SubOp::getOperationName(), "Sub"},
    {MulOp::getOperationName(), "Mul"},          {DivOp::getOperationName(), "Div"},
    {MaxOp::getOperationName(), "Max"},          {MinOp::getOperationName(), "Min"},
    {PowOp::getOperationName(), "Pow"},          {SelectOp::getOperationName(), "Where"},
};

GraphValue compareWith(GraphBuilder &b, StringRef op, const GraphValue &x, double value) {
  Type boolean = IntegerType::get(b.getContext(), 1);
  return b.node(op, {x, b.scalar(x.element(), value)}, b.typeOf(x.shape(), boolean));
}

/// rsqrt(x) = 1 / sqrt(x).
GraphValue convertRsqrt(RsqrtOp op, GraphBuilder &b) {
  return b.same("Reciprocal", b.same("Sqrt", b.get(op.getInput())));
}

/// expm1(x) = tanh(x / 2) (e^x + 1), exact near 0 and at both infinities.
GraphValue convertExpm1(Expm1Op op, GraphBuilder &b) {
  GraphValue x = b.get(op.getInput());
  GraphValue half = b.same("Tanh", b.same("Mul", {x, b.scalar(x.element(), 0.5)}));
  return b.same("Mul", {half, b.same("Add", {b.same("Exp", x), b.scalar(x.element(), 1)})});
}

/// With u = 1 + x and d = u - 1: log1p(x) = x where d = 0, log u * x / d up to x = 1, log u above,
/// where x may be infinite. (D. Goldberg, "What Every Computer Scientist Should Know About
/// Floating-Point Arithmetic", 1991, theorem 4.) The divisor is never 0, so that no branch has a
/// gradient that is not a number.
GraphValue convertLog1p(Log1pOp op, GraphBuilder &b) {
  GraphValue x = b.get(op.getInput()), one = b.scalar(x.element(), 1);
  GraphValue u = b.same("Add", {x, one}), d = b.same("Sub", {u, one});
  GraphValue isSmall = compareWith(b, "Equal", d, 0), isLarge = compareWith(b, "Greater", x, 1);
  GraphValue log = b.same("Log", u);
  GraphValue plain = b.node("Or", {isSmall, isLarge}, isSmall.type);
  GraphValue divisor = b.node("Where", {plain, one, d}, x.type);
  GraphValue dividend = b.node("Where", {plain, one, x}, x.type);
  GraphValue product = b.same("Mul", {log, b.same("Div", {dividend, divisor})});
  return b.node("Where", {isSmall, x, product}, x.type);
}

GraphValue convertNot(NotOp op, GraphBuilder &b) {
  GraphValue x = b.get(op.getInput());
  return b.same(isBool(x.element()) ? "Not" : "BitwiseNot", x);
}

GraphValue convertCast(CastOp op, GraphBuilder &b) {
  return b.cast(b.get(op.getInput()), resultType(op).getElementType());
}

/// Numbers that are not differentiable need no mark.
GraphValue convertDetach(DetachOp op, GraphBuilder &b) {
  GraphValue x = b.get(op.getInput());
  return isDifferentiable(x.type) ? b.detached(x) : x;
}

/// Mod with fmod has the sign of the dividend.
GraphValue convertRem(RemOp op, GraphBuilder &b) {
  return b.node("Mod", b.getOperands(op->getOperands()), resultType(op), {{"fmod", 1}});
}

template <typename Op>
GraphValue convertLogical(Op op, GraphBuilder &b, StringRef ofBools, StringRef ofIntegers) {
  RankedTensorType type = resultType(op);
  return b.node(isBool(type.getElementType()) ? ofBools : ofIntegers,
                b.getOperands(op->getOperands()), type);
}

GraphValue convertAnd(AndOp op, GraphBuilder &b) {
  return convertLogical(op, b, "And", "BitwiseAnd");
}
GraphValue convertOr(OrOp op, GraphBuilder &b) { return convertLogical(op, b, "Or", "BitwiseOr"); }
GraphValue convertXor(XorOp op, GraphBuilder &b) {
  return convertLogical(op, b, "Xor", "BitwiseXor");
}

/// Shifts an unsigned number; shifts by the bit width and above, which BitShift does not define,
/// yield 0. Numbers are selected as i64, since not every runtime selects unsigned numbers.
GraphValue convertShift(Operation *op, GraphBuilder &b, StringRef direction) {
  RankedTensorType type = resultType(op);
  const unsigned width = type.getElementType().getIntOrFloatBitWidth();
  Type shifted = IntegerType::get(b.getContext(), width, IntegerType::Unsigned);
  Type selected = IntegerType::get(b.getContext(), 64);
  GraphValue x = b.cast(b.get(op->getOperand(0)), shifted), zero = b.scalar(selected, 0);
  // Amounts of 2^63 and above are negative here.
  GraphValue amount = b.cast(b.cast(b.get(op->getOperand(1)), shifted), selected);
  GraphValue isInside = b.same(
      "And", {compareWith(b, "GreaterOrEqual", amount, 0), compareWith(b, "Less", amount, width)});
  amount = b.cast(b.node("Where", {isInside, amount, zero}, amount.type), shifted);
  GraphValue result = b.same("BitShift", {x, amount}, {{"direction", direction.str()}});
  result = b.node("Where", {isInside, b.cast(result, selected), zero}, type.clone(selected));
  return b.cast(b.cast(result, shifted), type.getElementType());
}

GraphValue convertShiftLeft(ShiftLeftOp op, GraphBuilder &b) { return convertShift(op, b, "LEFT"); }
GraphValue convertShiftRight(ShiftRightOp op, GraphBuilder &b) {
  return convertShift(op, b, "RIGHT");
}

/// The operator of a predicate; NE is the negation of EQ.
StringRef operatorOf(Predicate predicate) {
  switch (predicate) {
  case Predicate::Eq:
  case Predicate::Ne:
    return "Equal";
  case Predicate::Lt:
    return "Less";
  case Predicate::Le:
    return "LessOrEqual";
  case Predicate::Gt:
    return "Greater";
  case Predicate::Ge:
    return "GreaterOrEqual";
  }
  llvm_unreachable("all predicates are handled");
}

GraphValue convertCompare(CompareOp op, GraphBuilder &b) {
  const Predicate predicate = op.getPredicate();
  const bool isEquality = predicate == Predicate::Eq || predicate == Predicate::Ne;
  SmallVector<GraphValue> operands = b.getOperands(op->getOperands());
  for (GraphValue &operand : operands)
    if (isBool(operand.element()) && !isEquality) // Booleans have no order in ONNX.
      operand = b.cast(operand, IntegerType::get(b.getContext(), 32));
  GraphValue result = b.node(operatorOf(predicate), operands, resultType(op));
  return predicate == Predicate::Ne ? b.same("Not", result) : result;
}

} // namespace

void addElementwiseConversions(Conversions &conversions) {
  for (const SameOperator &each : sameOperators)
    conversions.addSame(each.operation, each.op);
  conversions.add(convertRsqrt);
  conversions.add(convertExpm1);
  conversions.add(convertLog1p);
  conversions.add(convertNot);
  conversions.add(convertCast);
  conversions.add(convertDetach);
  conversions.add(convertRem);
  conversions.add(convertAnd);
  conversions.add(convertOr);
  conversions.add(convertXor);
  conversions.add(convertShiftLeft);
  conversions.add(convertShiftRight);
  conversions.add(convertCompare);
}

} // namespace mtc::onnx
