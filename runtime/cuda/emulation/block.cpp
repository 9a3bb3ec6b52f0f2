#include "runtime/cuda/emulation/block.h"

#include "runtime/failure.h"

#include <algorithm>
#include <bit>
#include <memory>

namespace mtc::runtime::emulation {

namespace {

thread_local Block *currentBlock;

/// The fibers of a host thread, kept from launch to launch.
struct FiberPool {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber *> idle;
};
thread_local FiberPool pool;

uint32_t product(const uint32_t extents[3]) { return extents[0] * extents[1] * extents[2]; }

/// Writes `number`, counted along x first, as an index of `extents`.
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

constexpr const char *togetherNames[] = {"barrier of its warp", "shuffle", "vote"};

} // namespace

Block::Block(const MtcCudaLaunch &launch, char *const *parameters, Order order)
    : launch(launch), parameters(parameters), order(order), threadCount(product(launch.block)),
      threads(threadCount), warps((threadCount + warpSize - 1) / warpSize) {
  DeviceMemory::get().describe(block);
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
  // Threads are left where they stood.
  pool = FiberPool();
  message =
      nameThread(runningThread) + " of block " + nameIndex(block.index, block.grid) + " " + message;
  return false;
}

/// What every fiber does: it starts threads as long as no other thread may go on, and then waits
/// until it is to start more, perhaps of another launch.
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

/// The fiber to go on with: of a thread that waited, one that starts a thread, or the host's.
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
    shared.startBlock(sharedBytes, granule, threadCount);
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
  shared.passBarrier();
  self.status = Thread::running;
  for (unsigned i = 0; i < threadCount; ++i)
    if (unsigned thread = order == Order::forward ? i : threadCount - 1 - i;
        thread != runningThread)
      wake(thread);
}

/// Takes part in an operation of the threads of the warp that `mask` names, and waits for them.
uint64_t Block::joinWarp(Together operation, uint32_t mask, uint32_t site) {
  Thread &self = threads[runningThread];
  unsigned warp = runningThread / warpSize;
  uint32_t lane = 1u << self.state.lane;
  self.status = Thread::inWarp;
  self.operation = operation;
  self.mask = mask;
  self.site = site;
  warps[warp].waiting |= lane;
  if (!(mask & lane))
    message = text("is not in the mask of its ", togetherNames[size_t(operation)], " ", site);
  else if (tryWarp(warp, mask))
    self.status = Thread::running; // and not among those that are ready
  else
    wait();
  if (!message.empty())
    abandon();
  return self.result;
}

/// Carries the operation out that the lanes of `mask` wait for, if they all do. Wakes the others.
bool Block::tryWarp(unsigned warpIndex, uint32_t mask) {
  Warp &warp = warps[warpIndex];
  Thread *lanes = &threads[warpIndex * warpSize];
  uint32_t participants = mask & warp.alive;
  if ((warp.waiting & participants) != participants)
    return false;
  const Thread &first = lanes[std::countr_zero(participants)];
  auto forEach = [&](auto body) {
    for (uint32_t rest = participants; rest; rest &= rest - 1)
      body(static_cast<unsigned>(std::countr_zero(rest)));
  };
  uint32_t votes = 0;
  forEach([&](unsigned lane) {
    const Thread &thread = lanes[lane];
    if (thread.operation != first.operation || thread.site != first.site || thread.mask != mask)
      message =
          text("is in ", togetherNames[size_t(first.operation)], " ", first.site, ", and ",
               nameThread(warpIndex * warpSize + lane), " in ",
               togetherNames[size_t(thread.operation)], " ", thread.site, ": a divergent warp");
    votes |= (thread.value ? 1u : 0u) << lane;
  });
  if (!message.empty())
    return true;
  if (first.operation == Together::barrier)
    shared.passWarpBarrier(warpIndex);
  forEach([&](unsigned lane) {
    if (first.operation == Together::ballot)
      lanes[lane].result = votes;
    else if (first.operation == Together::shuffle)
      shuffleLane(warpIndex, lane, participants);
  });
  warp.waiting &= ~participants;
  forEach([&](unsigned lane) {
    if (unsigned thread = warpIndex * warpSize + lane; thread != runningThread)
      wake(thread);
  });
  return true;
}

