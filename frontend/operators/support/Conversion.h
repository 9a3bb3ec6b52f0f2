//===- Conversion.h - What an operator's conversion works with --------------------------------===//
//
// The view that `convert` of an operator's record gets: it reads the node as inference does
// (Node.h), builds with `b`, and says what the results are.
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
// Types are inferred, so operands match the operator's definition; only what is not supported is
// checked.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_CONVERSION_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_CONVERSION_H

#include "frontend/dialect/Node.h"
#include "frontend/operators/support/Program.h"

namespace mtc::onnx {

class Conversion : public NodeView {
public:
  Conversion(NodeOp op, Program &program)
      : NodeView(op, [&program](mlir::Value value) { return program.constant(value); }),
        b(program.builderAt(op.getLoc())), owner(program) {}

  /// Builds at the end of the function, every operation at the node's location.
  TensorBuilder b;

  Program &program() { return owner; }

  /// Operand `i`, which `has(i)`.
  mlir::Value value(size_t i) { return owner.value(operand(i)); }
  /// Operand `i` repeated to `shape` by ONNX's multidirectional broadcasting.
  mlir::Value broadcastValue(size_t i, llvm::ArrayRef<int64_t> shape) {
    return b.broadcastTo(value(i), shape);
  }

  /// The type of result `i`, which `wants(i)`.
  mlir::RankedTensorType resultType(size_t i = 0) const;
  llvm::ArrayRef<int64_t> resultShape(size_t i = 0) const { return resultType(i).getShape(); }

  /// Result `i` is `value`; one that the model leaves out is ignored. Reports a value whose type is
  /// not the result's.
  mlir::LogicalResult result(size_t i, mlir::Value value);

private:
  Program &owner;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_CONVERSION_H
