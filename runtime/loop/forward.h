// Forward passes over a data set in file order.
#ifndef MTC_RUNTIME_LOOP_FORWARD_H
#define MTC_RUNTIME_LOOP_FORWARD_H

#include "runtime/loop/session.h"

namespace mtc::runtime {

/// The phases of a forward pass for observers.
struct ForwardPhases {
  Phase load, run;
};
inline constexpr ForwardPhases evaluationPhases = {Phase::Load, Phase::Evaluate};
inline constexpr ForwardPhases validationPhases = {Phase::LoadValidation, Phase::Validate};

/// Loads the batch of samples from `first` on, limited to those before `end`, and runs `function`.
/// An incomplete batch is padded with its last sample. The following batch is prefetched. Returns
/// the number of samples without padding.
int64_t runForward(const Session &session, Dataset &data, int64_t first, int64_t end,
                   void (Device::*function)(), ForwardPhases phases = evaluationPhases);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_FORWARD_H
