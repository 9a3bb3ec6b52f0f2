// A stack of its own to run functions on, left and entered again at will, on one host thread.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_FIBER_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_FIBER_H

#include <cstddef>

namespace mtc::runtime::emulation {

class Fiber {
public:
  /// The fiber that the calling host thread runs on.
  Fiber() = default;
  /// One that starts in `entry` when it is first switched to. `entry` must not return.
  explicit Fiber(void (*entry)());
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Leaves `this`, which runs now, for `other`; returns when somebody switches back.
  void switchTo(Fiber &other);

private:
  static constexpr size_t stackBytes = size_t{64} << 10;

  void *stackPointer = nullptr; ///< while it does not run
  char *stack = nullptr;
  // The stack as AddressSanitizer is told of it.
  [[maybe_unused]] const void *bottom = nullptr;
  [[maybe_unused]] size_t size = 0;
  void (*entry)() = nullptr;
  static void start();
};

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_FIBER_H
