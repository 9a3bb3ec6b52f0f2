// Throughput of copies and contractions, measured in isolation.
#include "runtime/devices/gpu/gpu_device.h"

#include "runtime/calls/contraction/plain.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <limits>

namespace mtc::runtime::gpu {

/// Returns the minimum time in seconds of a run of `enqueue`. Runs it at least 3 times, and up to
/// 100 times until the runs take 50 ms together. A warm-up run is not counted.
template <typename Enqueue>
static double fewestSeconds(const Gpu &gpu, Stream stream, const Enqueue &enqueue) {
  constexpr int minRuns = 3, maxRuns = 100;
  constexpr double longEnough = 0.05;
  constexpr const char *fails = "the GPU's throughput cannot be measured";
  OwnedEvent begin(gpu.driver, timedEvent), end(gpu.driver, timedEvent);
  enqueue();
  double sum = 0, fewest = std::numeric_limits<double>::infinity();
  for (int run = 0; run < minRuns || (sum < longEnough && run < maxRuns); ++run) {
    gpu.check(gpu.driver.recordEvent(begin, stream), fails);
    enqueue();
    gpu.check(gpu.driver.recordEvent(end, stream), fails);
    gpu.check(gpu.driver.waitForEvent(end), fails);
    float milliseconds = 0;
    gpu.check(gpu.driver.elapsed(&milliseconds, begin, end), fails);
    const double seconds = static_cast<double>(milliseconds) / 1e3;
    sum += seconds;
    fewest = std::min(fewest, seconds);
  }
  return fewest;
}

/// Returns a size larger than the caches of any GPU, limited by the device's memory.
static int64_t bytesToCopy(const Gpu &gpu) {
  return std::clamp<int64_t>(gpu.memory().total / 64, 1 << 20, int64_t{512} << 20);
}

std::optional<double> measureCopy(const Gpu &gpu, Stream stream) {
  const int64_t bytes = bytesToCopy(gpu);
  DeviceMemory memory(gpu.driver, 2 * bytes);
  if (!memory.address())
    return std::nullopt;
  const auto count = static_cast<size_t>(bytes);
  gpu.check(gpu.driver.fillBytes(memory.address(), 0, count, stream), "no memory can be filled");
  double seconds = fewestSeconds(gpu, stream, [&] {
    gpu.check(gpu.driver.copyOnDevice(memory.address() + count, memory.address(), count, stream),
              "no memory can be copied");
  });
  return 2 * static_cast<double>(bytes) / seconds;
}

std::optional<double> measureContraction(const Gpu &gpu, Platform &platform, Stream stream,
                                         const MtcContraction &plain) {
  MtcCall call = {.kind = MTC_CONTRACTION,
                  .description = &plain,
                  .scratch_bytes = 0,
                  .flops = 0,
                  .bytes = 0,
                  .code = nullptr};
  const int64_t workspaceSize = platform.scratchBytes(call);
  call.scratch_bytes = workspaceSize;
  if (workspaceSize < 0)
    return std::nullopt;
  auto bytes = [&](int64_t rows, int64_t columns) {
    int64_t count = plain.batch[0] * rows * columns * typeBytes(plain.lhs_type);
    return static_cast<Address>((count + MTC_ALIGNMENT - 1) / MTC_ALIGNMENT * MTC_ALIGNMENT);
  };
  const Address rhs = bytes(plain.m, plain.k), out = rhs + bytes(plain.k, plain.n),
                workspace = out + bytes(plain.m, plain.n);
  DeviceMemory memory(gpu.driver, static_cast<int64_t>(workspace) + workspaceSize);
  if (!memory.address())
    return std::nullopt;
  const Address start = memory.address();
  gpu.check(gpu.driver.fillBytes(start, 0, out, stream), "no memory can be filled");
  try {
    auto prepared = platform.prepare(
        call, {.buffers = {start, start + rhs, start + out}, .scratch = start + workspace});
    double seconds = fewestSeconds(gpu, stream, [&] { prepared->enqueue(stream); });
    return contractionFlops(plain) / seconds;
  } catch (const Failure &) {
    return std::nullopt;
  }
}

} // namespace mtc::runtime::gpu
