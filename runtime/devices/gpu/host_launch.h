// Kernels that the host's processor runs, in the order of a stream.
#ifndef MTC_RUNTIME_DEVICES_GPU_HOST_LAUNCH_H
#define MTC_RUNTIME_DEVICES_GPU_HOST_LAUNCH_H

#include "runtime/abi/cpu.h"
#include "runtime/devices/gpu/driver.h"

#include <vector>

namespace mtc::runtime::gpu {

/// An MTC_HOST_LAUNCH. A thread of the driver starts it, and the process's pool computes it.
class HostLaunch {
public:
  HostLaunch(const MtcProgram &program, const MtcOperation &operation, char *hostArena,
             int threads);

  /// The launch must outlive the work of the stream, and the graphs that capture it.
  Result enqueue(const Driver &driver, Stream stream) const;

private:
  void run() const;

  const MtcCpuKernel *code;
  std::vector<char *> operands;
  int threads;
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_HOST_LAUNCH_H
