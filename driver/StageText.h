//===- StageText.h - Modules as text ----------------------------------------------------------===//
//
// What `--emit` prints of a stage, `mtc compile` continues from.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_DRIVER_STAGETEXT_H
#define MTC_DRIVER_STAGETEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mtc::tool {

/// Whether a file is a stage's text and no ONNX model: it is called so (`.mlir`), or begins as mtc
/// begins one.
bool isStageText(llvm::StringRef path);

/// Reads a stage's text. Null after diagnostics: it is no module, says not which stage it is of or
/// which target it is for, has not what the stage has, or leaves elements out.
mlir::OwningOpRef<mlir::ModuleOp> readStageText(llvm::StringRef path, mlir::MLIRContext &context);

/// Prints all that a program is made of, or, abridged for a reader, without the elements of large
/// constants and without nodes' names.
void printStageText(mlir::ModuleOp module, llvm::raw_ostream &os, bool isAbridged);

} // namespace mtc::tool

#endif // MTC_DRIVER_STAGETEXT_H
