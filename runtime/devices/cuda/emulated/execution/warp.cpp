// Collective operations of a warp: barriers, shuffles, votes, matrix multiplications.
#include "runtime/devices/cuda/emulated/execution/block.h"

#include "runtime/support/failure.h"

#include <bit>

namespace mtc::runtime::emulation {

const char *Block::nameOf(Together operation) {
  constexpr const char *names[] = {"barrier of its warp", "shuffle", "vote", "product of matrices"};
  return names[static_cast<size_t>(operation)];
}

/// Joins a collective operation of the warp's threads in `mask`, and waits for them.
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
    message = text("is not in the mask of its ", nameOf(operation), " ", site);
  else if (tryWarp(warp, mask))
    self.status = Thread::running; // and not in the ready queue
  else
    wait();
  if (!message.empty())
    abandon();
  return self.result;
}

/// Executes the pending operation of the lanes in `mask` if all of them have joined, and wakes the
/// other lanes.
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
      message = text("is in ", nameOf(first.operation), " ", first.site, ", and ",
                     nameThread(warpIndex * warpSize + lane), " in ", nameOf(thread.operation), " ",
                     thread.site, ": a divergent warp");
    votes |= (thread.value ? 1u : 0u) << lane;
  });
  if (!message.empty())
    return true;
  if (first.operation == Together::barrier) { // Other operations do not order memory accesses.
    sharedClock.passWarpBarrier(warpIndex);
    globalClock.passWarpBarrier(warpIndex);
  } else if (first.operation == Together::multiply) {
    multiplyWarp(warpIndex, participants);
  }
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
  default: // There are no other kinds; the lane keeps its value.
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

/// mma.m16n8k8, with the fragment layout of the PTX ISA. Lane l holds these elements:
///
/// - of a: rows l / 4 and l / 4 + 8, columns l % 4 and l % 4 + 4
/// - of b: rows l % 4 and l % 4 + 4, column l / 4
/// - of the accumulators: the rows of a, columns 2 * (l % 4) and the next one
void Block::multiplyWarp(unsigned warp, uint32_t participants) {
  if (participants != ~0u) {
    message = "multiplies matrices in a warp of which not all threads take part";
    return;
  }
  const Thread *lanes = &threads[warp * warpSize];
  auto number = [](uint32_t bits) { return std::bit_cast<float>(bits & ~0x1fffu); };
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      double sum = 0;
      for (unsigned k = 0; k < 8; ++k)
        sum += static_cast<double>(number(lanes[row % 8 * 4 + k % 4].a[row / 8 + k / 4 * 2])) *
               static_cast<double>(number(lanes[column * 4 + k % 4].b[k / 4]));
      lanes[lane].sums[i] = static_cast<float>(static_cast<double>(lanes[lane].sums[i]) + sum);
    }
}

/// Threads that have ended no longer participate, which may complete the operations of the others.
bool Block::finishWaitingWarps() {
  runningThread = threadCount; // none
  bool any = false;
  for (unsigned i = 0; i < warps.size(); ++i)
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (warps[i].waiting >> lane & 1)
        any |= tryWarp(i, threads[i * warpSize + lane].mask);
  return any;
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

void Block::multiply(const uint32_t *a, const uint32_t *b, float *sums, uint32_t site) {
  Thread &self = threads[runningThread];
  self.a = a;
  self.b = b;
  self.sums = sums;
  joinWarp(Together::multiply, ~0u, site);
}

} // namespace mtc::runtime::emulation
