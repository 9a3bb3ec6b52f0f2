//===- ScatterPlanner.h - Distribution of scattered additions among threads -------------------===//

#ifndef MTC_CODEGEN_GPU_SCATTERPLANNER_H
#define MTC_CODEGEN_GPU_SCATTERPLANNER_H

#include "codegen/gpu/LaunchPlan.h"

namespace mtc::gpu {

/// Plans how blocks and threads share the additions, without the offsets of partial results.
ScatterPlan planScatterShape(const NormalKernel &kernel);

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_SCATTERPLANNER_H
