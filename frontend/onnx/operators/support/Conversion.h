//===- Conversion.h - Node view for operator conversions --------------------------------------===//
//
// The argument of `Operator::convert`: reads the node as type inference does (Node.h), builds core
// operations with `b`, and sets the results.
//
//   LogicalResult convertGather(Conversion &node) {
//     int64_t axis = indexedAxis(node);
//     if (node.failed())
//       return failure();
//     TensorBuilder &b = node.b;
//     ...
//     return node.result(0, y);
//   }
//
// Type inference has run, so operands match the operator's definition. A conversion only checks for
// unsupported cases.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_CONVERSION_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_CONVERSION_H

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/operators/support/Program.h"

namespace mtc::onnx {

class Conversion : public NodeView {
public:
  Conversion(NodeOp op, Program &program)
      : NodeView(op, [&program](mlir::Value value) { return program.constant(value); }),
        b(program.builderAt(op.getLoc())), owner(program) {}

  /// Builds at the end of `@forward`; all operations get the node's location.
  TensorBuilder b;

  Program &program() { return owner; }

  /// Returns operand `i`, which must be present (`has(i)`).
  mlir::Value value(size_t i) { return owner.value(operand(i)); }
  /// Returns operand `i`, broadcast to `shape` by ONNX's multidirectional broadcasting.
  mlir::Value broadcastValue(size_t i, llvm::ArrayRef<int64_t> shape) {
    return b.broadcastTo(value(i), shape);
  }

  /// Returns the type of result `i`, which must be present (`wants(i)`).
  mlir::RankedTensorType resultType(size_t i = 0) const;
  llvm::ArrayRef<int64_t> resultShape(size_t i = 0) const { return resultType(i).getShape(); }

  /// Sets result `i` to `value`. Results that the model omits are ignored. Fails with a diagnostic
  /// if `value` does not have the result's type.
  mlir::LogicalResult result(size_t i, mlir::Value value);

private:
  Program &owner;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_CONVERSION_H
