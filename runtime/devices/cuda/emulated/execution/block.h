// The threads of a block on one host thread: each on a fiber from the moment it first waits.
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

/// The order in which a launch's blocks and a block's threads start. What they compute must not
/// depend on it.
enum class Order { forward, reversed };

/// Runs blocks of one launch, one after another.
class Block {
public:
  /// Tells `races`, unless it is null, of each access of device memory; of blocks of one launch one
  /// object must tell it all.
  Block(const MtcCudaLaunch &launch, char *const *parameters, Order order, GlobalRaces *races);

  /// Runs the block of this number. False if one of its threads did something wrong.
  bool run(uint64_t number);
  /// What that was: which thread, and what it did.
  const std::string &fault() const { return message; }

  /// The block whose thread calls.
  static Block &current();

  // What running threads call; see runtime/abi/emulation.h.
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

  /// An operation that the threads of a warp do together.
  enum class Together : uint8_t { barrier, shuffle, ballot, multiply };
  struct Thread {
    MtcEmulatedThread state;
    Fiber *fiber = nullptr; ///< that it waits on
    enum : uint8_t { running, atBarrier, inWarp, done } status = running;
    uint32_t site = 0;
    // Of the warp's operation: what it brings, then what it gets.
    Together operation = Together::barrier;
    uint32_t mask = 0, kind = 0, value = 0, operand = 0, clamp = 0;
    uint64_t result = 0;
    const uint32_t *a = nullptr, *b = nullptr; ///< fragments of a product
    float *sums = nullptr;
  };
  static const char *nameOf(Together operation);
  struct Warp {
    uint32_t alive = 0, waiting = 0; ///< lanes
  };

  static void runFiber();
  Fiber *nextFiber();
  void startThread();
  void leave();
  void wait();
  /// Ends the block, whose `message` says why. The running thread's stack is left as it is: nothing
  /// on it may own memory.
  [[noreturn]] void abandon();
  void wake(unsigned thread);
  uint64_t joinWarp(Together operation, uint32_t mask, uint32_t site);
  bool tryWarp(unsigned warp, uint32_t mask);
  void shuffleLane(unsigned warp, unsigned lane, uint32_t participants);
  void multiplyWarp(unsigned warp, uint32_t participants);
  void finishThread();
  bool finishWaitingWarps();
  void diagnose();
  std::string findRace(const GlobalAccess &access);
  std::string nameThread(unsigned thread) const;

  const MtcCudaLaunch &launch;
  char *const *parameters;
  Order order;
  MtcEmulatedBlock block;
  unsigned threadCount;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  SharedMemory shared;
  AccessClock sharedClock;
  GlobalRaces *races;
  /// Shuffles and votes are barriers of a warp in it: kernels rely on them where a result takes the
  /// place of what several lanes have read.
  AccessClock globalClock;
  std::vector<std::pair<uint32_t, uint64_t>> blocks; ///< where races are looked for: start, number
  uint8_t noStates[16] = {};                         ///< as many as one access has bytes

  Fiber host;
  std::deque<unsigned> ready; ///< threads that waited and may go on
  unsigned started = 0, atBarrier = 0, done = 0;
  bool hasEntered = false; ///< a thread of this block
  unsigned runningThread = 0;
  Fiber *runningFiber = nullptr;
  std::string message;
};

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_BLOCK_H
