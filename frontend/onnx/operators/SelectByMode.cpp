//===- SelectByMode.cpp - Values of training steps and of inference ---------------------------===//

#include "frontend/onnx/dialect/Modes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"

using namespace mlir;

namespace mtc::onnx {

/// This is not an ONNX operator; see Modes.h.
static LogicalResult convertSelectByMode(Conversion &node) {
  return node.result(0, node.b.selectByMode(node.value(0), node.value(1)));
}

void addSelectByModeOperators(Operators &operators) {
  operators.add(("mtc::" + selectByModeOperator).str(), 1,
                {.convert = convertSelectByMode, .dependsOnStep = true});
}

} // namespace mtc::onnx
