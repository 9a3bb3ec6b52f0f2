// Where the values of a step leave the range of f16.
#ifndef MTC_RUNTIME_STATE_OVERFLOW_FINDER_H
#define MTC_RUNTIME_STATE_OVERFLOW_FINDER_H

#include "runtime/devices/device.h"

#include <string>

namespace mtc::runtime {

/// Keeps the first operation that writes values of f16 which are not finite. Programs list what
/// operations write in f16.
class OverflowFinder final : public Observer {
public:
  explicit OverflowFinder(Device &device) : device(device) {}

  void operation(const OperationInfo &operation, Clock::time_point begin,
                 Clock::time_point end) override;
  bool looksAtArena() const override { return true; }
  void phase(Phase, int64_t, Clock::time_point, Clock::time_point) override {}

  /// The operation; null if there was none.
  const MtcOperation *found() const { return first; }

private:
  Device &device;
  const MtcOperation *first = nullptr;
};

/// Whether what a step starts from, inputs and variables but for the optimizer's state, is finite.
bool startsFinite(const MtcProgram &program, Device &device);

/// What a user can do about a forward pass that overflows in an operation, as a sentence; "" if the
/// operation computes gradients.
std::string describeOverflow(const MtcOperation &operation);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_OVERFLOW_FINDER_H
