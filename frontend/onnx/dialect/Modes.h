//===- Modes.h - Nodes of training steps and of inference -------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_DIALECT_MODES_H
#define MTC_FRONTEND_ONNX_DIALECT_MODES_H

#include "frontend/onnx/dialect/Onnx.h"

#include "llvm/ADT/DenseSet.h"

namespace mtc::onnx {

/// The operator `mtc.SelectByMode(training, inference)`: the first operand in training steps, the
/// second one in inference, of one type. Passes create it if a module computes another value in
/// inference than the inference form of the node.
inline constexpr llvm::StringLiteral selectByModeOperator = "SelectByMode";
/// On SelectByMode: the node of the file whose result is the first operand, and the node and
/// operand number of the second one. Nodes are identified by paths as in `onnx.index` or
/// `onnx.path`. Exported files replace the result by the operand, or by a LeakyRelu of the operand
/// with this slope. They are absent if the nodes are part of a function.
inline constexpr llvm::StringLiteral replacedAttribute = "onnx.replaced",
                                     replacementAttribute = "onnx.replacement",
                                     slopeAttribute = "onnx.slope";

/// SelectByMode: the file lists the value, so that exported files need no paths.
inline constexpr llvm::StringLiteral listedAttribute = "onnx.listed";
/// Graph: the file lists the values that the module replaces in inference.
inline constexpr llvm::StringLiteral inferenceListedAttribute = "onnx.inference_listed";

/// Returns whether a node is an `mtc.SelectByMode`.
inline bool isSelectByMode(NodeOp node) {
  return node.getDomain() == "mtc" && node.getOpType() == selectByModeOperator;
}

/// Creates an `mtc.SelectByMode` after the node of `training`, and replaces the other uses of
/// `training` by its result.
NodeOp selectByMode(mlir::OpBuilder &builder, mlir::Value training, mlir::Value inference);

/// Returns whether a node draws random numbers in inference too.
bool drawsInInference(NodeOp node);

/// Returns the nodes on which the graph's outputs depend in inference.
llvm::DenseSet<mlir::Operation *> nodesOfInference(GraphOp graph);
/// Returns those of them on which no output depends in training steps.
llvm::DenseSet<mlir::Operation *> nodesOnlyOfInference(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_DIALECT_MODES_H