/// shfl.sync, as the PTX ISA defines it.
void Block::shuffleLane(unsigned warp, unsigned lane, uint32_t participants) {
  Thread *lanes = &threads[warp * warpSize];
  Thread &self = lanes[lane];
  uint32_t segment = self.clamp >> 8 & 31, clamp = self.clamp & 31, operand = self.operand & 31;
  int64_t last = (lane & segment) | (clamp & ~segment & 31), source = lane;
  bool inRange = false;
  switch (self.kind) {
  case MTC_SHUFFLE_UP:
    source = int64_t(lane) - operand;
    inRange = source >= last;
    break;
  case MTC_SHUFFLE_DOWN:
    source = lane + operand;
    inRange = source <= last;
    break;
  case MTC_SHUFFLE_BUTTERFLY:
    source = lane ^ operand;
    inRange = source <= last;
    break;
  case MTC_SHUFFLE_INDEX:
    source = (lane & segment) | (operand & ~segment & 31);
    inRange = source <= last;
    break;
  }
  if (!inRange)
    source = lane;
  if (!(participants >> source & 1)) {
    message =
        text("reads in shuffle ", self.site, " from lane ", source, ", which takes no part in it");
    runningThread = warp * warpSize + lane;
  }
  self.result = lanes[source].value | uint64_t(inRange) << 32;
}

/// Threads that end no longer take part: what the others wait for may be complete then.
bool Block::finishWaitingWarps() {
  runningThread = threadCount; // none
  bool any = false;
  for (unsigned i = 0; i < warps.size(); ++i)
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (warps[i].waiting >> lane & 1)
        any |= tryWarp(i, threads[i * warpSize + lane].mask);
  return any;
}

/// Nobody can go on: says who waits, and for whom.
void Block::diagnose() {
  auto place = [&](const Thread &thread) {
    if (thread.status == Thread::done)
      return std::string("has ended");
    if (thread.status == Thread::atBarrier)
      return text("waits at barrier ", thread.site);
    return text("waits in ", togetherNames[size_t(thread.operation)], " ", thread.site);
  };
  unsigned waiting = 0;
  while (threads[waiting].status == Thread::done)
    ++waiting;
  const Thread &self = threads[waiting];
  unsigned other = 0;
  while (threads[other].status == self.status && threads[other].site == self.site)
    ++other;
  runningThread = waiting;
  message = text(place(self), ", and ", nameThread(other), " ", place(threads[other]),
                 self.status == Thread::atBarrier ? ": a divergent barrier" : ": a divergent warp");
}

std::string Block::nameThread(unsigned thread) const {
  return "thread " + nameIndex(threads[thread].state.index, block.size);
}

void Block::waitAtWarpBarrier(uint32_t mask, uint32_t site) {
  joinWarp(Together::barrier, mask, site);
}

uint64_t Block::shuffle(uint32_t kind, uint32_t mask, uint32_t value, uint32_t operand,
                        uint32_t clamp, uint32_t site) {
  Thread &self = threads[runningThread];
  self.kind = kind;
  self.value = value;
  self.operand = operand;
  self.clamp = clamp;
  return joinWarp(Together::shuffle, mask, site);
}

uint32_t Block::ballot(uint32_t mask, uint32_t predicate, uint32_t site) {
  threads[runningThread].value = predicate;
  return static_cast<uint32_t>(joinWarp(Together::ballot, mask, site));
}

void Block::accessShared(const void *address, uint64_t bytes, const MtcEmulatedAccess &access) {
  message = shared.access(address, bytes, access, runningThread);
  if (!message.empty())
    abandon();
}

void Block::accessGlobal(const void *address, uint64_t bytes, const char *parameter,
                         const MtcEmulatedAccess &access) {
  message = findGlobalFault(address, bytes, parameter, access);
  if (!message.empty())
    abandon();
  if (access.kind == MTC_WRITE)
    DeviceMemory::get().markDefined(address, bytes);
}

} // namespace mtc::runtime::emulation
