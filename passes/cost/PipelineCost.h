//===- PipelineCost.h - Estimated time of an update of pipeline stages ------------------------===//

#ifndef MTC_PASSES_COST_PIPELINECOST_H
#define MTC_PASSES_COST_PIPELINECOST_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"

namespace mtc {

/// The time of an update of a program with pipeline stages.
struct PipelineCost {
  /// A function that a stage runs.
  struct Run {
    std::string function;
    int64_t micro;
    double begin, end; ///< seconds since the update began
  };
  struct Stage {
    double busy = 0;       ///< seconds in which the stage runs functions
    double update = 0;     ///< seconds of the update after the micro-steps
    int64_t sentBytes = 0; ///< of messages, by each rank
    llvm::SmallVector<Run> runs;
  };
  double seconds = 0; ///< of the slowest stage, with its update
  llvm::SmallVector<Stage> stages;

  /// Returns the part of the time in which stages wait for each other, on average.
  double getBubble() const;
};

/// Simulates the tasks of the stages, whose modules are allocated. Messages take the time of the
/// network; they proceed while functions run, and end when both sides have started them.
PipelineCost estimatePipeline(llvm::ArrayRef<mlir::ModuleOp> stages);

} // namespace mtc

#endif // MTC_PASSES_COST_PIPELINECOST_H
