// Registry of the kinds of calls of the target `cpu`.
#include "runtime/calls/attention/cpu/attention.h"
#include "runtime/calls/contraction/cpu/contraction.h"
#include "runtime/calls/convolution/cpu/convolution.h"

#include <cstring>

namespace mtc::runtime {

const CallKind *findCallKind(const char *name) {
  for (const CallKind *kind :
       {&contractionCalls, &attentionCalls, &attentionGradientCalls, &convolutionCalls,
        &transposedConvolutionCalls, &convolutionWeightGradientCalls})
    if (std::strcmp(kind->name, name) == 0)
      return kind;
  return nullptr;
}

} // namespace mtc::runtime
