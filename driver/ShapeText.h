//===- ShapeText.h - Memory and time of each shape of a program -------------------------------===//

#ifndef MTC_DRIVER_SHAPETEXT_H
#define MTC_DRIVER_SHAPETEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mtc::tool {

/// Report the sizes, the largest number of live bytes and the estimated time of a micro-step of
/// each shape of an allocated program, if it has several.
void addShapes(mlir::ModuleOp placed, llvm::json::Object &object);
void printShapes(mlir::ModuleOp placed, llvm::raw_ostream &stream);

} // namespace mtc::tool

#endif // MTC_DRIVER_SHAPETEXT_H
