//===- Dropout.cpp - Dropout ------------------------------------------------------------------===//

#include "frontend/convert/Converters.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/ScopedPrinter.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// The ratio of elements to drop: 0 unless the node trains. Before version 12 it never does
/// (version 1 and 6 say so by `is_test`); since then ratio and mode are operands.
FailureOr<double> effectiveRatio(Conversion &node) {
  if (node.version() < 7 && !node.flag("is_test", false))
    return node.failure("the training form of this version is not supported, that of version 12 "
                        "and later is; convert the model to a newer opset");
  if (node.version() < 12 || !node.has(2))
    return 0.0;
  auto training = node.constantInts(2);
  if (!training)
    return node.needsConstant(2);
  if (!training->front())
    return 0.0;
  if (!node.has(1))
    return 0.5;
  auto ratio = node.constantFloats(1);
  if (!ratio)
    return node.needsConstant(1);
  if (!(ratio->front() >= 0 && ratio->front() < 1))
    return node.failure(node.operandName(1) + " = " +
                        llvm::to_string(llvm::format("%g", ratio->front())) +
                        ", expected at least 0 and below 1");
  return ratio->front();
}

/// True where an element is kept: a function of the seed, the step and the node, so that nothing is
/// stored for the backward pass. 32 random bits are, as a signed number, at or above -2^31 + ratio
/// 2^32 with probability 1 - ratio.
Value keepMask(Conversion &node, double ratio) {
  TensorBuilder &b = node.b;
  Program &program = node.program();
  auto type = RankedTensorType::get(node.shape(0), b.getI32Type());
  Value bits = RandomBitsOp::create(b, type, program.readScalar("mtc.seed", node.location()),
                                    program.readScalar("mtc.step", node.location()),
                                    program.nextRandomStream());
  double threshold = std::floor(std::ldexp(ratio, 32)) - std::ldexp(1.0, 31);
  return b.compare(Predicate::Ge, bits, b.splat(bits, threshold));
}

LogicalResult convertDropout(Conversion &node) {
  FailureOr<double> ratio = effectiveRatio(node);
  if (failed(ratio) || node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0), y = x;
  auto maskType = RankedTensorType::get(node.shape(0), b.getI1Type());
  Value mask;
  if (*ratio > 0) {
    mask = keepMask(node, *ratio);
    y = b.select(mask, b.mul(x, b.splat(x, 1.0 / (1.0 - *ratio))), b.splat(x, 0.0));
  }
  if (failed(node.result(0, y)))
    return failure();
  if (!node.wants(1))
    return success();
  if (!mask)
    mask = b.splat(maskType, 1.0);
  // Before version 10 the mask has the data's type.
  return node.result(1, b.cast(mask, node.resultType(1).getElementType()));
}

} // namespace

void registerDropoutConverters(Converters &converters) {
  converters.add("Dropout", 1, convertDropout);
}

} // namespace mtc::onnx
