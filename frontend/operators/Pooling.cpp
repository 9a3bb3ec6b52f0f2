//===- Pooling.cpp - Pooling: types; conversion of the global kinds ---------------------------===//

#include "frontend/operators/Conversion.h"
#include "frontend/operators/Formulas.h"
#include "frontend/operators/Inference.h"
#include "frontend/operators/Operators.h"
#include "frontend/operators/Windows.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// MaxPool's second result holds indices into the operand.
LogicalResult inferPool(Inference &node) {
  if (!node.hasRank(0, 3))
    return failure();
  if (!node.hasAttribute("kernel_shape"))
    return node.failure("attribute kernel_shape is missing");
  Extents kernel = node.integers("kernel_shape", {});
  node.flag("count_include_pad", false);
  if (node.failed())
    return failure();
  FailureOr<Windows> windows = readWindows(node, node.shape(0).drop_front(2), kernel);
  if (failed(windows))
    return failure();
  Extents shape = windows->resultShape(node.dim(0, 0), node.dim(0, 1));
  if (failed(node.result(0, node.elementType(0), shape)) || node.opType() != "MaxPool")
    return success(!node.failed());
  return node.result(1, IntegerType::get(node.context(), 64), shape);
}

/// [N, C, …] becomes [N, C, 1, …].
LogicalResult inferGlobalPool(Inference &node) {
  if (!node.hasRank(0, 2))
    return failure();
  Extents shape(node.rank(0), 1);
  shape[0] = node.dim(0, 0);
  shape[1] = node.dim(0, 1);
  return node.result(0, node.elementType(0), shape);
}

/// The mean over all axes behind the channels.
LogicalResult convertGlobalAveragePool(Conversion &node) {
  Value mean = meanOver(node.b, node.value(0), axesFrom(2, node.rank(0)));
  return node.result(0, node.b.reshape(mean, node.resultShape()));
}

LogicalResult convertGlobalMaxPool(Conversion &node) {
  Value maximum = node.b.reduce(ReductionKind::Max, node.value(0), axesFrom(2, node.rank(0)));
  return node.result(0, node.b.reshape(maximum, node.resultShape()));
}

} // namespace

void registerPoolingOperators(Operators &operators) {
  for (StringRef name : {"MaxPool", "AveragePool", "LpPool"})
    operators.add(name, 1, {.infer = inferPool});
  operators.add("GlobalAveragePool", 1,
                {.infer = inferGlobalPool, .convert = convertGlobalAveragePool});
  operators.add("GlobalMaxPool", 1, {.infer = inferGlobalPool, .convert = convertGlobalMaxPool});
  operators.add("GlobalLpPool", 1, {.infer = inferGlobalPool});
}

} // namespace mtc::onnx
