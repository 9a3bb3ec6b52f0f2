#include "runtime/devices/cuda/emulated/execution/emulator.h"

#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cuda/emulated/execution/block.h"
#include "runtime/devices/cuda/emulated/execution/device_memory.h"
#include "runtime/support/failure.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace mtc::runtime::emulation {

char *allocate(size_t bytes) { return DeviceMemory::get().allocate(bytes); }
void release(char *memory) { DeviceMemory::get().release(memory); }
void markDefined(const void *begin, size_t bytes) { DeviceMemory::get().markDefined(begin, bytes); }
void markUndefined(const void *begin, size_t bytes) {
  DeviceMemory::get().markUndefined(begin, bytes);
}
std::string findFault(const void *begin, size_t bytes, bool isRead) {
  return DeviceMemory::get().findFault(begin, bytes, isRead);
}

namespace {

/// Returns the order set by MTC_EMULATED_ORDER, for tests.
Order chosenOrder() {
  static const char *const given = std::getenv("MTC_EMULATED_ORDER");
  return given && std::string_view(given) == "reversed" ? Order::reversed : Order::forward;
}

/// A launch on all host threads, which fetch its blocks in order.
struct Run {
  Run(const MtcGpuLaunch &launch, char *const *parameters, uint64_t blocks)
      : launch(launch), parameters(parameters), blocks(blocks) {}

  const MtcGpuLaunch &launch;
  char *const *parameters;
  uint64_t blocks;
  std::atomic<uint64_t> next = 0;
  std::mutex mutex;
  std::atomic<uint64_t> faultyBlock = ~uint64_t{0}; ///< the first one in launch order
  std::string fault;

  void runBlocks() {
    Order order = chosenOrder();
    Block block(launch, parameters, order, GlobalRaces::get());
    for (uint64_t number; (number = next++) < blocks;) {
      // All blocks before a failing one are run, because each may have an earlier error.
      if (number > faultyBlock)
        return;
      if (block.run(order == Order::forward ? number : blocks - 1 - number))
        continue;
      std::lock_guard lock(mutex);
      if (number < faultyBlock) {
        faultyBlock = number;
        fault = block.fault();
      }
      return;
    }
  }
};

} // namespace

std::string launch(const MtcGpuLaunch &launch, char *const *parameters, const char *nodes,
                   int hostThreads) {
  uint64_t blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  Run run(launch, parameters, blocks);
  if (GlobalRaces::get())
    hostThreads = 1; // Race detection requires blocks to run sequentially.
  runParts(
      static_cast<int>(std::min<uint64_t>(std::max(hostThreads, 1), blocks)),
      [](void *context, int) { static_cast<Run *>(context)->runBlocks(); }, &run);
  if (run.fault.empty())
    return "";
  std::string of = nodes && *nodes ? text(" (of ", nodes, ")") : "";
  return text("kernel '", launch.symbol, "'", of, ": ", run.fault);
}

} // namespace mtc::runtime::emulation
