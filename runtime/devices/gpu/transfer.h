// Transfers of arena ranges between host and device.
#ifndef MTC_RUNTIME_DEVICES_GPU_TRANSFER_H
#define MTC_RUNTIME_DEVICES_GPU_TRANSFER_H

#include "runtime/devices/device.h"
#include "runtime/devices/gpu/gpu.h"
#include "runtime/devices/gpu/handles.h"

#include <array>

namespace mtc::runtime::gpu {

/// Double buffering in pinned memory: one buffer is copied while the host accesses the other.
class Transfer {
public:
  static constexpr int64_t pieceBytes = int64_t{4} << 20;

  Transfer(const Gpu &gpu, Stream stream)
      : gpu(gpu), stream(stream), buffers{Buffer(gpu.driver), Buffer(gpu.driver)} {}

  /// See Device::write. Returns when the copy of the last chunk is enqueued.
  void write(Address to, int64_t bytes, const Device::Fill &fill);
  void read(Address from, int64_t bytes, const Device::Use &use);

  static int64_t pinnedBytes() { return 2 * pieceBytes; }

private:
  struct Buffer {
    explicit Buffer(const Driver &driver) : memory(driver, pieceBytes), copied(driver) {}
    PinnedMemory memory;
    OwnedEvent copied;
  };

  const Gpu &gpu;
  Stream stream;
  std::array<Buffer, 2> buffers;
  size_t next = 0; ///< buffer of the next chunk
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_TRANSFER_H
