// Registry of the kinds of calls that libraries of the target `cuda` compute.
#include "runtime/calls/attention/cuda/dnn_attention.h"
#include "runtime/calls/contraction/cuda/matmul.h"
#include "runtime/calls/convolution/cuda/dnn_convolution.h"
#include "runtime/calls/recurrence/cuda/recurrence.h"

#include <cstring>

namespace mtc::runtime::cuda {

const CallKind *findCallKind(const char *name) {
  for (const CallKind *kind :
       {&contractionCalls, &attentionCalls, &attentionGradientCalls, &convolutionCalls,
        &transposedConvolutionCalls, &convolutionWeightGradientCalls, &recurrenceCalls,
        &recurrenceGradientCalls})
    if (std::strcmp(kind->name, name) == 0)
      return kind;
  return nullptr;
}

} // namespace mtc::runtime::cuda
