// The GPU that a program runs on.
#ifndef MTC_RUNTIME_DEVICES_CUDA_GPU_H
#define MTC_RUNTIME_DEVICES_CUDA_GPU_H

#include "runtime/abi/cuda.h"
#include "runtime/devices/cuda/driver.h"

#include <cstdint>
#include <string>

namespace mtc::runtime::cuda {

/// A device whose context is current in the thread that made it.
class Gpu {
public:
  /// The device of --device ("" is the first). A mistake of the user if it names none, a fault of
  /// the system if there is no driver or no GPU, or the driver is too old for the program.
  Gpu(const MtcCudaProgram &program, const std::string &ordinal);
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  const Driver &driver;
  /// Throws what went wrong in a call of the driver.
  void check(Result result, const char *what) const { cuda::check(driver, result, what); }
  const std::string &name() const { return deviceName; }
  uint32_t major() const { return majorNumber; }
  uint32_t minor() const { return minorNumber; }

  struct Memory {
    int64_t free, total;
  };
  Memory memory() const;

private:
  int device = 0;
  bool holdsContext = false;
  std::string deviceName;
  uint32_t majorNumber = 0, minorNumber = 0;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_GPU_H
