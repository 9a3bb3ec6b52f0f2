#include "runtime/abi/emulation.h"
#include "runtime/devices/cuda/emulated/execution/emulator.h"
#include "runtime/devices/cuda/emulated/execution/global_races.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace {

namespace emulation = mtc::runtime::emulation;
using testing::HasSubstr;
using testing::IsEmpty;

/// Device memory with these numbers, or with undefined contents.
class Numbers {
public:
  explicit Numbers(size_t count) : count(count), memory(emulation::allocate(count * 4)) {}
  explicit Numbers(const std::vector<float> &values) : Numbers(values.size()) {
    std::memcpy(memory, values.data(), count * 4);
    emulation::markDefined(memory, count * 4);
  }
  ~Numbers() { emulation::release(memory); }

  char *address() const { return memory; }
  std::vector<float> values() const {
    std::vector<float> result(count);
    std::memcpy(result.data(), memory, count * 4);
    return result;
  }

private:
  size_t count;
  char *memory;
};

std::string launch(MtcEmulatedFunction function, uint32_t grid, uint32_t block,
                   std::vector<char *> parameters, int hostThreads = 2) {
  MtcGpuLaunch launch = {"k", function, {grid, 1, 1}, {block, 1, 1}, 0};
  return emulation::launch(launch, parameters.data(), "/layer/Mul", hostThreads);
}

constexpr MtcEmulatedAccess readFloat = {MTC_READ, 4, 4, 0, -1};
constexpr MtcEmulatedAccess writeFloat = {MTC_WRITE, 4, 4, 0, -1};

/// Sums the numbers of a block's threads, as a tree in shared memory.
void addUpTree(char *const *parameters) {
  const MtcEmulatedThread *thread = mtc_emulated_enter(256 * 4, 4);
  uint32_t i = thread->index[0], count = thread->block->size[0];
  auto *shared = reinterpret_cast<float *>(thread->block->shared);
  const auto *from = reinterpret_cast<float *>(parameters[0]) + thread->block->index[0] * count;
  mtc_emulated_shared_access(shared + i, &writeFloat);
  shared[i] = from[i];
  for (uint32_t half = count / 2; half; half /= 2) {
    mtc_emulated_barrier(1);
    if (i >= half)
      continue;
    mtc_emulated_shared_access(shared + i + half, &readFloat);
    mtc_emulated_shared_access(shared + i, &readFloat);
    mtc_emulated_shared_access(shared + i, &writeFloat);
    shared[i] += shared[i + half];
  }
  if (i == 0)
    reinterpret_cast<float *>(parameters[1])[thread->block->index[0]] = shared[0];
}

TEST(Emulator, RunsBarriersOnAnyNumberOfHostThreads) {
  std::vector<float> values(16 * 256);
  std::iota(values.begin(), values.end(), 0.0f);
  Numbers from(values);
  for (int hostThreads : {1, 2, 5}) {
    Numbers to(16);
    EXPECT_THAT(launch(addUpTree, 16, 256, {from.address(), to.address()}, hostThreads), IsEmpty());
    for (int block = 0; block < 16; ++block)
      EXPECT_EQ(to.values()[block], 256 * (256 * block + 127.5f));
  }
}

void addWithinWarp(char *const *parameters) {
  const MtcEmulatedThread *thread = mtc_emulated_enter(0, 4);
  uint32_t i = thread->index[0];
  float sum = reinterpret_cast<float *>(parameters[0])[i];
  for (uint32_t offset = 16; offset; offset /= 2) {
    uint32_t bits, other;
    std::memcpy(&bits, &sum, 4);
    other = static_cast<uint32_t>(
        mtc_emulated_shuffle(MTC_SHUFFLE_BUTTERFLY, ~0u, bits, offset, 31, 1));
    float value;
    std::memcpy(&value, &other, 4);
    sum += value;
  }
  reinterpret_cast<float *>(parameters[1])[i] = sum;
}

TEST(Emulator, RunsShuffles) {
  std::vector<float> values(64);
  std::iota(values.begin(), values.end(), 0.0f);
  Numbers from(values), to(64);
  EXPECT_THAT(launch(addWithinWarp, 1, 64, {from.address(), to.address()}), IsEmpty());
  EXPECT_EQ(to.values()[5], 496);
  EXPECT_EQ(to.values()[40], 496 + 32 * 32);
}

TEST(Emulator, LetsThreadsThatEndLeaveAWarp) {
  auto body = [](char *const *parameters) {
    const MtcEmulatedThread *thread = mtc_emulated_enter(0, 4);
    uint32_t i = thread->index[0];
    if (i >= 10)
      return;
    auto *to = reinterpret_cast<float *>(parameters[0]);
    to[i] = static_cast<float>(mtc_emulated_ballot(~0u, i % 2, 1));
  };
  Numbers to(10);
  EXPECT_THAT(launch(body, 1, 32, {to.address()}), IsEmpty());
  EXPECT_EQ(to.values()[0], 0b1010101010);
}

