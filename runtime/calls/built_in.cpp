// Registry of the kinds of calls that the runtime computes without a library.
#include "runtime/calls/attention/cpu/attention.h"
#include "runtime/calls/contraction/cpu/contraction.h"
#include "runtime/calls/convolution/cpu/convolution.h"
#include "runtime/calls/recurrence/cpu/recurrence.h"

namespace mtc::runtime {

static constexpr const CallKind *kinds[] = {&contractionCalls,
                                            &attentionCalls,
                                            &attentionGradientCalls,
                                            &convolutionCalls,
                                            &transposedConvolutionCalls,
                                            &convolutionWeightGradientCalls,
                                            &recurrenceCalls,
                                            &recurrenceGradientCalls};

/// The runtime converts 16-bit elements to f32.
static bool multiplies(uint32_t) { return false; }

static const char *version() { return ""; }

const CallLibrary &builtInLibrary() {
  static constexpr CallLibrary library = {kinds, multiplies, version};
  return library;
}

} // namespace mtc::runtime
