//===- Stages.h - The modules of a program's pipeline stages ----------------------------------===//

#ifndef MTC_PASSES_PIPELINE_STAGES_H
#define MTC_PASSES_PIPELINE_STAGES_H

#include "mlir/IR/BuiltinOps.h"

namespace mtc {

/// Returns the modules of a program's pipeline stages, in their order; the module itself if it is
/// not divided.
llvm::SmallVector<mlir::ModuleOp> stagesOf(mlir::ModuleOp program);

/// Gives all stages the scalars that the runtime writes for some of them, such as the number of the
/// step, so that the tables of all stages have them.
void shareScalars(llvm::ArrayRef<mlir::ModuleOp> stages);

/// Returns the module with the largest arena among the allocated stages of a program.
mlir::ModuleOp largestStageOf(mlir::ModuleOp program);

} // namespace mtc

#endif // MTC_PASSES_PIPELINE_STAGES_H
