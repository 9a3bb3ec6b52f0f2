//===- StageTasks.h - Tasks of pipeline stages ------------------------------------------------===//

#ifndef MTC_PASSES_PIPELINE_STAGETASKS_H
#define MTC_PASSES_PIPELINE_STAGETASKS_H

#include "ir/Mtc.h"
#include "passes/pipeline/TaskOrder.h"

#include "mlir/IR/BuiltinOps.h"

namespace mtc {

/// What a stage runs for a chunk of a function: the numbers of its messages, by direction and by
/// whether they are of the backward part.
struct ChunkTasks {
  std::string forward, backward; ///< functions; `backward` is "" if the chunk has one part
  bool readsInputs = false;
  int64_t slots = 1;
  llvm::SmallVector<int64_t> received[2], sent[2];
};

/// Writes the tasks of an update: `order` are those of the stage, and `chunks` has its chunks by
/// number. Receives start as soon as their slot is free, sends when their value is known; a slot is
/// written again when its messages have ended. `last` is a function that runs at the end.
void writeUpdateTasks(mlir::ModuleOp stage, llvm::ArrayRef<PipelineTask> order,
                      const llvm::DenseMap<int64_t, ChunkTasks> &chunks, int64_t micros,
                      llvm::StringRef last);

/// Writes the tasks of a batch of a forward run: those of the stage's chunks, in their order.
void writeForwardTasks(mlir::ModuleOp stage, llvm::StringRef of, llvm::ArrayRef<ChunkTasks> chunks);

/// Simulates the tasks of all stages. A message ends when both sides have started it. Returns
/// "" if all tasks end, and a description of the first that waits for ever otherwise.
std::string findDeadlock(llvm::ArrayRef<mlir::ModuleOp> stages, llvm::StringRef of);

} // namespace mtc

#endif // MTC_PASSES_PIPELINE_STAGETASKS_H
