// Direct access to the arena; what a run asks for happens at once.
#include "runtime/devices/cpu/cpu_device.h"

#include "runtime/devices/cpu/parallel.h"
#include "runtime/devices/cpu/throughput.h"
#include "runtime/support/failure.h"
#include "runtime/support/process.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace mtc::runtime {

void CpuDevice::write(int64_t offset, int64_t bytes, const Fill &fill) {
  fill(arena.at(offset), 0, bytes);
}

void CpuDevice::read(int64_t offset, int64_t bytes, const Use &use) {
  use(arena.at(offset), 0, bytes);
}

void CpuDevice::copy(int64_t from, int64_t to, int64_t bytes) {
  std::memcpy(arena.at(to), arena.at(from), static_cast<size_t>(bytes));
}

void CpuDevice::writeScalar(int64_t offset, const void *value, int64_t bytes) {
  std::memcpy(arena.at(offset), value, static_cast<size_t>(bytes));
}

int64_t CpuDevice::request(int64_t offset, int64_t bytes) {
  Request &slot = results[static_cast<size_t>(requests) % results.size()];
  assert(bytes <= static_cast<int64_t>(sizeof slot.value) && "only scalars are kept");
  slot.bytes = bytes;
  std::memcpy(&slot.value, arena.at(offset), static_cast<size_t>(bytes));
  return requests++;
}

void CpuDevice::receive(int64_t request, void *to) {
  const Request &slot = results[static_cast<size_t>(request) % results.size()];
  std::memcpy(to, &slot.value, static_cast<size_t>(slot.bytes));
}

void CpuDevice::takeBatch(bool ahead) {
  if (!ahead)
    return;
  for (uint32_t i = 0; i < program.input_count; ++i) {
    char *input = arena.at(program.inputs[i].tensor.offset);
    parallelFor(threads, program.inputs[i].tensor.bytes, 1 << 18,
                [&](int, int64_t begin, int64_t end) {
                  std::memcpy(input + begin, input + program.staging + begin,
                              static_cast<size_t>(end - begin));
                });
  }
}

void CpuDevice::prepare(std::vector<Observer *> observers) {
  executor.emplace(program, Arenas{arena.data(), pinnedHostArena.data(), hostArena.data()}, threads,
                   std::move(observers));
}

std::optional<double> CpuDevice::copyThroughput() { return copyBandwidth(threads); }

std::optional<double> CpuDevice::contractionThroughput(const MtcContraction &plain) {
  return plainContractionThroughput(plain, threads);
}

std::vector<MemoryUse> CpuDevice::memoryBesideArena() {
  ProcessMemory memory = processMemory();
  const int64_t otherArenas = pinnedHostArena.bytes() + hostArena.bytes();
  std::vector<MemoryUse> uses = {
      {"code and libraries", memory.fileBacked,
       "pages of the program, oneDNN, OpenMP and the C and C++ libraries; shared and "
       "reclaimable"},
      {"heap and stacks", std::max<int64_t>(0, memory.anonymous - arena.bytes() - otherArenas),
       "oneDNN's generated code and packing buffers, stacks of threads, buffers of files"}};
  if (otherArenas)
    uses.push_back({"arenas of the host", otherArenas, otherArenasReason});
  return uses;
}

std::unique_ptr<Device> openDevice(const MtcProgram &program, const std::string &name, int threads,
                                   int64_t arenaBytes) {
  if (!name.empty() && name != "cpu" && name != "0")
    userError("--device ", name, ": this program runs on the CPU, which is device 0");
  return std::make_unique<CpuDevice>(program, threads, arenaBytes);
}

} // namespace mtc::runtime
