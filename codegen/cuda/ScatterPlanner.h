//===- ScatterPlanner.h - Distribution of scattered additions among threads -------------------===//

#ifndef MTC_CODEGEN_CUDA_SCATTERPLANNER_H
#define MTC_CODEGEN_CUDA_SCATTERPLANNER_H

#include "codegen/cuda/LaunchPlan.h"

namespace mtc::cuda {

/// Plans how blocks and threads share the additions, without the offsets of partial results.
ScatterPlan planScatterShape(const NormalKernel &kernel);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_SCATTERPLANNER_H
