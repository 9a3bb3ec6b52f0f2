//===- RunSteps.h - Execution of steps on inputs from attributes ------------------------------===//

#ifndef MTC_TOOLS_MTC_RUN_RUNSTEPS_H
#define MTC_TOOLS_MTC_RUN_RUNSTEPS_H

#include "codegen/Codegen.h"

namespace mtc {

/// Runs, in order, the steps that have the attribute `run.inputs` (an array of dense elements, one
/// for each input), and prints their outputs. A fault is reported as an error.
mlir::LogicalResult runSteps(mlir::ModuleOp module, Target &target);

} // namespace mtc

#endif // MTC_TOOLS_MTC_RUN_RUNSTEPS_H
