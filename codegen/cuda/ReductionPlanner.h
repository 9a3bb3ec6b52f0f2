//===- ReductionPlanner.h - Distribution of rows and columns among threads --------------------===//

#ifndef MTC_CODEGEN_CUDA_REDUCTIONPLANNER_H
#define MTC_CODEGEN_CUDA_REDUCTIONPLANNER_H

#include "codegen/cuda/LaunchPlan.h"

namespace mtc::cuda {

ReductionPlan planReductionShape(const NormalKernel &kernel);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_REDUCTIONPLANNER_H
