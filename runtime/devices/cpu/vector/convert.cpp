// Conversions for each instruction set.
#include "runtime/devices/cpu/vector/convert.h"

#include "runtime/abi/program.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/vector/narrow_floats.h"
#include "runtime/devices/cpu/vector/vector_set.h"

#include <type_traits>

namespace mtc::runtime {
namespace {

#define MTC_VECTOR_CODE "runtime/devices/cpu/vector/vector_floats.inc"
#include "runtime/devices/cpu/vector/each_vector_set.inc"

constexpr int64_t grain = 1 << 14;

template <typename Stored> void widenAll(const char *from, int64_t count, float *to, int threads) {
  const auto *source = reinterpret_cast<const Stored *>(from);
  const VectorSet set = machineVectors();
  parallelFor(threads, count, grain, [&](int, int64_t begin, int64_t end) {
    auto line = MTC_OF_SET(set, widenLine<Stored, float>);
    line(source + begin, 1, end - begin, to + begin);
  });
}

template <typename Stored> void narrowAll(const float *from, int64_t count, char *to, int threads) {
  auto *destination = reinterpret_cast<Stored *>(to);
  const VectorSet set = machineVectors();
  parallelFor(threads, count, grain, [&](int, int64_t begin, int64_t end) {
    auto line = MTC_OF_SET(set, narrowLine<Stored, float>);
    line(from + begin, end - begin, destination + begin, 1);
  });
}

} // namespace

void widenArray(uint32_t type, const char *from, int64_t count, float *to, int threads) {
  withNarrowFloat(type, [&](auto e) { widenAll<decltype(e)>(from, count, to, threads); });
}

void narrowArray(uint32_t type, const float *from, int64_t count, char *to, int threads) {
  withNarrowFloat(type, [&](auto e) { narrowAll<decltype(e)>(from, count, to, threads); });
}

} // namespace mtc::runtime
