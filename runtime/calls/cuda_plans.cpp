// Registry of call planners of the target `cuda`, which are queried at compile time.
#include "runtime/calls/attention/cuda/dnn_attention_plan.h"
#include "runtime/calls/contraction/cuda/matmul_plan.h"
#include "runtime/calls/convolution/cuda/dnn_convolution_plan.h"
#include "runtime/calls/recurrence/cuda/recurrence_plan.h"

#include <cstring>

namespace mtc::runtime::cuda {

const CallPlanner *findCallPlanner(const char *name) {
  for (const CallPlanner *planner :
       {&contractionPlanner, &attentionPlanner, &attentionGradientPlanner, &convolutionPlanner,
        &transposedConvolutionPlanner, &convolutionWeightGradientPlanner, &recurrencePlanner,
        &recurrenceGradientPlanner})
    if (std::strcmp(planner->name, name) == 0)
      return planner;
  return nullptr;
}

} // namespace mtc::runtime::cuda
