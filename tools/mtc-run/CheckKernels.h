//===- CheckKernels.h - Comparison of emitted kernels with the interpreter --------------------===//

#ifndef MTC_TOOLS_MTC_RUN_CHECKKERNELS_H
#define MTC_TOOLS_MTC_RUN_CHECKKERNELS_H

#include "codegen/Codegen.h"

namespace mtc {

struct CheckOptions {
  bool compare, time;
  double tolerance;
};

/// Runs every kernel function of the module on generated inputs, in tiles of its range of work
/// items. Compares the results with the interpreter's, and prints a line for each. The attribute
/// `run.ranges` of a kernel function contains the range [low, high) of the generated values of each
/// input (default: 0..1 for integers, -1..1 for floats). The attribute `run.in_place` contains for
/// each result the index of the input that it aliases, or -1.
mlir::LogicalResult checkKernels(mlir::ModuleOp module, Target &target, const CheckOptions &check);

} // namespace mtc

#endif // MTC_TOOLS_MTC_RUN_CHECKKERNELS_H
