//===- PipelineText.h - Memory and time of each pipeline stage --------------------------------===//

#ifndef MTC_DRIVER_PIPELINETEXT_H
#define MTC_DRIVER_PIPELINETEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mtc::tool {

/// Adds the stages of an allocated program to a plan's JSON, if it has several.
void addStages(mlir::ModuleOp program, llvm::json::Object &object);
/// Prints them: the time of an update, and memory, computation and messages of each stage.
void printStages(mlir::ModuleOp program, llvm::raw_ostream &stream);

} // namespace mtc::tool

#endif // MTC_DRIVER_PIPELINETEXT_H
