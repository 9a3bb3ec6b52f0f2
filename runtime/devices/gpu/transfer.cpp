// Chunked transfers through two pinned buffers.
#include "runtime/devices/gpu/transfer.h"

#include <algorithm>

namespace mtc::runtime::gpu {

static constexpr const char *copyFails = "data cannot be copied between host and GPU";

void Transfer::write(Address to, int64_t bytes, const Device::Fill &fill) {
  for (int64_t at = 0; at < bytes; at += pieceBytes, next ^= 1) {
    const int64_t count = std::min(pieceBytes, bytes - at);
    Buffer &buffer = buffers[next];
    // Wait for the copy of the chunk before the previous one.
    gpu.waitFor(buffer.copied, copyFails);
    fill(buffer.memory.data(), at, count);
    gpu.check(gpu.driver.copyToDevice(to + static_cast<Address>(at), buffer.memory.data(),
                                      static_cast<size_t>(count), stream),
              copyFails);
    gpu.check(gpu.driver.recordEvent(buffer.copied, stream), copyFails);
  }
}

void Transfer::read(Address from, int64_t bytes, const Device::Use &use) {
  auto copy = [&](Buffer &buffer, int64_t at) {
    const int64_t count = std::min(pieceBytes, bytes - at);
    if (count <= 0)
      return;
    gpu.check(gpu.driver.copyToHost(buffer.memory.data(), from + static_cast<Address>(at),
                                    static_cast<size_t>(count), stream),
              copyFails);
    gpu.check(gpu.driver.recordEvent(buffer.copied, stream), copyFails);
  };
  copy(buffers[next], 0);
  for (int64_t at = 0; at < bytes; at += pieceBytes, next ^= 1) {
    Buffer &buffer = buffers[next];
    copy(buffers[next ^ 1], at + pieceBytes);
    gpu.waitFor(buffer.copied, copyFails);
    use(buffer.memory.data(), at, std::min(pieceBytes, bytes - at));
  }
}

} // namespace mtc::runtime::gpu
