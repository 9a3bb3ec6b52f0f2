// Fibers: user-mode contexts with their own stacks, all on one host thread.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_FIBER_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_FIBER_H

#include <cstddef>

namespace mtc::runtime::emulation {

class Fiber {
public:
  /// Represents the context of the calling host thread.
  Fiber() = default;
  /// Creates a fiber that starts in `entry` on the first switch. `entry` must not return.
  explicit Fiber(void (*entry)());
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Suspends `this`, which must be running, and resumes `other`. Returns when another fiber
  /// switches back.
  void switchTo(Fiber &other);

private:
  static constexpr size_t stackBytes = size_t{64} << 10;

  void *stackPointer = nullptr; ///< while the fiber is suspended
  char *stack = nullptr;
  // Stack bounds for AddressSanitizer.
  [[maybe_unused]] const void *bottom = nullptr;
  [[maybe_unused]] size_t size = 0;
  void (*entry)() = nullptr;
  static void start();
};

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_FIBER_H
