// Marks are copied from a table on the device, which a graph can do as cheaply as a stream.
#include "runtime/collectives/nccl/progress.h"

#include "runtime/support/failure.h"

#include <numeric>
#include <utility>

namespace mtc::runtime::nccl {

static constexpr size_t markBytes = sizeof(uint32_t);

uint32_t Progress::add(std::string name) {
  names.push_back(std::move(name));
  return static_cast<uint32_t>(names.size());
}

void Progress::start(gpu::Stream stream) {
  const size_t count = names.size() + 1, bytes = count * markBytes;
  numbers.emplace(gpu.driver, static_cast<int64_t>(markBytes + bytes));
  auto *source = reinterpret_cast<uint32_t *>(numbers->data()) + 1;
  source[-1] = 0;
  std::iota(source, source + count, 0);
  table = gpu::DeviceMemory(gpu.driver, static_cast<int64_t>(bytes));
  if (!table.address())
    systemError("no memory of the GPU is left for exchanges with other ranks");
  gpu.check(gpu.driver.copyToDevice(table.address(), source, bytes, stream),
            "data cannot be copied to the GPU");
}

void Progress::mark(uint32_t exchange, gpu::Stream stream) const {
  gpu.check(gpu.driver.copyToHost(numbers->data(), table.address() + exchange * markBytes,
                                  markBytes, stream),
            "data cannot be copied from the GPU");
}

uint32_t Progress::read() const {
  return numbers ? *reinterpret_cast<const volatile uint32_t *>(numbers->data()) : 0;
}

std::string Progress::running() const {
  const uint32_t exchange = read();
  return exchange ? names[exchange - 1] : "";
}

bool Progress::hasAdvanced() {
  const uint32_t now = read();
  return std::exchange(last, now) != now || now == 0;
}

} // namespace mtc::runtime::nccl
