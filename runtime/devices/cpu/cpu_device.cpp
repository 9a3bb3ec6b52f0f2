// Direct access to the arenas. All work is synchronous.
#include "runtime/devices/cpu/cpu_device.h"

#include "runtime/abi/offload.h"
#include "runtime/devices/cpu/measure/register_throughput.h"
#include "runtime/devices/cpu/measure/throughput.h"
#include "runtime/devices/cpu/processor.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/support/failure.h"
#include "runtime/support/memory_limit.h"
#include "runtime/support/process.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace mtc::runtime {

CpuDevice::CpuDevice(const MtcProgram &program, const DeviceChoice &choice)
    : Device(choice.ranks), program(program), threads(choice.threads),
      arena(choice.memory ? Arena(static_cast<char *>(choice.memory), choice.arenaBytes)
                          : Arena(choice.arenaBytes, threads)),
      pinnedHostArena(program.pinned_host_arena_bytes, threads),
      hostArena(program.host_arena_bytes, threads), inputs(inputBuffers(program, arena.data())),
      stagedInputs(inputBuffers(program, arena.at(program.staging))) {
  if (program.disk_arena_bytes) {
    disk.emplace(foldersOf(choice.offloadFolder.empty() ? mtc_default_offload_folder()
                                                        : choice.offloadFolder),
                 program.disk_arena_bytes);
    bounce.emplace();
  }
  arenas = {{arena.data(), pinnedHostArena.data(), hostArena.data()}, disk ? &*disk : nullptr};
}

void CpuDevice::onThisThread(const std::function<void()> &action) {
  const LibraryThreads limited(threads);
  action();
}

/// Calls `use` with chunks of a range that is not addressable.
template <typename Use> static void inPieces(int64_t bytes, const Use &use) {
  constexpr int64_t maximum = BouncePages::bytes;
  std::vector<char> piece(static_cast<size_t>(std::min(bytes, maximum)));
  for (int64_t at = 0; at < bytes; at += maximum)
    use(piece.data(), at, std::min(maximum, bytes - at));
}

void CpuDevice::write(ArenaAddress to, int64_t bytes, const Fill &fill) {
  if (to.space != MTC_DISK)
    return fill(arenas.at(to.space, to.offset), 0, bytes);
  inPieces(bytes, [&](char *piece, int64_t at, int64_t count) {
    fill(piece, at, count);
    disk->write(to.offset + at, piece, count, *bounce);
  });
}

void CpuDevice::read(ArenaAddress from, int64_t bytes, const Use &use) {
  if (from.space != MTC_DISK)
    return use(arenas.at(from.space, from.offset), 0, bytes);
  inPieces(bytes, [&](char *piece, int64_t at, int64_t count) {
    disk->read(from.offset + at, piece, count, *bounce);
    use(piece, at, count);
  });
}

void CpuDevice::copy(ArenaAddress from, ArenaAddress to, int64_t bytes) {
  read(from, bytes, [&](const char *source, int64_t begin, int64_t count) {
    write(to + begin, count, [&](char *destination, int64_t at, int64_t part) {
      std::memcpy(destination, source + at, static_cast<size_t>(part));
    });
  });
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
    if (program.inputs[i].tensor.offset < 0)
      continue; // Another pipeline stage reads the input.
    char *input = arena.at(program.inputs[i].tensor.offset);
    parallelFor(threads, program.inputs[i].tensor.bytes, 1 << 18,
                [&](int, int64_t begin, int64_t end) {
                  std::memcpy(input + begin, input + program.staging + begin,
                              static_cast<size_t>(end - begin));
                });
  }
}

void CpuDevice::prepare(std::vector<Observer *> observers) {
  checkStacks(threads);
  executor.emplace(program, arenas, threads, std::move(observers), ranks());
}

DiskTraffic CpuDevice::diskTraffic() const {
  return disk ? DiskTraffic{disk->movedBytes(), disk->seconds()} : DiskTraffic();
}

std::optional<double> CpuDevice::copyThroughput() { return copyBandwidth(threads); }

std::optional<double> CpuDevice::contractionThroughput(const MtcContraction &plain) {
  return plainContractionThroughput(plain, threads);
}

std::optional<double> CpuDevice::registerThroughput(uint32_t type) {
  return runtime::registerThroughput(type, threads);
}

std::vector<MemoryUse> CpuDevice::memoryOutsideArena() {
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
  if (disk)
    uses.push_back({"arena on the disk", disk->bytes(), otherArenasReason});
  return uses;
}

std::unique_ptr<Device> openDevice(const MtcProgram &program, const DeviceChoice &choice) {
  if (!choice.name.empty() && choice.name != "cpu" && choice.name != "0")
    userError("--device ", choice.name, ": this program runs on the CPU, which is device 0");
  if (program.target_data) // Only programs written by hand have none.
    checkProcessor(*static_cast<const MtcCpuProgram *>(program.target_data));
  return std::make_unique<CpuDevice>(program, choice);
}

} // namespace mtc::runtime
