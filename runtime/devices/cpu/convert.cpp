// Conversions with each set of instructions.
#include "runtime/devices/cpu/convert.h"

#include "runtime/abi/program.h"
#include "runtime/devices/cpu/narrow_floats.h"
#include "runtime/devices/cpu/parallel.h"
#include "runtime/devices/cpu/vector_set.h"

#include <type_traits>

namespace mtc::runtime {
namespace {

namespace sse {
constexpr bool convertsFloat16 = false;
#include "runtime/devices/cpu/vector_floats.inc"
} // namespace sse

namespace avx2 {
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
constexpr bool convertsFloat16 = true;
#include "runtime/devices/cpu/vector_floats.inc"
#pragma clang attribute pop
} // namespace avx2

namespace avx512 {
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,f16c"))),                   \
    apply_to = function)
constexpr bool convertsFloat16 = true;
#include "runtime/devices/cpu/vector_floats.inc"
#pragma clang attribute pop
} // namespace avx512

constexpr int64_t grain = 1 << 14;

template <typename Stored> void widenAll(const char *from, int64_t count, float *to, int threads) {
  const auto *source = reinterpret_cast<const Stored *>(from);
  const VectorSet set = machineVectors();
  parallelFor(threads, count, grain, [&](int, int64_t begin, int64_t end) {
    auto line = set == VectorSet::Avx512 ? avx512::widenLine<Stored, float>
                : set == VectorSet::Avx2 ? avx2::widenLine<Stored, float>
                                         : sse::widenLine<Stored, float>;
    line(source + begin, 1, end - begin, to + begin);
  });
}

template <typename Stored> void narrowAll(const float *from, int64_t count, char *to, int threads) {
  auto *destination = reinterpret_cast<Stored *>(to);
  const VectorSet set = machineVectors();
  parallelFor(threads, count, grain, [&](int, int64_t begin, int64_t end) {
    auto line = set == VectorSet::Avx512 ? avx512::narrowLine<Stored, float>
                : set == VectorSet::Avx2 ? avx2::narrowLine<Stored, float>
                                         : sse::narrowLine<Stored, float>;
    line(from + begin, end - begin, destination + begin, 1);
  });
}

} // namespace

void widenArray(uint32_t type, const char *from, int64_t count, float *to, int threads) {
  return type == MTC_BF16 ? widenAll<BFloat16>(from, count, to, threads)
                          : widenAll<Float16>(from, count, to, threads);
}

void narrowArray(uint32_t type, const float *from, int64_t count, char *to, int threads) {
  return type == MTC_BF16 ? narrowAll<BFloat16>(from, count, to, threads)
                          : narrowAll<Float16>(from, count, to, threads);
}

} // namespace mtc::runtime
