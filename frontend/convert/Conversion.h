//===- Conversion.h - What a converter works with ---------------------------------------------===//
//
// A converter is a short function: it reads the node as an inference rule does (Node.h), builds
// with `b`, and says what the results are.
//
//   LogicalResult convertSoftmax(Conversion &node) {
//     int64_t axis = node.axis("axis", -1, node.rank(0));
//     if (node.failed())
//       return failure();
//     TensorBuilder &b = node.b;
//     ...
//     return node.result(0, y);
//   }
//
// Types are inferred, so operands match the operator's definition; a converter checks only what it
// does not support.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_CONVERT_CONVERSION_H
#define MTC_FRONTEND_CONVERT_CONVERSION_H

#include "frontend/convert/Program.h"
#include "frontend/dialect/Node.h"

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

#endif // MTC_FRONTEND_CONVERT_CONVERSION_H
