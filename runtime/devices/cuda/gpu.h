// The GPU of a program.
#ifndef MTC_RUNTIME_DEVICES_CUDA_GPU_H
#define MTC_RUNTIME_DEVICES_CUDA_GPU_H

#include "runtime/abi/cuda.h"
#include "runtime/devices/cuda/driver.h"

#include <cstdint>
#include <string>

namespace mtc::runtime::cuda {

/// A device whose context is current in the constructing thread.
class Gpu {
public:
  /// Opens the device of --device ("" is the first). Throws a user error if the device does not
  /// exist, and a system error if there is no driver or GPU, or if the driver is too old for the
  /// program.
  Gpu(const MtcCudaProgram &program, const std::string &ordinal);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  const Driver &driver;
  /// Throws a system error if `result` is an error of the driver.
  void check(Result result, const char *what) const { cuda::check(driver, result, what); }
  const std::string &name() const { return deviceName; }
  uint32_t major() const { return majorNumber; }
  uint32_t minor() const { return minorNumber; }

  /// Makes the device's context current in the calling thread.
  void makeCurrent() const { check(driver.setContext(context), "the GPU cannot be used"); }

  struct Memory {
    int64_t free, total;
  };
  Memory memory() const;

private:
  int device = 0;
  Context context = nullptr;
  std::string deviceName;
  uint32_t majorNumber = 0, minorNumber = 0;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_GPU_H
