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

/// Of the graph: the tool that wrote it, and the parameters of the module that it lists, by name.
inline constexpr llvm::StringLiteral producerAttribute = "onnx.producer",
                                     signatureAttribute = "onnx.signature";
/// Of a node, or of the constant of a Constant node: its position in the file's main graph, the
/// names of its results, and the dotted path of the module that it came from. Those of functions
/// have the last alone.
inline constexpr llvm::StringLiteral indexAttribute = "onnx.index",
                                     resultsAttribute = "onnx.results",
                                     moduleAttribute = "onnx.module";
/// Of a node in a subgraph, where the file's main graph holds it: the position of a node, of its
/// attribute, of a node in that graph, and so on.
inline constexpr llvm::StringLiteral pathAttribute = "onnx.path";
/// Of a graph with subgraphs: the names of their values, which none of its own may have.
inline constexpr llvm::StringLiteral subgraphNamesAttribute = "onnx.subgraph_names";
/// Of an Identity in front of an inlined function: which operand of the call, the node at
/// `onnx.index`, it is.
inline constexpr llvm::StringLiteral operandAttribute = "onnx.operand";
/// Of a constant that was an initializer of integers: its name.
inline constexpr llvm::StringLiteral initializerAttribute = "onnx.initializer";
/// Of constants that `--bind` made of inputs.
inline constexpr llvm::StringLiteral boundAttribute = "onnx.bound";

} // namespace mtc::onnx

#endif // MTC_FRONTEND_DIALECT_ONNX_H