TEST(Emulator, OrdersSharedMemoryByWarpBarriersWithinTheWarpOnly) {
  auto body = [](char *const *parameters) {
    const MtcEmulatedThread *thread = mtc_emulated_enter(64 * 4, 4);
    auto *shared = reinterpret_cast<float *>(thread->block->shared);
    uint32_t i = thread->index[0];
    mtc_emulated_shared_access(shared + i, &writeFloat);
    mtc_emulated_warp_barrier(~0u, 1);
    // The thread belongs to the same warp or, for the parameter 1, to the other warp.
    mtc_emulated_shared_access(shared + (parameters[1] ? 63 - i : i ^ 1), &readFloat);
  };
  Numbers to(64);
  EXPECT_THAT(launch(body, 1, 64, {to.address(), nullptr}), IsEmpty());
  EXPECT_THAT(launch(body, 1, 64, {to.address(), to.address()}), HasSubstr("uninitialized read"));
}

TEST(Emulator, ReportsTheFirstBlockThatFails) {
  auto body = [](char *const *parameters) {
    const MtcEmulatedThread *thread = mtc_emulated_enter(0, 4);
    uint32_t block = thread->block->index[0];
    mtc_emulated_global_access(parameters[0] + block * 4, parameters[0], &writeFloat);
  };
  Numbers to(37);
  for (int hostThreads : {1, 3}) {
    EXPECT_THAT(launch(body, 37, 1, {to.address()}, hostThreads), IsEmpty());
    EXPECT_EQ(launch(body, 500, 1, {to.address()}, hostThreads),
              "kernel 'k' (of /layer/Mul): thread 0 of block 37 writes 4 bytes at offset 148 of "
              "parameter 0, which are 4 bytes at offset 148 of an allocation of 148 bytes: out of "
              "bounds");
  }
  // An interrupted run leaves no state.
  EXPECT_THAT(launch(body, 37, 1, {to.address()}), IsEmpty());
}

TEST(Emulator, KnowsWhatWasWritten) {
  Numbers numbers(8);
  EXPECT_THAT(emulation::findFault(numbers.address(), 32, false), IsEmpty());
  EXPECT_THAT(emulation::findFault(numbers.address(), 33, false), HasSubstr("of 32 bytes"));
  EXPECT_THAT(emulation::findFault(numbers.address() + 4, 4, true),
              HasSubstr("nothing was written"));
  emulation::markDefined(numbers.address() + 4, 4);
  EXPECT_THAT(emulation::findFault(numbers.address() + 4, 4, true), IsEmpty());
  EXPECT_THAT(emulation::findFault(numbers.address() + 4, 5, true), HasSubstr("at offset 8"));
  int onHost = 0;
  EXPECT_THAT(emulation::findFault(&onHost, 4, false), HasSubstr("no address of device memory"));
}

TEST(Emulator, GivesMemoryBack) {
  char *first = emulation::allocate(1000);
  std::memset(first, 1, 1000);
  emulation::markDefined(first, 1000);
  emulation::release(first);
  EXPECT_THAT(emulation::findFault(first, 4, false), HasSubstr("before the first allocation"));
  char *second = emulation::allocate(1000);
  EXPECT_EQ(second, first);
  EXPECT_THAT(emulation::findFault(second, 4, true), HasSubstr("nothing was written"));
  emulation::release(second);
  EXPECT_EQ(emulation::allocate(size_t{1} << 50), nullptr);
  emulation::release(nullptr);
}

/// Smaller accesses split granules, and the records of the whole granule remain valid.
TEST(GlobalRaces, AccessesOfEveryWidth) {
  emulation::GlobalRaces races;
  emulation::AccessClock clock(races.startLaunch());
  constexpr unsigned one = 0, other = 32; // of two warps
  clock.startBlock(2 * other);
  auto access = [&](uintptr_t address, uint64_t bytes, MtcAccessKind kind, unsigned thread) {
    return races.access(reinterpret_cast<const void *>(address), bytes, kind, thread, clock)
        .has_value();
  };
  constexpr uintptr_t page = 4096;
  EXPECT_FALSE(access(page, 16, MTC_WRITE, one));
  for (uintptr_t byte : {9, 8, 0, 15}) // The first divides the granule.
    EXPECT_TRUE(access(page + byte, 1, MTC_READ, other)) << byte;
  EXPECT_FALSE(access(page + 16, 1, MTC_READ, other));
  EXPECT_FALSE(access(page + 18, 2, MTC_WRITE, one)) << "beside what was read";
  EXPECT_TRUE(access(page + 16, 2, MTC_WRITE, one));
  EXPECT_TRUE(access(page + 16, 4, MTC_WRITE, one)) << "one of its granules was read";
  EXPECT_FALSE(access(2 * page - 4, 8, MTC_WRITE, one)) << "parts of two pages";
  EXPECT_TRUE(access(2 * page, 4, MTC_READ, other));
  EXPECT_TRUE(access(2 * page - 1, 1, MTC_READ, other));
  clock.passBarrier();
  EXPECT_FALSE(access(page, 16, MTC_READ, other));
}

} // namespace
