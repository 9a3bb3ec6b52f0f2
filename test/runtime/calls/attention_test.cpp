// Compares fused attention with plain sums.
#include "runtime/abi/tensor.h"
#include "runtime/calls/attention/cpu/attention.h"
#include "runtime/calls/attention/cpu/pair_scratch.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/vector/narrow_floats.h"
#include "test/support/attention_cases.h"

#include <tuple>

using namespace mtc::runtime;
using namespace mtc::attention_cases;

/// The function with which the compiler rounds to __bf16, returned in the lower half of a float's
/// register: a function that returns __bf16 would call itself without optimization. libgcc 12 lacks
/// it.
extern "C" float __truncsfbf2(float value) {
  BFloat16 rounded;
  narrow(value, rounded);
  return std::bit_cast<float>(uint32_t{rounded.bits});
}

namespace {

/// Returns the instruction set of a call.
struct Instructions {
  VectorSet set;
  bool multipliesBFloat16;
};

/// Returns the instruction set of this machine.
std::vector<Instructions> allInstructions(uint32_t type) {
  std::vector<Instructions> all;
  for (int set = 0; set <= static_cast<int>(machineVectors()); ++set)
    all.push_back({VectorSet(set), false});
  if (type == MTC_BF16 && machineMultipliesBFloat16())
    all.push_back({machineVectors(), true});
  return all;
}

void run(const MtcAttention &p, bool isGradient, const std::vector<Buffer> &buffers, int threads,
         const Instructions &instructions) {
  auto call =
      createAttention(p, isGradient, threads, instructions.set, instructions.multipliesBFloat16);
  ASSERT_TRUE(call);
  auto planned = mtc_call_scratch_bytes(
      MTC_ONEDNN, isGradient ? MTC_ATTENTION_GRADIENT : MTC_ATTENTION, &p, threads);
  // The machine that plans may have other instructions.
  EXPECT_EQ(call->scratchBytes(), planned);
  auto scratchBytes = static_cast<size_t>(call->scratchBytes());
  // The previous contents of the scratch memory must not affect the results, and bytes after it
  // must not change.
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

/// Widths are odd and exceed one vector, also of pairs of elements.
constexpr Case severalVectors = {.name = "odd widths of several vectors",
                                 .heads = 4,
                                 .keyHeads = 2,
                                 .queries = 63,
                                 .keys = 129,
                                 .width = 37,
                                 .valueWidth = 99,
                                 .causal = true,
                                 .offset = 66,
                                 .headsInside = true};

/// The diagonal crosses several tiles, and the first queries attend to no key.
constexpr Case severalTiles = {.name = "causal over several tiles",
                               .queries = 150,
                               .keys = 141,
                               .width = 16,
                               .valueWidth = 16,
                               .causal = true,
                               .offset = -21};

template <typename Element> void checkAll() {
  std::vector<Case> all(std::begin(cases), std::end(cases));
  all.push_back(severalVectors);
  all.push_back(severalTiles);
  for (const Case &c : all) {
    Instance<Element> instance(c);
    for (const Instructions &each : allInstructions(TypeOf<Element>::code)) {
      auto check = [&](int threads) {
        SCOPED_TRACE("threads " + std::to_string(threads) + ", set " + vectorSetName(each.set) +
                     (each.multipliesBFloat16 ? "bf16" : ""));
        instance.check([&](const MtcAttention &p, bool isGradient,
                           const std::vector<Buffer> &buffers,
                           size_t) { run(p, isGradient, buffers, threads, each); },
                       TypeOf<Element>::tolerance, each.multipliesBFloat16 ? 0x1p-8 : 0);
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

TEST(Attention, StripsHoldTheKeysThatQueriesAttendTo) {
  MtcAttention p = {};
  p.heads = p.key_heads = 1;
  for (const auto &[queries, keys, isCausal, offset] : {std::tuple{256, 256, true, 0},
                                                        {150, 141, true, -21},
                                                        {150, 197, true, 47},
                                                        {60, 500, true, 440},
                                                        {150, 197, false, 0}}) {
    p.queries = queries;
    p.keys = keys;
    p.is_causal = isCausal;
    p.causal_offset = offset;
    SCOPED_TRACE(std::to_string(queries) + " queries, " + std::to_string(keys) + " keys");
    const AttentionHead head(p, 0, 0);
    std::vector<int64_t> keysOf(static_cast<size_t>(queries)); // in strips
    int64_t scores = 0, needed = 0;
    for (int64_t i = 0; i < queries; i += tileQueries)
      for (int64_t j = 0; j < head.keysFor(std::min<int64_t>(i + tileQueries, queries));
           j += tileKeys) {
        int64_t end = 0, previous = 0;
        head.forStrips(i, std::min(tileQueries, queries - i), j, [&](const Strip &strip) {
          EXPECT_GE(strip.first, end);
          EXPECT_GE(strip.keys, previous);
          EXPECT_EQ(strip.keys % stripKeys, 0);
          EXPECT_LE(strip.keys, tileKeys);
          previous = strip.keys;
          end = strip.first + strip.queries;
          for (int64_t query = strip.first; query < end; ++query)
            keysOf[static_cast<size_t>(i + query)] = std::min<int64_t>(j + strip.keys, keys);
          scores += strip.queries * strip.keys;
        });
        EXPECT_LE(end, std::min(tileQueries, queries - i));
      }
    for (int64_t query = 0; query < queries; ++query) {
      const int64_t attended = head.keysFor(query + 1), held = keysOf[static_cast<size_t>(query)];
      EXPECT_GE(held, attended) << "query " << query;
      EXPECT_LT(held, attended + stripQueries + stripKeys) << "query " << query;
      needed += attended;
    }
    EXPECT_LE(scores, needed + queries * (stripQueries + stripKeys));
  }
}

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

/// The memory planned for f32 operands suffices for pairs of bf16, which some machines use.
TEST(Attention, PairsNeedNoMoreScratchThanFloats) {
  alignas(MTC_ALIGNMENT) static char start[1];
  MtcAttention p = {};
  for (p.width = 1; p.width <= 130; ++p.width)
    for (p.value_width = 1; p.value_width <= 130; p.value_width += 3)
      for (int64_t keys : {1, 2, 63, 64, 65, 1000}) {
        p.keys = keys;
        SCOPED_TRACE("widths " + std::to_string(p.width) + " and " + std::to_string(p.value_width) +
                     ", keys " + std::to_string(keys));
        ASSERT_LE(PairScratch(p, start).end, AttentionScratch<float>(p, start).end);
        ASSERT_LE(PairGradientScratch(p, start).end, AttentionGradientScratch<float>(p, start).end);
      }
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

TEST(Attention, MultipliesBrainFloatsIfTheMachineDoes) {
  Instance<__bf16> instance(severalVectors);
  MtcAttention p = instance.description();
  for (uint32_t type : {MTC_F64, MTC_F32, MTC_BF16, MTC_F16})
    for (const char *kind : {MTC_ATTENTION, MTC_ATTENTION_GRADIENT}) {
      p.type = type;
      auto call = LibraryCall::create(linkedLibrary(), kind, &p, 1);
      ASSERT_TRUE(call);
      EXPECT_EQ(call->implementation() == "tiles avx512bf16",
                type == MTC_BF16 && machineMultipliesBFloat16());
    }
}

TEST(Attention, UnsupportedTypeIsSaid) {
  MtcAttention p = {};
  p.type = MTC_I32;
  EXPECT_EQ(mtc_call_support_level(MTC_ONEDNN, MTC_ATTENTION, &p, 2), MTC_CALL_UNSUPPORTED);
  EXPECT_EQ(mtc_call_scratch_bytes(MTC_ONEDNN, MTC_ATTENTION_GRADIENT, &p, 2), -1);
}

} // namespace
