// Copies of a function.
#ifndef MTC_RUNTIME_DEVICES_GPU_STEP_COPY_H
#define MTC_RUNTIME_DEVICES_GPU_STEP_COPY_H

#include "runtime/abi/program.h"
#include "runtime/devices/gpu/driver.h"

namespace mtc::runtime::gpu {

/// An MTC_COPY, whose source or destination (or both) is on the device.
class StepCopy {
public:
  StepCopy(const MtcOperation &source, Address arena, char *hostArena)
      : operation(&source), arena(arena), hostArena(hostArena) {}

  Result enqueue(const Driver &driver, Stream stream) const;

private:
  Address onDevice(int64_t offset) const { return arena + static_cast<Address>(offset); }

  const MtcOperation *operation;
  Address arena;
  char *hostArena;
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_STEP_COPY_H
