// Runs the stages of a kernel as a function of a stream.
#include "runtime/devices/gpu/host_launch.h"

#include "runtime/devices/cpu/threads/parallel.h"

namespace mtc::runtime::gpu {

HostLaunch::HostLaunch(const MtcProgram &program, const MtcOperation &operation, char *hostArena,
                       int threads)
    : code(static_cast<const MtcCpuKernel *>(program.kernels[operation.index].code)),
      threads(threads) {
  for (uint32_t k = 0; k < operation.operand_count; ++k)
    operands.push_back(hostArena + operation.operands[k]);
}

Result HostLaunch::enqueue(const Driver &driver, Stream stream) const {
  return driver.launchHostFunction(
      stream, [](void *launch) { static_cast<const HostLaunch *>(launch)->run(); },
      const_cast<HostLaunch *>(this));
}

void HostLaunch::run() const {
  for (uint32_t i = 0; i < code->stage_count; ++i) {
    const MtcCpuStage &stage = code->stages[i];
    parallelFor(threads, stage.extent, stage.grain, [&](int, int64_t begin, int64_t end) {
      MtcFault unused = {}; // Kernels on the host check no indices.
      stage.function(operands.data(), begin, end, &unused);
    });
  }
}

} // namespace mtc::runtime::gpu
