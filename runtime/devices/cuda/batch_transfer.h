// Batches on their way to the device.
#ifndef MTC_RUNTIME_DEVICES_CUDA_BATCH_TRANSFER_H
#define MTC_RUNTIME_DEVICES_CUDA_BATCH_TRANSFER_H

#include "runtime/abi/program.h"
#include "runtime/devices/cuda/gpu.h"
#include "runtime/devices/cuda/handles.h"

#include <array>
#include <vector>

namespace mtc::runtime::cuda {

/// Two pinned copies of the inputs, filled in turn. A batch goes to the arena's staging buffer, if
/// it has one, while the step before runs, and from there to the inputs; otherwise to the inputs
/// between two steps.
class BatchTransfer {
public:
  BatchTransfer(const Gpu &gpu, const MtcProgram &program, Address arena, Stream compute);

  /// Addresses for the inputs of a batch, which may be filled until the next call but one.
  const std::vector<char *> &batchBuffers();
  /// Makes what was written to the last of these addresses the inputs of what runs next.
  void take();

  int64_t pinnedBytes() const { return 2 * bytes; }

private:
  struct Buffer {
    PinnedMemory memory;
    OwnedEvent copied;
    std::vector<char *> inputs; ///< where each lies in the memory
  };

  const Gpu &gpu;
  const MtcProgram &program;
  Address arena;
  Stream compute;
  int64_t bytes; ///< of a batch
  OwnedStream copies;
  OwnedEvent stagingIsFree;
  std::vector<Buffer> buffers;
  size_t next = 0;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_BATCH_TRANSFER_H
