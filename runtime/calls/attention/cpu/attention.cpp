// Tiled attention: distributes tasks over threads and selects the instruction set.
//
// Matrix multiplications of tiles are loops of this file, not library calls. A tile of 60 x 64 x 64
// runs at 115 GFLOP/s on one core of Zen 4 with AVX-512 or AVX2, and at 107 GFLOP/s with the brgemm
// of oneDNN 2.6.3, which has call overhead and supports gaps between rows only with additional
// memory. In bf16, a tile runs at 226 GFLOP/s.
#include "runtime/calls/attention/cpu/attention.h"

#include "runtime/calls/attention/cpu/head.h"
#include "runtime/calls/attention/cpu/pair_scratch.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/vector/narrow_floats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mtc::runtime {
namespace {

#define MTC_VECTOR_CODE "runtime/calls/attention/cpu/float_tiles.inc"
#define MTC_BF16_VECTOR_CODE "runtime/calls/attention/cpu/pair_tiles.inc"
#include "runtime/devices/cpu/vector/each_vector_set.inc"

using Tasks = void (*)(const MtcAttention &, char *const *, int64_t, int64_t, int64_t, char *);

template <typename Stored, typename Element> Tasks tasksFor(bool isGradient, VectorSet set) {
  return isGradient ? MTC_OF_SET(set, differentiate<Stored, Element>)
                    : MTC_OF_SET(set, attend<Stored, Element>);
}

Tasks tasksInPairs(bool isGradient) {
#if defined(__x86_64__)
  return isGradient ? &avx512bf16::differentiateHeads<avx512bf16::PairTiles>
                    : &avx512bf16::attendHeads<avx512bf16::PairTiles>;
#else
  return nullptr;
#endif
}

/// Returns null for types other than 16-, 32- and 64-bit floats.
Tasks tasksFor(uint32_t type, bool isGradient, VectorSet set, bool multipliesBFloat16) {
  switch (type) {
  case MTC_F64:
    return tasksFor<double, double>(isGradient, set);
  case MTC_F32:
    return tasksFor<float, float>(isGradient, set);
  case MTC_BF16:
    return multipliesBFloat16 ? tasksInPairs(isGradient)
                              : tasksFor<BFloat16, float>(isGradient, set);
  case MTC_F16:
    return tasksFor<Float16, float>(isGradient, set);
  default:
    return nullptr;
  }
}

/// Returns the scratch of a task, which suffices for all instruction sets.
template <typename Element> int64_t scratchOfTask(const MtcAttention &p, bool isGradient) {
  alignas(MTC_ALIGNMENT) static char start[1];
  return isGradient ? AttentionGradientScratch<Element>(p, start).end - start
                    : AttentionScratch<Element>(p, start).end - start;
}

class Attention final : public LibraryCall {
public:
  Attention(const MtcAttention &attention, bool isGradient, int maximalThreads, Tasks run,
            std::string name)
      : p(attention), name(std::move(name)), run_(run) {
    slice = p.type == MTC_F64 ? scratchOfTask<double>(p, isGradient)
                              : scratchOfTask<float>(p, isGradient);
    double flops = 2.0 * static_cast<double>(p.batch * p.heads) *
                   static_cast<double>(p.queries * p.keys) *
                   static_cast<double>(p.width + p.value_width);
    threads = usefulThreads(flops, maximalThreads);
    // In the backward pass, a key/value head is a single task, because its gradients are sums over
    // all queries.
    tasks = p.batch * (isGradient ? p.key_heads : p.heads);
    int64_t tiles = padded(p.queries, tileQueries) / tileQueries;
    if (!isGradient && tasks > 0 && tasks < threads)
      chunks = std::clamp<int64_t>((threads + tasks - 1) / tasks, 1, std::max<int64_t>(tiles, 1));
    tasks *= chunks;
    threads = static_cast<int>(std::clamp<int64_t>(threads, 1, std::max<int64_t>(tasks, 1)));
  }

  int64_t scratchBytes() const override { return slice * threads; }
  MtcSupportLevel supportLevel() const override { return MTC_CALL_FAST; }
  std::string implementation() const override { return name; }

  void run(char *const *buffers, char *scratch) override {
    parallelFor(threads, tasks, 1, [&](int part, int64_t begin, int64_t end) {
      run_(p, buffers, begin, end, chunks, scratch + slice * part);
    });
  }

private:
  const MtcAttention p;
  const std::string name;
  const Tasks run_;
  int64_t slice, tasks, chunks = 1;
  int threads;
};

} // namespace

std::unique_ptr<LibraryCall> createAttention(const MtcAttention &attention, bool isGradient,
                                             int threads, VectorSet set, bool multipliesBFloat16) {
  const Tasks run = tasksFor(attention.type, isGradient, set, multipliesBFloat16);
  if (!run)
    return nullptr;
  const bool inPairs = attention.type == MTC_BF16 && multipliesBFloat16;
  return std::make_unique<Attention>(attention, isGradient, threads, run,
                                     std::string("tiles ") + vectorSetName(set) +
                                         (inPairs ? "bf16" : ""));
}

template <bool isGradient>
static std::unique_ptr<LibraryCall> createCall(const void *record, int threads, bool) {
  return createAttention(*static_cast<const MtcAttention *>(record), isGradient, threads,
                         machineVectors(), machineMultipliesBFloat16());
}

static bool isNeverFasterAsKernel(const void *) { return false; }

const CallKind attentionCalls = {MTC_ATTENTION, createCall<false>, isNeverFasterAsKernel};
const CallKind attentionGradientCalls = {MTC_ATTENTION_GRADIENT, createCall<true>,
                                         isNeverFasterAsKernel};

} // namespace mtc::runtime
