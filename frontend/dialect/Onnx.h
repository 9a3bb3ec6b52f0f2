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

#endif // MTC_FRONTEND_DIALECT_ONNX_H
