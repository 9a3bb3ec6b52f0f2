// Finds the operation whose f16 results overflow.
#ifndef MTC_RUNTIME_STATE_OVERFLOW_FINDER_H
#define MTC_RUNTIME_STATE_OVERFLOW_FINDER_H

#include "runtime/devices/device.h"

#include <string>

namespace mtc::runtime {

/// Records the first operation that writes f16 values that are not finite. Programs list the f16
/// ranges that operations write (MtcWrite).
class OverflowFinder final : public Observer {
public:
  explicit OverflowFinder(Device &device) : device(device) {}

  void operation(const OperationInfo &operation, Clock::time_point begin,
                 Clock::time_point end) override;
  bool looksAtArena() const override { return true; }
  void phase(Phase, int64_t, Clock::time_point, Clock::time_point) override {}

  /// Returns the operation; null if there was none.
  const MtcOperation *found() const { return first; }

private:
  Device &device;
  const MtcOperation *first = nullptr;
};

/// Returns whether the inputs and variables of a step, except the optimizer state, are finite.
bool startsFinite(const MtcProgram &program, Device &device);

/// Returns advice, as a sentence, for a forward pass that overflows in an operation; "" if the
/// operation computes gradients.
std::string describeOverflow(const MtcOperation &operation);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_OVERFLOW_FINDER_H
