// Transfers of batches to the device.
#ifndef MTC_RUNTIME_DEVICES_GPU_BATCH_TRANSFER_H
#define MTC_RUNTIME_DEVICES_GPU_BATCH_TRANSFER_H

#include "runtime/abi/program.h"
#include "runtime/devices/gpu/gpu.h"
#include "runtime/devices/gpu/handles.h"

#include <array>
#include <vector>

namespace mtc::runtime::gpu {

/// Double buffering of the inputs in pinned memory. If the arena has a staging buffer, a batch is
/// copied there during the previous step, and then to the inputs; otherwise it is copied to the
/// inputs between two steps.
class BatchTransfer {
public:
  BatchTransfer(const Gpu &gpu, const MtcProgram &program, Address arena, Stream compute);

  /// Returns host addresses for the inputs of a batch, which may be filled until the next call but
  /// one.
  const std::vector<char *> &batchBuffers();
  /// Makes the data at the last of these addresses the inputs of the following work.
  void take();

  int64_t pinnedBytes() const { return 2 * bytes; }

private:
  struct Buffer {
    PinnedMemory memory;
    OwnedEvent copied;
    std::vector<char *> inputs; ///< address of each input in the buffer
  };

  const Gpu &gpu;
  const MtcProgram &program;
  Address arena;
  Stream compute;
  int64_t bytes; ///< size of a batch
  OwnedStream copies;
  OwnedEvent stagingIsFree;
  std::vector<Buffer> buffers;
  size_t next = 0;
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_BATCH_TRANSFER_H
