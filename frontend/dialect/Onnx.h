//===- Onnx.h - The onnx dialect --------------------------------------------------------------===//

#ifndef MTC_FRONTEND_DIALECT_ONNX_H
#define MTC_FRONTEND_DIALECT_ONNX_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "frontend/dialect/OnnxDialect.h.inc"

#define GET_OP_CLASSES
#include "frontend/dialect/OnnxOps.h.inc"

namespace mtc::onnx {

// What the file says besides, kept until parameters are chosen.

/// Of the graph: the tool that wrote it, and the module's parameters and buffers that it lists, by
/// name.
inline constexpr llvm::StringLiteral producerAttribute = "onnx.producer",
                                     signatureAttribute = "onnx.signature",
                                     buffersAttribute = "onnx.buffers";
/// Of a node, or of the constant of a Constant node: its position in the file's main graph, the
/// names of its results, and the dotted path of the module that it came from. Those of functions
/// have the last alone.
inline constexpr llvm::StringLiteral indexAttribute = "onnx.index",
                                     resultsAttribute = "onnx.results",
                                     moduleAttribute = "onnx.module";
/// Of a node: the operator of the FX node that it translates, that node's arguments (parameters and
/// buffers by their names in the module, other values as `%NAME`), and the exporter's rewriting
/// rules that made the node.
inline constexpr llvm::StringLiteral fxOperatorAttribute = "onnx.fx_operator",
                                     argumentsAttribute = "onnx.arguments",
                                     rulesAttribute = "onnx.rules";
/// The rule that drops a bias of zeros; Gemm, Conv or ConvTranspose follows. Beside others it
/// leaves a node's metadata as they are.
inline constexpr llvm::StringLiteral droppedBiasRule = "RemoveOptionalBiasFrom";
/// What PyTorch's newer exporter calls the tensors that it met in a module's code, and not among
/// the module's parameters and buffers: `lifted_tensor_3`. Those of Keras are its variables.
inline constexpr llvm::StringLiteral liftedPrefix = "lifted_tensor_";
/// Of a Gather: the row of an embedding that has no gradient (`padding_idx`). It is kept until the
/// node is converted.
inline constexpr llvm::StringLiteral paddingAttribute = "onnx.padding_index";
/// Of a SoftmaxCrossEntropyLoss: the label smoothing of the module's loss, which ONNX's lacks. It
/// is kept until the node is converted.
inline constexpr llvm::StringLiteral labelSmoothingAttribute = "onnx.label_smoothing";
/// Of an initializer: the values that the exporter folded it from; all names of the parameter in
/// the module's state_dict, where it has several; that the module does not train it
/// (`requires_grad`).
inline constexpr llvm::StringLiteral foldedFromAttribute = "onnx.folded_from",
                                     aliasesAttribute = "onnx.aliases",
                                     untrainedAttribute = "onnx.untrained";
/// Of an initializer whose elements differ and which another one may equal: digests of its
/// elements, and of those of the transposed matrix.
inline constexpr llvm::StringLiteral digestAttribute = "onnx.digest",
                                     transposedDigestAttribute = "onnx.transposed_digest";
/// Of a node in a subgraph, where the file's main graph holds it: the position of a node, of its
/// attribute, of a node in that graph, and so on.
inline constexpr llvm::StringLiteral pathAttribute = "onnx.path";
/// Of a graph with subgraphs: the names of their values, which none of its own may have.
inline constexpr llvm::StringLiteral subgraphNamesAttribute = "onnx.subgraph_names";
/// Of an Identity in front of an inlined function or a node that is expanded: which operand of the
/// node at `onnx.index` or `onnx.path` it is.
inline constexpr llvm::StringLiteral operandAttribute = "onnx.operand";
/// Of a constant that was an initializer of integers: its name.
inline constexpr llvm::StringLiteral initializerAttribute = "onnx.initializer";
/// Of constants that `--bind` made of inputs.
inline constexpr llvm::StringLiteral boundAttribute = "onnx.bound";

} // namespace mtc::onnx

#endif // MTC_FRONTEND_DIALECT_ONNX_H
