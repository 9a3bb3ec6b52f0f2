//===- ScatterPlanner.h - Who adds what at computed indices -----------------------------------===//

#ifndef MTC_CODEGEN_CUDA_SCATTERPLANNER_H
#define MTC_CODEGEN_CUDA_SCATTERPLANNER_H

#include "codegen/cuda/LaunchPlan.h"

namespace mtc::cuda {

/// All but where partial results lie.
ScatterPlan planScatterShape(const NormalKernel &kernel);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_SCATTERPLANNER_H
