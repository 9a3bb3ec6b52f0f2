// The GPU of a program.
#ifndef MTC_RUNTIME_DEVICES_GPU_GPU_H
#define MTC_RUNTIME_DEVICES_GPU_GPU_H

#include "runtime/devices/gpu/driver.h"

#include <cstdint>
#include <functional>
#include <string>

namespace mtc::runtime::gpu {

/// Waits of the host for work of the device that depends on other processes.
class DeviceWaiter {
public:
  virtual ~DeviceWaiter() = default;
  /// Calls `query` until it returns a result other than `notReady`, and returns that result.
  virtual Result wait(const std::function<Result()> &query) = 0;
};

/// A device whose context is current in the constructing thread.
class Gpu {
public:
  /// Opens the device of --device ("": that of the process with number `process` on this
  /// machine). Throws a user error if the device does not exist, and a system error if there is
  /// none.
  Gpu(const Driver &driver, const std::string &ordinal, int process = 0);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  const Driver &driver;
  /// Throws a system error if `result` is an error of the driver.
  void check(Result result, const char *what) const { gpu::check(driver, result, what); }
  const std::string &name() const { return deviceName; }
  /// Returns an attribute of the device, by the driver's number.
  int attribute(int number) const;

  /// Returns the identity of the device as hexadecimal digits.
  std::string identity() const;

  /// Wait for all work of a stream, or for the work before an event. Throw a system error with
  /// `what` if the device failed.
  void waitFor(Stream stream, const char *what) const;
  void waitFor(Event event, const char *what) const;
  /// Sets the object that waits in place of the driver; null: none.
  void setWaiter(DeviceWaiter *object) { waiter = object; }

  /// Makes the device's context current in the calling thread.
  void makeCurrent() const { check(driver.setContext(context), "the GPU cannot be used"); }

  struct Memory {
    int64_t free, total;
  };
  Memory memory() const;

private:
  int device = 0;
  Context context = nullptr;
  DeviceWaiter *waiter = nullptr;
  std::string deviceName;
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_GPU_H
