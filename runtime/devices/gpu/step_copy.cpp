// Copies between the arenas.
#include "runtime/devices/gpu/step_copy.h"

namespace mtc::runtime::gpu {

Result StepCopy::enqueue(const Driver &driver, Stream stream) const {
  const int64_t from = operation->operands[0], to = operation->operands[1];
  const auto bytes = static_cast<size_t>(operation->bytes);
  if (operation->source_space != MTC_DEVICE)
    return driver.copyToDevice(onDevice(to), hostArena + from, bytes, stream);
  if (operation->destination_space != MTC_DEVICE)
    return driver.copyToHost(hostArena + to, onDevice(from), bytes, stream);
  return driver.copyOnDevice(onDevice(to), onDevice(from), bytes, stream);
}

} // namespace mtc::runtime::gpu
