// Registry of the kinds of calls that oneDNN computes, in programs that are linked with it.
#include "runtime/devices/cpu/onednn.h"
#include "runtime/calls/contraction/cpu/onednn/contraction.h"
#include "runtime/calls/convolution/cpu/onednn/convolution.h"

namespace mtc::runtime {

static constexpr const CallKind *kinds[] = {&onednnContractionCalls, &onednnConvolutionCalls,
                                            &onednnTransposedConvolutionCalls,
                                            &onednnConvolutionWeightGradientCalls};

const CallLibrary &linkedLibrary() {
  static constexpr CallLibrary library = {kinds, libraryMultiplies, libraryVersion};
  return library;
}

} // namespace mtc::runtime
