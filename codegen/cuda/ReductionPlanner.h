//===- ReductionPlanner.h - Distribution of rows and columns among threads --------------------===//

#ifndef MTC_CODEGEN_CUDA_REDUCTIONPLANNER_H
#define MTC_CODEGEN_CUDA_REDUCTIONPLANNER_H

#include "codegen/cuda/LaunchPlan.h"

namespace mtc::cuda {

/// Plans how threads share the rows of a kernel with reductions or column sums, without the offsets
/// of column sums.
ReductionPlan planReductionShape(const NormalKernel &kernel);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_REDUCTIONPLANNER_H
