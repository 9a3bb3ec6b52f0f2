// Fused attention against plain sums.
#include "runtime/calls/attention/cpu/attention.h"
#include "runtime/devices/cpu/narrow_floats.h"
#include "runtime/devices/cpu/parallel.h"
#include "test/support/attention_cases.h"

using namespace mtc::runtime;
using namespace mtc::attention_cases;

/// What the compiler rounds to __bf16 with. Its own library (libgcc 12) lacks it.
extern "C" __bf16 __truncsfbf2(float value) {
  BFloat16 rounded;
  narrow(value, rounded);
  return std::bit_cast<__bf16>(rounded.bits);
}

namespace {

void run(const MtcAttention &p, bool isGradient, const std::vector<Buffer> &buffers, int threads,
         VectorSet set) {
  auto call = createAttention(p, isGradient, threads, set);
  ASSERT_TRUE(call);
  auto planned = mtc_call_scratch_bytes(
      MTC_ONEDNN, isGradient ? MTC_ATTENTION_GRADIENT : MTC_ATTENTION, &p, threads);
  EXPECT_LE(call->scratchBytes(), planned);
  auto scratchBytes = static_cast<size_t>(call->scratchBytes());
  // What was in the scratch before must not matter, nor what lies after it change.
  std::vector<char> buffer(scratchBytes + 256, static_cast<char>(0xff));
  char *scratch = buffer.data() + (64 - reinterpret_cast<uintptr_t>(buffer.data()) % 64);
  setLibraryThreads(threads);
  std::vector<char *> addresses;
  for (const Buffer &buffer : buffers)
    addresses.push_back(buffer.data);
  call->run(addresses.data(), scratch);
  for (char *each = scratch + scratchBytes; each < buffer.data() + buffer.size(); ++each)
    ASSERT_EQ(*each, static_cast<char>(0xff)) << "written after the scratch";
}

template <typename Element> void checkAll() {
  for (const Case &c : cases) {
    Instance<Element> instance(c);
    for (int set = 0; set <= static_cast<int>(machineVectors()); ++set) {
      auto check = [&](int threads) {
        SCOPED_TRACE("threads " + std::to_string(threads) + ", set " + std::to_string(set));
        instance.check([&](const MtcAttention &p, bool isGradient,
                           const std::vector<Buffer> &buffers,
                           size_t) { run(p, isGradient, buffers, threads, VectorSet(set)); });
      };
      check(1);
      auto alone = instance.results;
      for (int threads : {2, 7}) {
        check(threads);
        EXPECT_EQ(instance.results, alone)
            << c.name << ": bits depend on " << threads << " threads";
      }
    }
  }
}

TEST(Attention, MatchesItsDefinition) { checkAll<float>(); }

TEST(Attention, MatchesItsDefinitionInDoublePrecision) { checkAll<double>(); }

TEST(Attention, MatchesItsDefinitionInBrainFloats) { checkAll<__bf16>(); }

TEST(Attention, MatchesItsDefinitionInHalfPrecision) { checkAll<_Float16>(); }

TEST(Attention, LargeScoresDoNotOverflow) {
  LargeScores scores;
  scores.attend([](const MtcAttention &p, bool, const std::vector<Buffer> &buffers, size_t) {
    std::vector<char *> addresses;
    for (const Buffer &buffer : buffers)
      addresses.push_back(buffer.data);
    MtcCall call = {MTC_ATTENTION, &p, 0, 0, 0, nullptr};
    ASSERT_TRUE(mtc_call_run(&call, addresses.data()));
  });
  EXPECT_EQ(scores.out[0], 129);
  EXPECT_EQ(scores.logsumexp[0], 129000);
}

TEST(Attention, ScratchIsLinearInTheLength) {
  MtcAttention p = {};
  p.type = MTC_F32;
  p.batch = p.heads = p.key_heads = 4;
  p.width = p.value_width = 64;
  for (const char *kind : {MTC_ATTENTION, MTC_ATTENTION_GRADIENT}) {
    p.queries = p.keys = 4096;
    int64_t once = mtc_call_scratch_bytes(MTC_ONEDNN, kind, &p, 4);
    p.queries = p.keys = 8192;
    int64_t twice = mtc_call_scratch_bytes(MTC_ONEDNN, kind, &p, 4);
    EXPECT_LE(twice, 2 * once);
  }
}

TEST(Attention, UnsupportedTypeIsSaid) {
  MtcAttention p = {};
  p.type = MTC_I32;
  EXPECT_EQ(mtc_call_support_level(MTC_ONEDNN, MTC_ATTENTION, &p, 2), MTC_CALL_UNSUPPORTED);
  EXPECT_EQ(mtc_call_scratch_bytes(MTC_ONEDNN, MTC_ATTENTION_GRADIENT, &p, 2), -1);
}

} // namespace
