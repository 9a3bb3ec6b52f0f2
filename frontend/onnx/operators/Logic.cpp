//===- Logic.cpp - Comparison, logical and bitwise operators, Where ---------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Broadcast.h"

#include <cstring>
#include <functional>

using namespace mlir;

namespace mtc::onnx {
namespace {

Type boolean(Inference &node) { return IntegerType::get(node.context(), 1); }

LogicalResult inferComparison(Inference &node) {
  FailureOr<Extents> shape = broadcastOperands(node);
  if (failed(shape) || !sameElementTypes(node))
    return failure();
  return node.result(0, boolean(node), *shape);
}

LogicalResult inferLogic(Inference &node) {
  if (!node.booleanElements(0) || !node.booleanElements(1))
    return failure();
  return inferArithmetic(node);
}

LogicalResult inferBitwise(Inference &node) {
  if (!node.integerElements(0))
    return failure();
  return inferArithmetic(node);
}

template <typename Compute>
void addComparison(Operators &operators, StringRef name, int64_t version, Compute compute,
                   Predicate predicate) {
  auto evaluate = [compute](Inference &node) {
    dispatchNumber(node.elementType(0), [&](auto kind) {
      node.fold(0, zip<uint8_t, decltype(kind)>(node.storedTensor(0), node.storedTensor(1),
                                                node.resultType(), compute));
    });
  };
  auto convert = [predicate](Conversion &node) {
    return node.result(0, combineOperands(node, [predicate](TensorBuilder &b, Value x, Value y) {
                         return b.compare(predicate, x, y);
                       }));
  };
  operators.add(name, version,
                {.infer = inferComparison,
                 .evaluate = evaluate,
                 .convert = convert,
                 .roles = {{everyOperand, OperandRole::NoGradient}}});
}

template <typename Compute>
void addLogic(Operators &operators, StringRef name, int64_t version, Compute compute,
              Value (*build)(TensorBuilder &b, Value x, Value y)) {
  auto evaluate = [compute](Inference &node) {
    node.fold(0, zip<uint8_t, uint8_t>(node.storedTensor(0), node.storedTensor(1),
                                       node.resultType(), compute));
  };
  auto convert = [build](Conversion &node) { return node.result(0, combineOperands(node, build)); };
  operators.add(name, version, {.infer = inferLogic, .evaluate = evaluate, .convert = convert});
}

template <typename Compute>
void addBitwise(Operators &operators, StringRef name, int64_t version, Compute compute,
                Value (*build)(TensorBuilder &b, Value x, Value y)) {
  auto evaluate = [compute](Inference &node) {
    node.fold(0, zip<uint64_t, uint64_t>(node.storedTensor(0), node.storedTensor(1),
                                         node.resultType(), compute));
  };
  auto convert = [build](Conversion &node) { return node.result(0, combineOperands(node, build)); };
  operators.add(name, version, {.infer = inferBitwise, .evaluate = evaluate, .convert = convert});
}

bool shiftsLeft(NodeView &node) {
  return node.choice("direction", "", {"LEFT", "RIGHT"}) == "LEFT";
}

LogicalResult inferBitShift(Inference &node) {
  shiftsLeft(node);
  return inferBitwise(node);
}

void evaluateBitShift(Inference &node) {
  bool left = shiftsLeft(node);
  node.fold(0,
            zip<uint64_t, uint64_t>(node.storedTensor(0), node.storedTensor(1), node.resultType(),
                                    [left](uint64_t a, uint64_t b) -> uint64_t {
                                      return b >= 64 ? 0 : left ? a << b : a >> b;
                                    }));
}

LogicalResult convertBitShift(Conversion &node) {
  bool left = shiftsLeft(node);
  return node.result(0, combineOperands(node, [left](TensorBuilder &b, Value x, Value y) -> Value {
                       if (left)
                         return ShiftLeftOp::create(b, x, y);
                       return ShiftRightOp::create(b, x, y);
                     }));
}

LogicalResult inferWhere(Inference &node) {
  FailureOr<Extents> shape = broadcastOperands(node);
  if (failed(shape) || !node.booleanElements(0) || !node.sameElementType(1, 2))
    return failure();
  return node.result(0, node.elementType(1), *shape);
}

void evaluateWhere(Inference &node) {
  const Tensor condition = node.storedTensor(0), yes = node.storedTensor(1),
               no = node.storedTensor(2);
  RankedTensorType type = node.resultType();
  if (condition.isSplat()) {
    const Tensor chosen = (condition.value<uint8_t>() ? yes : no).expanded();
    return node.fold(
        0, stridedCopy(chosen, type, 0, broadcastStrides(chosen.shape(), type.getShape())));
  }
  if (!Tensor::isFoldable(type))
    return;
  const RankedTensorType distinct = distinctType({&condition, &yes, &no}, type);
  const ArrayRef<int64_t> shape = distinct.getShape();
  Tensor result = *Tensor::allocate(distinct);
  const char *conditions = condition.bytes().data(), *ifTrue = yes.bytes().data(),
             *ifFalse = no.bytes().data();
  char *out = result.mutableBytes().data();
  const std::array strides{stridesOver(condition, shape), stridesOver(yes, shape),
                           stridesOver(no, shape)};
  dispatchSize(result.elementSize(), [&](auto width) {
    walkIndices(shape, strides, [&](int64_t i, const std::array<int64_t, 3> &at) {
      const char *from = conditions[at[0]] ? ifTrue + at[1] * width : ifFalse + at[2] * width;
      std::memcpy(out + i * width, from, width);
    });
  });
  node.fold(0, result.repeatedAs(type));
}

LogicalResult convertWhere(Conversion &node) {
  ArrayRef<int64_t> shape = node.resultShape();
  return node.result(0, node.b.select(node.broadcastValue(0, shape), node.broadcastValue(1, shape),
                                      node.broadcastValue(2, shape)));
}

/// y = x. dx is dy if the condition equals the attribute `taken`, and 0 otherwise.
LogicalResult convertGate(Conversion &node) {
  TensorBuilder &b = node.b;
  Value x = node.value(1), passive = b.detach(x);
  Value condition = b.broadcastTo(node.value(0), shapeOf(x));
  bool isTaken = node.flag("taken", true);
  return node.result(0,
                     isTaken ? b.select(condition, x, passive) : b.select(condition, passive, x));
}

} // namespace

void addLogicOperators(Operators &operators) {
  addComparison(operators, "Equal", 7, std::equal_to<>(), Predicate::Eq);
  addComparison(operators, "Greater", 7, std::greater<>(), Predicate::Gt);
  addComparison(operators, "GreaterOrEqual", 12, std::greater_equal<>(), Predicate::Ge);
  addComparison(operators, "Less", 7, std::less<>(), Predicate::Lt);
  addComparison(operators, "LessOrEqual", 12, std::less_equal<>(), Predicate::Le);

  using B = TensorBuilder;
  addLogic(operators, "And", 7, std::logical_and<>(),
           [](B &b, Value x, Value y) { return b.logicalAnd(x, y); });
  addLogic(operators, "Or", 7, std::logical_or<>(),
           [](B &b, Value x, Value y) { return b.logicalOr(x, y); });
  addLogic(operators, "Xor", 7, std::not_equal_to<>(),
           [](B &b, Value x, Value y) -> Value { return XorOp::create(b, x, y); });

  addBitwise(operators, "BitwiseAnd", 18, std::bit_and<>(),
             [](B &b, Value x, Value y) { return b.logicalAnd(x, y); });
  addBitwise(operators, "BitwiseOr", 18, std::bit_or<>(),
             [](B &b, Value x, Value y) { return b.logicalOr(x, y); });
  addBitwise(operators, "BitwiseXor", 18, std::bit_xor<>(),
             [](B &b, Value x, Value y) -> Value { return XorOp::create(b, x, y); });
  operators.add("BitShift", 11,
                {.infer = inferBitShift, .evaluate = evaluateBitShift, .convert = convertBitShift});

  operators.add("Where", 9,
                {.infer = inferWhere, .evaluate = evaluateWhere, .convert = convertWhere});
  operators.add("mtc::Gate", 1, {.convert = convertGate});
}

} // namespace mtc::onnx
