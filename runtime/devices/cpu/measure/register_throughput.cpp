// Loops of multiplications and additions in registers.
#include "runtime/devices/cpu/measure/register_throughput.h"

#include "runtime/abi/program.h"
#include "runtime/devices/cpu/measure/timing.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/vector/vector_set.h"

#include <array>
#include <atomic>
#include <cmath>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mtc::runtime {
namespace {

#define MTC_VECTOR_CODE "runtime/devices/cpu/measure/register_throughput.inc"
#include "runtime/devices/cpu/vector/each_vector_set.inc"

#if defined(__x86_64__)
/// The same loop for instructions that multiply pairs of bf16.
__attribute__((target("avx512f,avx512bf16"), noinline)) double multiplyPairs(int64_t rounds,
                                                                             float *values) {
  // More sums are spilled to memory by the compiler; these hide the latency of an addition.
  constexpr int count = 12, operationsOfOne = 64;
  const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_ps(values[0]));
  __m512 sums[count] = {};
  for (int64_t round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
    for (int i = 0; i < count; ++i)
      sums[i] = _mm512_dpbf16_ps(sums[i], factor, factor);
  __m512 all = _mm512_setzero_ps();
  for (const __m512 &sum : sums)
    all += sum;
  values[2] += all[0];
  return static_cast<double>(rounds) * count * operationsOfOne;
}
#endif

/// Returns the operations per second of `multiply` on all threads.
template <typename Element, typename Multiply>
double throughputOf(const Multiply &multiply, int threads) {
  constexpr int64_t rounds = 500000;
  constexpr double longEnough = 0.02;
  std::atomic<double> operations = 0;
  const double seconds = fewestSeconds(
      [&] {
        operations = 0;
        parallelFor(threads, threads, 1, [&](int, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            // With these values, the sums stay normal numbers: they are neither subnormal, which
            // some processors compute slowly, nor infinite.
            std::array<Element, 3> values = {Element(0.5), Element(0.25), Element(0)};
            double done = multiply(rounds, values.data());
            operations += std::isfinite(values[2]) ? done : 0;
          }
        });
      },
      longEnough, /*minRuns=*/3, threads == 1 ? threadSeconds : wallSeconds);
  return operations / seconds;
}

} // namespace

std::optional<double> registerThroughput(uint32_t type, int threads) {
  [[maybe_unused]] const VectorSet set = machineVectors();
  if (type == MTC_F32)
    return throughputOf<float>(MTC_OF_SET(set, multiplyInRegisters<float>), threads);
  if (type == MTC_F64)
    return throughputOf<double>(MTC_OF_SET(set, multiplyInRegisters<double>), threads);
#if defined(__x86_64__)
  if (type == MTC_BF16 && __builtin_cpu_supports("avx512bf16"))
    return throughputOf<float>(multiplyPairs, threads);
#endif
  return std::nullopt;
}

} // namespace mtc::runtime
