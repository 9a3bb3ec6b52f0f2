//===- Onnx.h - The onnx dialect --------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_DIALECT_ONNX_H
#define MTC_FRONTEND_ONNX_DIALECT_ONNX_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "frontend/onnx/dialect/OnnxDialect.h.inc"

#define GET_OP_CLASSES
#include "frontend/onnx/dialect/OnnxOps.h.inc"

namespace mtc::onnx {

// Discardable attributes for the metadata in the model's file, which passes read until parameters
// are chosen.

/// Graph: the tool that wrote the file, and the names of the module's parameters and buffers that
/// the file lists, with the shapes of the parameters if it has them.
inline constexpr llvm::StringLiteral producerAttribute = "onnx.producer",
                                     signatureAttribute = "onnx.signature",
                                     signatureShapesAttribute = "onnx.signature_shapes",
                                     buffersAttribute = "onnx.buffers";
/// Node, or constant of a Constant node: its index in the file's main graph, the names of its
/// results, and the dotted path of the module that it came from. Nodes of functions only have the
/// module path.
inline constexpr llvm::StringLiteral indexAttribute = "onnx.index",
                                     resultsAttribute = "onnx.results",
                                     moduleAttribute = "onnx.module";
/// Node: the target of the FX node that it translates, the arguments of the FX node (parameters and
/// buffers by their names in the module, other values as `%NAME`), and the exporter's rewrite rules
/// that created the node.
inline constexpr llvm::StringLiteral fxOperatorAttribute = "onnx.fx_operator",
                                     argumentsAttribute = "onnx.arguments",
                                     rulesAttribute = "onnx.rules";
/// Node: its stack trace contains `no_grad`, so that its results have no gradient in the module.
inline constexpr llvm::StringLiteral noGradAttribute = "onnx.no_grad";
/// The prefix of the rewrite rules that drop a zero bias; the suffix is Gemm, Conv or
/// ConvTranspose. When other rules apply too, this rule does not change a node's metadata.
inline constexpr llvm::StringLiteral droppedBiasRule = "RemoveOptionalBiasFrom";
/// The prefix that the torch.export-based exporter gives tensors that a module's code uses and that
/// are not registered as parameters or buffers, as in `lifted_tensor_3`. In Keras models they are
/// the model's variables.
inline constexpr llvm::StringLiteral liftedPrefix = "lifted_tensor_";
/// Part of the names of Keras' variables as parameters of a PyTorch module.
inline constexpr llvm::StringLiteral kerasVariables = "_torch_params.";
/// Gather: the embedding index without a gradient (`padding_idx`). The attribute is kept until the
/// node is converted.
inline constexpr llvm::StringLiteral paddingAttribute = "onnx.padding_index";
/// Identity: no gradient is propagated to the operand. The attribute is kept until the node is
/// converted.
inline constexpr llvm::StringLiteral detachedAttribute = "onnx.detached";
/// Clip: the gradient is that of the identity. ReduceMax and ReduceMin: the first of equal elements
/// has the gradient. The attributes are kept until the node is converted.
inline constexpr llvm::StringLiteral straightThroughAttribute = "onnx.straight_through",
                                     firstExtremumAttribute = "onnx.first_extremum";
/// Identity: the initializer that a training step sets to the operand. In inference, the result is
/// the initializer's value. The attribute is kept until the node is converted.
inline constexpr llvm::StringLiteral updateAttribute = "onnx.update";
/// Initializer that nodes with `onnx.update` name: it is state. The attribute is kept until the
/// graph is converted.
inline constexpr llvm::StringLiteral updatedAttribute = "onnx.updated";
/// SoftmaxCrossEntropyLoss: the label smoothing of the module's loss, which ONNX's operator does
/// not have. The attribute is kept until the node is converted.
inline constexpr llvm::StringLiteral labelSmoothingAttribute = "onnx.label_smoothing";
/// Identity: the number that a flag of the program sets; the operand is its value as compiled. The
/// attribute is kept until the node is converted.
inline constexpr llvm::StringLiteral settingAttribute = "onnx.setting";
/// BatchNormalization: the framework that defines the running variance, if it is not ONNX: that of
/// the file, or Keras if the running variance is a variable of Keras, which PyTorch's exporter
/// wrote. The attribute is kept until the node is converted.
inline constexpr llvm::StringLiteral frameworkAttribute = "onnx.framework",
                                     pytorchFramework = "pytorch", kerasFramework = "keras";
/// Initializer: the values from which the exporter folded it; all names of the parameter in the
/// module's state_dict, if it has several; whether the module does not train it
/// (`requires_grad=False`).
inline constexpr llvm::StringLiteral foldedFromAttribute = "onnx.folded_from",
                                     aliasesAttribute = "onnx.aliases",
                                     untrainedAttribute = "onnx.untrained";
/// Initializer whose elements are not all equal and which another initializer may equal: digests of
/// its elements and of the elements of the transposed matrix. Initializer whose elements are all
/// equal: the elements.
inline constexpr llvm::StringLiteral digestAttribute = "onnx.digest",
                                     transposedDigestAttribute = "onnx.transposed_digest",
                                     oneValueAttribute = "onnx.one_value";
/// Node in a subgraph of the file's main graph: its path, which alternates between node indices and
/// attribute indices, from the main graph inwards.
inline constexpr llvm::StringLiteral pathAttribute = "onnx.path";
/// Graph with subgraphs: the names of values in subgraphs, which values of the graph must not
/// reuse.
inline constexpr llvm::StringLiteral subgraphNamesAttribute = "onnx.subgraph_names";
/// Identity inserted before an inlined function or an expanded node: the operand number of the node
/// at `onnx.index` or `onnx.path` that it forwards.
inline constexpr llvm::StringLiteral operandAttribute = "onnx.operand";
/// The operator `mtc.Gate(condition, x)`, which the expansion of control flow creates: x, whose
/// gradient is 0 unless the condition equals the attribute `taken`.
inline constexpr llvm::StringLiteral gateOperator = "Gate";
/// The operator `mtc.Scan`, which the expansion of control flow creates from a loop with many
/// iterations. Its operands are `states` states, `inputs` scanned inputs, whose first axis has one
/// slice per iteration, and the values that the subgraph `body` uses. The subgraph's arguments are
/// the states, the slices, and these values; its results are the next states and the slices of the
/// outputs, which the node stacks. With `reversed` = 1, the first iteration has the last slices.
inline constexpr llvm::StringLiteral scanOperator = "Scan";
/// Constant that was an integer initializer: the initializer's name.
inline constexpr llvm::StringLiteral initializerAttribute = "onnx.initializer";
/// Constant that replaces a graph input set by `--bind`.
inline constexpr llvm::StringLiteral boundAttribute = "onnx.bound";

/// Returns whether a node is a gate.
inline bool isGate(NodeOp node) {
  return node.getDomain() == "mtc" && node.getOpType() == gateOperator;
}

/// Returns whether a node is an `mtc.Scan`.
inline bool isScan(NodeOp node) {
  return node.getDomain() == "mtc" && node.getOpType() == scanOperator;
}

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_DIALECT_ONNX_H
