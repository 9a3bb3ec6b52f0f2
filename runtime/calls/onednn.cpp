// Registry of the kinds of calls of programs that are linked with oneDNN.
#include "runtime/devices/cpu/onednn.h"
#include "runtime/calls/attention/cpu/attention.h"
#include "runtime/calls/contraction/cpu/onednn/contraction.h"
#include "runtime/calls/convolution/cpu/onednn/convolution.h"
#include "runtime/calls/recurrence/cpu/recurrence.h"

namespace mtc::runtime {

static constexpr const CallKind *kinds[] = {&onednnContractionCalls,
                                            &attentionCalls,
                                            &attentionGradientCalls,
                                            &onednnConvolutionCalls,
                                            &onednnTransposedConvolutionCalls,
                                            &onednnConvolutionWeightGradientCalls,
                                            &recurrenceCalls,
                                            &recurrenceGradientCalls};

const CallLibrary &linkedLibrary() {
  static constexpr CallLibrary library = {kinds, libraryMultiplies, libraryVersion};
  return library;
}

} // namespace mtc::runtime
