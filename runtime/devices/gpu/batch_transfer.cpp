// Copies batches from pinned memory, through the staging buffer, to the inputs.
#include "runtime/devices/gpu/batch_transfer.h"

namespace mtc::runtime::gpu {

static constexpr const char *copyFails = "a batch cannot be copied to the GPU";

static int64_t aligned(int64_t bytes) {
  return (bytes + MTC_ALIGNMENT - 1) / MTC_ALIGNMENT * MTC_ALIGNMENT;
}

static int64_t bytesOfBatch(const MtcProgram &program) {
  int64_t bytes = MTC_ALIGNMENT;
  for (uint32_t i = 0; i < program.input_count; ++i)
    bytes += aligned(program.inputs[i].tensor.bytes);
  return bytes;
}

BatchTransfer::BatchTransfer(const Gpu &gpu, const MtcProgram &program, Address arena,
                             Stream compute)
    : gpu(gpu), program(program), arena(arena), compute(compute), bytes(bytesOfBatch(program)),
      copies(gpu.driver), stagingIsFree(gpu.driver) {
  for (int i = 0; i < 2; ++i) {
    Buffer &buffer =
        buffers.emplace_back(Buffer{PinnedMemory(gpu.driver, bytes), OwnedEvent(gpu.driver), {}});
    char *address = buffer.memory.data();
    for (uint32_t k = 0; k < program.input_count; ++k) {
      buffer.inputs.push_back(address);
      address += aligned(program.inputs[k].tensor.bytes);
    }
  }
}

const std::vector<char *> &BatchTransfer::batchBuffers() {
  next ^= 1;
  gpu.waitFor(buffers[next].copied, copyFails); // of the batch before the previous one
  return buffers[next].inputs;
}

void BatchTransfer::take() {
  Buffer &buffer = buffers[next];
  const bool isStaged = program.staging != 0;
  const Stream stream = isStaged ? copies : compute;
  if (isStaged)
    gpu.check(gpu.driver.letStreamWait(copies, stagingIsFree, 0), copyFails);
  const char *from = buffer.memory.data();
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcTensor &input = program.inputs[i].tensor;
    gpu.check(gpu.driver.copyToDevice(arena + static_cast<Address>(input.offset + program.staging),
                                      from, static_cast<size_t>(input.bytes), stream),
              copyFails);
    from += aligned(input.bytes);
  }
  gpu.check(gpu.driver.recordEvent(buffer.copied, stream), copyFails);
  if (!isStaged)
    return;
  gpu.check(gpu.driver.letStreamWait(compute, buffer.copied, 0), copyFails);
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcTensor &input = program.inputs[i].tensor;
    const Address to = arena + static_cast<Address>(input.offset);
    gpu.check(gpu.driver.copyOnDevice(to, to + static_cast<Address>(program.staging),
                                      static_cast<size_t>(input.bytes), compute),
              copyFails);
  }
  gpu.check(gpu.driver.recordEvent(stagingIsFree, compute), copyFails);
}

} // namespace mtc::runtime::gpu
