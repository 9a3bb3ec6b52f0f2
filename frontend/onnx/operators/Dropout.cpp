//===- Dropout.cpp - Dropout ------------------------------------------------------------------===//

#include "ir/builders/Dropout.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/RandomNumbers.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// The drop probability of a node.
struct DropRatio {
  std::optional<double> value;
  size_t unknown = 0; ///< If `value` is empty: the operand that is not known at compile time.
};

/// Returns 0 if the node is in inference mode, as specified by operand 2 from version 12 on.
/// Earlier versions are always in inference mode.
DropRatio readRatio(const NodeView &node) {
  if (node.version() < 12 || !node.has(2))
    return {0.0};
  std::optional<SmallVector<int64_t>> training = node.constantInts(2);
  std::optional<SmallVector<double>> ratio = node.constantFloats(1);
  if (!node.has(1))
    ratio = SmallVector<double>{0.5};
  if ((training && !training->front()) || (ratio && ratio->front() == 0))
    return {0.0};
  if (!training || !ratio)
    return {std::nullopt, training ? size_t(1) : size_t(2)};
  return {ratio->front()};
}

/// A node that drops nothing is replaced by its operand; its mask is true.
LogicalResult inferDropout(Inference &node) {
  if (!node.floatElements(0) || !node.hasOneElement(1) || !node.hasOneElement(2))
    return failure();
  bool isIdentity = readRatio(node).value == 0.0;
  auto mask = RankedTensorType::get(node.shape(0), IntegerType::get(node.context(), 1));
  if (failed(isIdentity ? node.forward(0, 0) : node.result(0, node.type(0))) ||
      failed(node.result(1, mask)))
    return failure();
  if (isIdentity)
    node.fold(1, Tensor::fromValues<uint8_t>(mask, uint8_t(1)));
  return success();
}

/// Elements are dropped only in training steps.
LogicalResult convertDropout(Conversion &node) {
  auto [ratio, unknown] = readRatio(node);
  if (!ratio)
    return node.needsConstant(unknown);
  if (!(*ratio >= 0 && *ratio < 1))
    return node.failure(node.operandName(1) + " = " + llvm::to_string(llvm::format("%g", *ratio)) +
                        ", expected at least 0 and below 1");
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  auto keepAll = [&] { return b.splat(RankedTensorType::get(node.shape(0), b.getI1Type()), 1.0); };
  if (*ratio != 0)
    *ratio = node.program().dropoutRate(*ratio);
  if (*ratio == 0)
    return success(succeeded(node.result(0, x)) &&
                   (!node.wants(1) || succeeded(node.result(1, keepAll()))));
  const Number rate = node.program().readNumber(
      dropoutSetting, "rate_" + llvm::to_string(llvm::format("%g", *ratio)), *ratio,
      node.location());
  Value mask = buildKeepMask(b, randomBits(node, node.shape(0)), rate);
  Value y = buildDropout(b, x, mask, rate);
  if (failed(node.result(0, b.selectByMode(y, x))))
    return failure();
  return node.wants(1) ? node.result(1, b.selectByMode(mask, keepAll())) : success();
}

} // namespace

void addDropoutOperators(Operators &operators) {
  operators.add("Dropout", 7,
                {.infer = inferDropout, .convert = convertDropout, .dependsOnStep = true});
}

} // namespace mtc::onnx
