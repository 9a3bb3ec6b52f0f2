//===- CheckKernels.h - Emitted kernels against their meaning ---------------------------------===//

#ifndef MTC_TOOLS_MTC_RUN_CHECKKERNELS_H
#define MTC_TOOLS_MTC_RUN_CHECKKERNELS_H

#include "codegen/Codegen.h"

namespace mtc {

struct CheckOptions {
  bool compare, time;
  double tolerance;
};

/// Runs every kernel function of the module on generated inputs, in tiles of its range of items,
/// and compares the results with the interpreter's; prints a line for each. The attribute
/// `run.ranges` of a kernel function holds [low, high) for each input; integers are drawn from it
/// (0..1 by default), floats too (-1..1). The attribute `run.in_place` holds for each result the
/// number of the input at whose place it lies, or -1.
mlir::LogicalResult checkKernels(mlir::ModuleOp module, Target &target, const CheckOptions &check);

} // namespace mtc

#endif // MTC_TOOLS_MTC_RUN_CHECKKERNELS_H
