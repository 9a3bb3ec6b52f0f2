// Runs the threads of a block on one host thread. Each thread runs on a fiber of its own once it
// waits.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_BLOCK_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_BLOCK_H

#include "runtime/abi/cuda.h"
#include "runtime/abi/emulation.h"
#include "runtime/devices/cuda/emulated/execution/device_memory.h"
#include "runtime/devices/cuda/emulated/execution/fiber.h"
#include "runtime/devices/cuda/emulated/execution/global_access.h"
#include "runtime/devices/cuda/emulated/execution/global_races.h"
#include "runtime/devices/cuda/emulated/execution/shared_memory.h"

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime::emulation {

/// The order in which the blocks of a launch and the threads of a block start. Results must not
/// depend on it.
enum class Order { forward, reversed };

/// Runs the blocks of one launch sequentially.
class Block {
public:
  /// Reports each global-memory access to `races`, unless it is null. All blocks of a launch must
  /// then run on one object.
  Block(const MtcGpuLaunch &launch, char *const *parameters, Order order, GlobalRaces *races);

  /// Runs a block. Returns false if one of its threads failed.
  bool run(uint64_t number);
  /// Returns the error: the thread and its invalid action.
  const std::string &fault() const { return message; }

  /// Returns the block of the calling emulated thread.
  static Block &current();

  // Called by running threads; see runtime/abi/emulation.h.
  const MtcEmulatedThread &enter(uint32_t sharedBytes, uint32_t granule);
  void waitAtBarrier(uint32_t site);
  void waitAtWarpBarrier(uint32_t mask, uint32_t site);
  uint64_t shuffle(uint32_t kind, uint32_t mask, uint32_t value, uint32_t operand, uint32_t clamp,
                   uint32_t site);
  uint32_t ballot(uint32_t mask, uint32_t predicate, uint32_t site);
  void multiply(const uint32_t *a, const uint32_t *b, float *sums, uint32_t site);
  void accessShared(const void *address, uint64_t bytes, const MtcEmulatedAccess &access);
  void accessGlobal(const void *address, uint64_t bytes, const char *parameter,
                    const MtcEmulatedAccess &access);
  bool isShared(const void *address) { return shared.contains(address); }

private:
  static constexpr unsigned warpSize = 32;

  /// A collective operation of a warp.
  enum class Together : uint8_t { barrier, shuffle, ballot, multiply };
  struct Thread {
    MtcEmulatedThread state;
    Fiber *fiber = nullptr; ///< suspended fiber of a waiting thread
    enum : uint8_t { running, atBarrier, inWarp, done } status = running;
    uint32_t site = 0;
    // Arguments and result of the warp's collective operation.
    Together operation = Together::barrier;
    uint32_t mask = 0, kind = 0, value = 0, operand = 0, clamp = 0;
    uint64_t result = 0;
    const uint32_t *a = nullptr, *b = nullptr; ///< fragments of a matrix multiplication
    float *sums = nullptr;
  };
  static const char *nameOf(Together operation);
  struct Warp {
    uint32_t alive = 0, waiting = 0; ///< lane masks
  };

  static void runFiber();
  Fiber *nextFiber();
  void startThread();
  void leave();
  void wait();
  /// Ends the block with the error in `message`. The stack of the running thread is not unwound, so
  /// nothing on it may own memory.
  [[noreturn]] void abandon();
  void wake(unsigned thread);
  uint64_t joinWarp(Together operation, uint32_t mask, uint32_t site);
  bool tryWarp(unsigned warp, uint32_t mask);
  void shuffleLane(unsigned warp, unsigned lane, uint32_t participants);
  void multiplyWarp(unsigned warp, uint32_t participants);
  void finishThread();
  bool finishWaitingWarps();
  void diagnose();
  std::string describeRace(const GlobalAccess &access, const Conflict &conflict) const;
  std::string nameThread(unsigned thread) const;

  const MtcGpuLaunch &launch;
  char *const *parameters;
  Order order;
  MtcEmulatedBlock block;
  unsigned threadCount;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  SharedMemory shared;
  AccessClock sharedClock;
  GlobalRaces *races;
  /// In this clock, shuffles and votes count as warp barriers: kernels rely on them when a result
  /// overwrites data that several lanes have read.
  AccessClock globalClock;
  /// Start time and number of each block, for race detection.
  std::vector<std::pair<uint32_t, uint64_t>> blocks;
  uint8_t noStates[16] = {}; ///< one byte per byte of the largest access

  Fiber host;
  std::deque<unsigned> ready; ///< threads that waited and are runnable
  unsigned started = 0, atBarrier = 0, done = 0;
  bool hasEntered = false; ///< whether a thread of this block has entered
  unsigned runningThread = 0;
  Fiber *runningFiber = nullptr;
  std::string message;
};

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_BLOCK_H
