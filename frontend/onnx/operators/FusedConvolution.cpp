//===- FusedConvolution.cpp - Convolutions of onnxruntime -------------------------------------===//
//
// FusedConv adds a bias and a residual to a convolution and applies an activation. NhwcConv and
// NhwcFusedConv have operands and results in channels-last layout; the weight keeps the layout of
// Conv.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Convolution.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/FusedActivation.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

bool isChannelsLast(NodeView &node) { return node.opType().starts_with("Nhwc"); }

/// Returns the shape [N, C, …] of X.
Extents inputShape(NodeView &node) {
  return isChannelsLast(node) ? applyPermutation(node.shape(0), channelsFirst(node.rank(0)))
                              : Extents(node.shape(0));
}

/// X [N, C, …] or [N, …, C], W [M, C / group, kernel…], B [M], and Z of the result's shape.
LogicalResult inferFusedConvolution(Inference &node) {
  if (failed(FusedActivation::readList(node)) || failed(checkConvolutionOperands(node)))
    return failure();
  FailureOr<Extents> shape = convolvedShape(node, inputShape(node), 1);
  if (failed(shape) || failed(checkConvolutionBias(node, node.dim(1, 0))))
    return failure();
  if (isChannelsLast(node))
    shape = applyPermutation(ArrayRef<int64_t>(*shape), channelsLast(node.rank(0)));
  if (!node.hasShape(3, *shape))
    return failure();
  return node.result(0, node.elementType(0), *shape);
}

/// activation(conv(X, W) + B + Z).
LogicalResult convertFusedConvolution(Conversion &node) {
  Extents input = inputShape(node), toFirst = channelsFirst(node.rank(0));
  FailureOr<Convolution> convolution = Convolution::read(node, readWindows, input);
  FailureOr<FusedActivation> activation = FusedActivation::readList(node);
  if (failed(convolution) || failed(activation))
    return failure();
  TensorBuilder &b = node.b;
  bool isLast = isChannelsLast(node);
  Extents result =
      isLast ? applyPermutation(node.resultShape(), toFirst) : Extents(node.resultShape());
  Value x = isLast ? b.transpose(node.value(0), toFirst) : node.value(0);
  FailureOr<Value> y = convolve(node, x, node.value(1), *convolution, result);
  if (failed(y))
    return failure();
  if (hasConvolutionBias(node, result[1]))
    y = b.add(*y, perChannel(b, node.value(2), result));
  if (isLast)
    y = b.transpose(*y, channelsLast(node.rank(0)));
  if (node.has(3))
    y = b.add(*y, node.value(3));
  return node.result(0, activation->build(b, *y));
}

} // namespace

void addFusedConvolutionOperators(Operators &operators) {
  for (StringRef name : {"FusedConv", "NhwcConv", "NhwcFusedConv"})
    operators.add(("com.microsoft::" + name).str(), 1,
                  {.infer = inferFusedConvolution,
                   .convert = convertFusedConvolution,
                   .roles = {{0, OperandRole::Factor},
                             {1, OperandRole::Factor},
                             {2, OperandRole::BiasOrScale}}});
}

} // namespace mtc::onnx
