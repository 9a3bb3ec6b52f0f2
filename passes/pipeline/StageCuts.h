//===- StageCuts.h - Where pipeline stages divide a function ----------------------------------===//

#ifndef MTC_PASSES_PIPELINE_STAGECUTS_H
#define MTC_PASSES_PIPELINE_STAGECUTS_H

#include "passes/pipeline/SharedOperations.h"

#include "llvm/ADT/StringMap.h"

#include <string>

namespace mtc {

/// The stage of each variable of the model, by name. Variables of all stages are missing.
using VariableStages = llvm::StringMap<int64_t>;

/// The stages of the operations of a forward part that are not shared.
struct StageCuts {
  llvm::DenseMap<mlir::Operation *, int64_t> stages;
  /// Lookups of rows of a variable that operations of this stage use otherwise. They depend on
  /// nothing else, and have no stage.
  llvm::SmallVector<mlir::Operation *> lookups;
  int64_t stageOfLookups = 0;
};

/// Divides the forward part of a micro-step into stages of consecutive operations, such that the
/// slowest stage, with its messages, has the minimum time, and among these that fewest bytes are
/// sent. Fails with a diagnostic if there are too few operations, or if a variable is used on both
/// sides of every possible cut.
mlir::FailureOr<StageCuts> chooseCuts(mlir::func::FuncOp microStep, const SharedOperations &shared,
                                      const MicroStepParts &parts, int64_t stages);

} // namespace mtc

#endif // MTC_PASSES_PIPELINE_STAGECUTS_H
