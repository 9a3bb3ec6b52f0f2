//===- StageText.h - Reading and printing the text of a stage ---------------------------------===//
//
// `mtc compile` can resume from the text that `--emit` prints for a stage.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_DRIVER_STAGETEXT_H
#define MTC_DRIVER_STAGETEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mtc::tool {

/// Returns whether a file is the text of a stage and not an ONNX model: its name ends in `.mlir`,
/// or it starts with the header that mtc writes.
bool isStageText(llvm::StringRef path);

/// Reads the text of a stage. Returns null, with diagnostics, if the text is not a module, does not
/// name its stage or target, lacks what the stage requires, or is abridged.
mlir::OwningOpRef<mlir::ModuleOp> readStageText(llvm::StringRef path, mlir::MLIRContext &context);

/// Prints the complete module or, if abridged for readability, without node names and without the
/// elements of large constants.
void printStageText(mlir::ModuleOp module, llvm::raw_ostream &os, bool isAbridged);

} // namespace mtc::tool

#endif // MTC_DRIVER_STAGETEXT_H
