//===- ReductionPlanner.h - Distribution of rows and columns among threads --------------------===//

#ifndef MTC_CODEGEN_GPU_REDUCTIONPLANNER_H
#define MTC_CODEGEN_GPU_REDUCTIONPLANNER_H

#include "codegen/gpu/LaunchPlan.h"

namespace mtc::gpu {

/// Plans how threads share the rows of a kernel with reductions or column sums, without the offsets
/// of column sums.
ReductionPlan planReductionShape(const NormalKernel &kernel, int64_t warp);

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_REDUCTIONPLANNER_H
