#include "runtime/devices/cuda/emulated/execution/block.h"

#include "runtime/support/failure.h"

#include <algorithm>
#include <memory>

namespace mtc::runtime::emulation {

namespace {

thread_local Block *currentBlock;

/// The fibers of a host thread, which launches reuse.
struct FiberPool {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber *> idle;
};
thread_local FiberPool pool;

uint32_t product(const uint32_t extents[3]) { return extents[0] * extents[1] * extents[2]; }

/// Converts `number`, counted along x first, to an index in `extents`.
void setIndex(uint32_t index[3], uint64_t number, const uint32_t extents[3]) {
  index[0] = static_cast<uint32_t>(number % extents[0]);
  index[1] = static_cast<uint32_t>(number / extents[0] % extents[1]);
  index[2] = static_cast<uint32_t>(number / extents[0] / extents[1]);
}

std::string nameIndex(const uint32_t index[3], const uint32_t extents[3]) {
  if (extents[1] == 1 && extents[2] == 1)
    return text(index[0]);
  return text('(', index[0], ", ", index[1], ", ", index[2], ')');
}

} // namespace

Block::Block(const MtcGpuLaunch &launch, char *const *parameters, Order order, GlobalRaces *races)
    : launch(launch), parameters(parameters), order(order), threadCount(product(launch.block)),
      threads(threadCount), warps((threadCount + warpSize - 1) / warpSize), sharedClock(1),
      races(races), globalClock(races ? races->startLaunch() : 1) {
  DeviceMemory::get().describe(block);
  if (races) { // Disables the inline checks, so that every access is reported.
    block.memory_bytes = 0;
    block.shadow = noStates;
  }
  std::copy_n(launch.block, 3, block.size);
  std::copy_n(launch.grid, 3, block.grid);
  for (unsigned i = 0; i < threadCount; ++i) {
    threads[i].state.block = &block;
    threads[i].state.lane = i % warpSize;
    setIndex(threads[i].state.index, i, launch.block);
  }
}

Block &Block::current() { return *currentBlock; }

bool Block::run(uint64_t number) {
  currentBlock = this;
  setIndex(block.index, number, launch.grid);
  for (Thread &thread : threads)
    thread.status = Thread::running;
  for (unsigned i = 0; i < warps.size(); ++i) {
    unsigned lanes = std::min(warpSize, threadCount - i * warpSize);
    warps[i] = {lanes == warpSize ? ~0u : (1u << lanes) - 1, 0};
  }
  started = atBarrier = done = 0;
  hasEntered = false;
  sharedClock.startBlock(threadCount);
  globalClock.startBlock(threadCount);
  if (races)
    blocks.emplace_back(globalClock.blockStart(), number);
  while (message.empty()) {
    Fiber *next = nextFiber();
    if (next != &host) {
      runningFiber = next;
      host.switchTo(*next);
    } else if (done == threadCount) {
      return true;
    } else if (!finishWaitingWarps()) {
      diagnose();
    }
  }
  // Threads remain suspended on their fibers, which are destroyed.
  pool = FiberPool();
  message =
      nameThread(runningThread) + " of block " + nameIndex(block.index, block.grid) + " " + message;
  return false;
}

/// The main loop of every fiber: starts threads while no other thread is runnable, then suspends
/// until it is reused, possibly by another launch.
void Block::runFiber() {
  for (;;) {
    Block &block = current();
    do {
      block.startThread();
      block.launch.emulated(block.parameters);
      block.finishThread();
    } while (block.ready.empty() && block.started < block.threadCount);
    Fiber *self = block.runningFiber;
    pool.idle.push_back(self);
    block.leave();
  }
}

void Block::startThread() {
  runningThread = order == Order::forward ? started : threadCount - 1 - started;
  ++started;
}

/// Returns the fiber to resume: that of a runnable thread, one that starts a new thread, or the
/// host's.
Fiber *Block::nextFiber() {
  if (!ready.empty()) {
    runningThread = ready.front();
    ready.pop_front();
    return threads[runningThread].fiber;
  }
  if (started == threadCount)
    return &host;
  if (pool.idle.empty())
    return pool.fibers.emplace_back(std::make_unique<Fiber>(&Block::runFiber)).get();
  Fiber *fiber = pool.idle.back();
  pool.idle.pop_back();
  return fiber;
}

void Block::leave() {
  Fiber *self = runningFiber, *next = nextFiber();
  if (next == self)
    return;
  runningFiber = next;
  self->switchTo(*next);
}

void Block::wait() {
  threads[runningThread].fiber = runningFiber;
  leave();
}

void Block::wake(unsigned thread) {
  threads[thread].status = Thread::running;
  ready.push_back(thread);
}

void Block::finishThread() {
  threads[runningThread].status = Thread::done;
  warps[runningThread / warpSize].alive &= ~(1u << runningThread % warpSize);
  ++done;
}

void Block::abandon() {
  runningFiber->switchTo(host);
  __builtin_unreachable();
}

const MtcEmulatedThread &Block::enter(uint32_t sharedBytes, uint32_t granule) {
  if (!hasEntered) {
    hasEntered = true;
    shared.startBlock(sharedBytes, granule);
    block.shared = shared.data();
  }
  return threads[runningThread].state;
}

void Block::waitAtBarrier(uint32_t site) {
  Thread &self = threads[runningThread];
  self.status = Thread::atBarrier;
  self.site = site;
  if (++atBarrier < threadCount)
    return wait();
  for (unsigned i = 0; i < threadCount; ++i)
    if (threads[i].site != site) {
      message = text("waits at barrier ", site, ", and ", nameThread(i), " at barrier ",
                     threads[i].site, ": a divergent barrier");
      abandon();
    }
  atBarrier = 0;
  sharedClock.passBarrier();
  globalClock.passBarrier();
  self.status = Thread::running;
  for (unsigned i = 0; i < threadCount; ++i)
    if (unsigned thread = order == Order::forward ? i : threadCount - 1 - i;
        thread != runningThread)
      wake(thread);
}

/// Reports a deadlock: which threads wait, and for which others.
void Block::diagnose() {
  auto describe = [&](const Thread &thread) {
    if (thread.status == Thread::done)
      return std::string("has ended");
    if (thread.status == Thread::atBarrier)
      return text("waits at barrier ", thread.site);
    return text("waits in ", nameOf(thread.operation), " ", thread.site);
  };
  unsigned waiting = 0;
  while (threads[waiting].status == Thread::done)
    ++waiting;
  const Thread &self = threads[waiting];
  unsigned other = 0;
  while (threads[other].status == self.status && threads[other].site == self.site)
    ++other;
  runningThread = waiting;
  message = text(describe(self), ", and ", nameThread(other), " ", describe(threads[other]),
                 self.status == Thread::atBarrier ? ": a divergent barrier" : ": a divergent warp");
}

std::string Block::nameThread(unsigned thread) const {
  return "thread " + nameIndex(threads[thread].state.index, block.size);
}

void Block::accessShared(const void *address, uint64_t bytes, const MtcEmulatedAccess &access) {
  if (!shared.access(address, bytes, access, runningThread, sharedClock, message))
    abandon();
}

std::string Block::describeRace(const GlobalAccess &access, const Conflict &conflict) const {
  const char *verb = conflict.kind == MTC_WRITE ? " wrote" : " read";
  if (conflict.time >= globalClock.blockStart())
    return text(access.describe(), ", which ", conflict.amongOthers ? "among others " : "",
                nameThread(conflict.thread), verb,
                " since the last barrier that both passed: a race");
  const auto after = std::partition_point(
      blocks.begin(), blocks.end(), [&](const auto &each) { return each.first <= conflict.time; });
  uint32_t index[3];
  setIndex(index, std::prev(after)->second, launch.grid);
  return text(access.describe(), ", which block ", nameIndex(index, launch.grid), verb,
              " in the same launch: a race");
}

void Block::accessGlobal(const void *address, uint64_t bytes, const char *parameter,
                         const MtcEmulatedAccess &access) {
  const GlobalAccess global = {address, bytes, parameter, access};
  if (!isPlainlyValid(global)) {
    message = findGlobalFault(global);
    if (!message.empty())
      abandon();
  }
  if (races)
    if (auto conflict = races->access(address, bytes, static_cast<MtcAccessKind>(access.kind),
                                      runningThread, globalClock)) {
      message = describeRace(global, *conflict);
      abandon();
    }
  if (access.kind == MTC_WRITE)
    DeviceMemory::get().markDefined(address, bytes);
}

} // namespace mtc::runtime::emulation
