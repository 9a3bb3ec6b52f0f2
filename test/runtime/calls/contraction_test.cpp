// Compares contractions of every layout with plain sums, and checks the algorithm for each layout.
#include "runtime/calls/contraction/cpu/onednn/contraction.h"

#include "runtime/calls/contraction/cpu/contraction.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "test/support/library_level.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

using namespace mtc::runtime;

namespace {

/// A contraction whose tensors are described by the order of their axes in memory, outermost first;
/// `gap` elements follow each innermost line.
struct Problem {
  std::vector<int64_t> batch;
  int64_t m, n, k;
};

using Strides = std::vector<int64_t>;

/// Returns the upper half of an f32, rounded to nearest.
struct BrainFloat {
  uint16_t bits = 0;

  BrainFloat() = default;
  explicit BrainFloat(float value)
      : bits(static_cast<uint16_t>((std::bit_cast<uint32_t>(value) + 0x8000) >> 16)) {}
  explicit BrainFloat(double value) : BrainFloat(static_cast<float>(value)) {}
  explicit operator double() const {
    return static_cast<double>(std::bit_cast<float>(uint32_t{bits} << 16));
  }
};

/// Returns strides of a tensor with `extents` whose axes have the `order` in memory; extents in
/// `broadcast` get stride 0.
Strides strides(const std::vector<int64_t> &extents, const std::vector<int> &order, int64_t gap = 0,
                const std::vector<int> &broadcast = {}) {
  Strides result(extents.size());
  int64_t step = 1;
  bool first = true;
  for (size_t i = order.size(); i-- > 0;) {
    auto axis = static_cast<size_t>(order[i]);
    if (std::find(broadcast.begin(), broadcast.end(), order[i]) != broadcast.end())
      continue;
    result[axis] = step;
    step *= extents[axis];
    if (first)
      step += gap;
    first = false;
  }
  return result;
}

int64_t span(const std::vector<int64_t> &extents, const Strides &strides) {
  int64_t last = 0;
  for (size_t i = 0; i < extents.size(); ++i)
    last += (extents[i] - 1) * strides[i];
  return last + 1;
}

std::vector<int64_t> with(std::vector<int64_t> batch, int64_t a, int64_t b) {
  batch.insert(batch.end(), {a, b});
  return batch;
}

MtcContraction make(const Problem &p, const Strides &lhs, const Strides &rhs, const Strides &out,
                    bool accumulate = false, MtcType type = MTC_F32) {
  MtcContraction c{};
  mtc_set_contraction_types(&c, type);
  c.batch_rank = static_cast<uint32_t>(p.batch.size());
  std::copy(p.batch.begin(), p.batch.end(), c.batch);
  c.m = p.m;
  c.n = p.n;
  c.k = p.k;
  std::copy(lhs.begin(), lhs.end(), c.lhs_strides);
  std::copy(rhs.begin(), rhs.end(), c.rhs_strides);
  std::copy(out.begin(), out.end(), c.out_strides);
  c.accumulate = accumulate;
  return c;
}

/// Runs the contraction twice and compares each element of the result's whole span, including gaps,
/// with plain sums.
template <typename Element>
void checkRun(LibraryCall &contraction, const Problem &p, const MtcContraction &c, int threads) {
  SCOPED_TRACE(contraction.implementation());
  size_t rank = p.batch.size() + 2;
  Strides ls(c.lhs_strides, c.lhs_strides + rank), rs(c.rhs_strides, c.rhs_strides + rank),
      os(c.out_strides, c.out_strides + rank);
  auto fill = [](int64_t count, int64_t seed) {
    std::vector<Element> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<Element>(
          static_cast<float>((static_cast<int64_t>(i) * 7 + seed) % 23 - 11) / 8);
    return values;
  };
  auto lhs = fill(span(with(p.batch, p.m, p.k), ls), 1),
       rhs = fill(span(with(p.batch, p.k, p.n), rs), 5),
       out = fill(span(with(p.batch, p.m, p.n), os), 3), expected = out;
  std::vector<Strides> as;
  std::vector<std::vector<Element>> addends;
  for (uint32_t i = 0; i < c.addend_count; ++i) {
    as.emplace_back(c.addend_strides[i], c.addend_strides[i] + rank);
    addends.push_back(fill(span(with(p.batch, p.m, p.n), as[i]), 7 + i));
  }
  int64_t entries =
      std::accumulate(p.batch.begin(), p.batch.end(), int64_t{1}, std::multiplies<>());
  for (int64_t e = 0; e < entries; ++e) {
    int64_t l0 = 0, r0 = 0, o0 = 0, rest = e;
    std::vector<int64_t> a0(addends.size());
    for (size_t i = p.batch.size(); i-- > 0;) {
      l0 += rest % p.batch[i] * ls[i];
      r0 += rest % p.batch[i] * rs[i];
      o0 += rest % p.batch[i] * os[i];
      for (size_t a = 0; a < addends.size(); ++a)
        a0[a] += rest % p.batch[i] * as[a][i];
      rest /= p.batch[i];
    }
    for (int64_t m = 0; m < p.m; ++m)
      for (int64_t n = 0; n < p.n; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += static_cast<double>(
                     lhs[static_cast<size_t>(l0 + m * ls[rank - 2] + k * ls[rank - 1])]) *
                 static_cast<double>(
                     rhs[static_cast<size_t>(r0 + k * rs[rank - 2] + n * rs[rank - 1])]);
        for (size_t a = 0; a < addends.size(); ++a)
          sum += static_cast<double>(
              addends[a][static_cast<size_t>(a0[a] + m * as[a][rank - 2] + n * as[a][rank - 1])]);
        auto &result = expected[static_cast<size_t>(o0 + m * os[rank - 2] + n * os[rank - 1])];
        result = static_cast<Element>((c.accumulate ? static_cast<double>(result) : 0.0) + sum);
      }
  }

  // Bytes after the planned scratch memory must not change.
  auto scratchBytes = static_cast<size_t>(contraction.scratchBytes());
  std::vector<char> buffer(scratchBytes + 256, 0x5a);
  char *scratch = buffer.data() + (64 - reinterpret_cast<uintptr_t>(buffer.data()) % 64);
  setLibraryThreads(threads);
  auto startingPoint = out;
  for (int run = 0; run < 2; ++run) {
    out = startingPoint;
    std::vector<char *> buffers = {reinterpret_cast<char *>(lhs.data()),
                                   reinterpret_cast<char *>(rhs.data())};
    for (std::vector<Element> &addend : addends)
      buffers.push_back(reinterpret_cast<char *>(addend.data()));
    buffers.push_back(reinterpret_cast<char *>(out.data()));
    contraction.run(buffers.data(), scratch);
    for (size_t i = 0; i < out.size(); ++i) {
      auto found = static_cast<double>(out[i]), wanted = static_cast<double>(expected[i]);
      ASSERT_NEAR(found, wanted, (sizeof(Element) == 2 ? 1e-2 : 1e-4) * (1 + std::abs(wanted)))
          << "element " << i << ", run " << run;
    }
  }
  for (char *c = scratch + scratchBytes; c < buffer.data() + buffer.size(); ++c)
    ASSERT_EQ(*c, 0x5a) << "written after the scratch";
}

/// Checks the other algorithms of a contraction.
template <typename Element> void checkAlgorithms(const Problem &p, MtcContraction c, int threads) {
  for (uint32_t algorithm : {MTC_PACKED_RHS, MTC_PACKED_OPERANDS, MTC_OWN_PANELS}) {
    c.algorithm = algorithm;
    auto contraction = createContraction(c, threads);
    ASSERT_TRUE(contraction);
    auto planned = LibraryCall::create(linkedLibrary(), MTC_CONTRACTION, &c, threads, false);
    EXPECT_LE(planned->scratchBytes(),
              mtc_call_scratch_bytes(MTC_ONEDNN, MTC_CONTRACTION, &c, threads));
    if (algorithm == MTC_OWN_PANELS && p.k > 0)
      EXPECT_THAT(contraction->implementation(), testing::HasSubstr("panels"));
    checkRun<Element>(*contraction, p, c, threads);
  }
}

/// Checks the contraction with oneDNN and with the runtime's own code.
template <typename Element>
void check(const Problem &p, const MtcContraction &c, MtcSupportLevel minLevel, int threads = 2) {
  if (p.batch.empty() && c.lhs_type != MTC_F64)
    checkAlgorithms<Element>(p, c, threads);
  auto contraction = createContraction(c, threads);
  ASSERT_TRUE(contraction);
  EXPECT_GE(contraction->supportLevel(), minLevel);
  EXPECT_EQ(contraction->supportLevel(),
            mtc_call_support_level(MTC_ONEDNN, MTC_CONTRACTION, &c, threads));
  auto planned = LibraryCall::create(linkedLibrary(), MTC_CONTRACTION, &c, threads, false);
  EXPECT_LE(planned->scratchBytes(),
            mtc_call_scratch_bytes(MTC_ONEDNN, MTC_CONTRACTION, &c, threads));
  checkRun<Element>(*contraction, p, c, threads);
  auto builtIn = LibraryCall::create(builtInLibrary(), MTC_CONTRACTION, &c, threads);
  ASSERT_TRUE(builtIn);
  EXPECT_LE(builtIn->scratchBytes(),
            mtc_call_scratch_bytes(MTC_BUILT_IN, MTC_CONTRACTION, &c, threads));
  checkRun<Element>(*builtIn, p, c, threads);
}

struct Matrix {
  const char *name;
  std::vector<int> order;
  int64_t gap;
};
const Matrix matrices[] = {{"row-major", {0, 1}, 0},
                           {"column-major", {1, 0}, 0},
                           {"row-major with gaps", {0, 1}, 5},
                           {"column-major with gaps", {1, 0}, 5}};

TEST(Contraction, EveryPairOfMatrixLayouts) {
  const Problem problems[] = {{{}, 33, 20, 17}, {{}, 1, 40, 24}, {{}, 24, 1, 40},
                              {{}, 16, 24, 1},  {{}, 1, 1, 8},   {{}, 1, 1, 1}};
  for (const Problem &p : problems)
    for (const Matrix &l : matrices)
      for (const Matrix &r : matrices)
        for (const Matrix &o : matrices)
          for (bool accumulate : {false, true}) {
            SCOPED_TRACE(std::string(l.name) + ", " + r.name + " -> " + o.name);
            check<float>(p,
                         make(p, strides({p.m, p.k}, l.order, l.gap),
                              strides({p.k, p.n}, r.order, r.gap),
                              strides({p.m, p.n}, o.order, o.gap), accumulate),
                         MTC_CALL_ALLOCATES);
          }
}

/// Returns the contraction with these addends, each described by its strides.
MtcContraction adding(MtcContraction c, const std::vector<Strides> &addends) {
  c.addend_count = static_cast<uint32_t>(addends.size());
  for (size_t i = 0; i < addends.size(); ++i)
    std::copy(addends[i].begin(), addends[i].end(), c.addend_strides[i]);
  return c;
}

TEST(Contraction, EveryPairOfAddends) {
  const Problem problems[] = {{{}, 33, 20, 17}, {{}, 1, 40, 24}, {{}, 24, 1, 40}, {{}, 70, 65, 3}};
  for (const Problem &p : problems) {
    const Strides addends[] = {{p.n, 1}, {0, 1}, {1, 0}, {0, 0}, {p.n + 3, 1}, {1, p.m}};
    for (const Matrix &o : {matrices[0], matrices[1], matrices[2]})
      for (const Strides &a : addends)
        for (const Strides &b : addends)
          for (bool accumulate : {false, true}) {
            MtcContraction c =
                make(p, {p.k, 1}, {p.n, 1}, strides({p.m, p.n}, o.order, o.gap), accumulate);
            SCOPED_TRACE("m " + std::to_string(p.m) + " n " + std::to_string(p.n) + " k " +
                         std::to_string(p.k) + " -> " + o.name + ", addends " +
                         std::to_string(a[0]) + " " + std::to_string(a[1]) + ", " +
                         std::to_string(b[0]) + " " + std::to_string(b[1]));
            check<float>(p, adding(c, {a}), MTC_CALL_PACKED);
            check<float>(p, adding(c, {a, b}), MTC_CALL_PACKED);
            mtc_set_contraction_types(&c, MTC_F64);
            check<double>(p, adding(c, {a, b}), MTC_CALL_LOOPS);
          }
  }
}

TEST(Contraction, UsualAddendsCostNoCopy) {
  Problem p{{}, 33, 20, 17};
  MtcContraction c = make(p, {17, 1}, {20, 1}, {20, 1});
  const Strides bias = {0, 1}, residual = {20, 1};
  for (bool accumulate : {false, true})
    for (const std::vector<Strides> &addends :
         {std::vector<Strides>{bias}, {residual}, {bias, residual}, {residual, residual}}) {
      c.accumulate = accumulate;
      check<float>(p, adding(c, addends), mtc::test::bestLevelOfProducts());
      check<float>(p, adding(c, addends), mtc::test::bestLevelOfProducts(), 1);
    }
}

/// Several threads of oneDNN's gemm, which processors without AVX-512 use, would compute parts of
/// these sums, and spin until all are done.
TEST(Contraction, ThreadsDoNotShareSums) {
  constexpr int threads = 8;
  Problem p{{}, 40, 48, 4000};
  const MtcContraction c = make(p, {1, 40}, {48, 1}, {48, 1});
  const std::string onOneThread = createContraction(c, 1)->implementation(),
                    onSeveral = createContraction(c, threads)->implementation();
  EXPECT_THAT(onSeveral, testing::Not(testing::HasSubstr("gemm"))) << onOneThread;
  check<float>(p, c, MTC_CALL_ALLOCATES, threads);
}

TEST(Contraction, AddendsOfABatch) {
  Problem p{{3, 5}, 8, 12, 16};
  std::vector<int64_t> l = {3, 5, 8, 16}, r = {3, 5, 16, 12}, o = {3, 5, 8, 12};
  const std::vector<int> dense = {0, 1, 2, 3};
  for (std::vector<int> order : {dense, {2, 0, 1, 3}})
    for (std::vector<int> repeated : {std::vector<int>{}, {0}, {1}, {0, 1}, {0, 1, 2}, {3}})
      for (std::vector<int> shared : {std::vector<int>{}, {0}, {0, 1}})
        for (bool accumulate : {false, true}) {
          MtcContraction c = make(p, strides(l, dense), strides(r, dense, 0, shared),
                                  strides(o, order), accumulate);
          check<float>(p, adding(c, {strides(o, dense, 0, repeated), strides(o, order)}),
                       MTC_CALL_PACKED);
        }
}

TEST(Contraction, HeadsStayWhereTheyAre) {
  // A tensor [B, S, H, D] is read as [B, H, S, D], with the axes 0, 2, 1, 3 in memory.
  const std::vector<int> dense = {0, 1, 2, 3}, heads = {0, 2, 1, 3}, denseT = {0, 1, 3, 2},
                         headsT = {0, 3, 1, 2};
  Problem scores{{3, 4}, 24, 24, 16}, mixed{{3, 4}, 24, 16, 24};
  std::vector<int64_t> q = {3, 4, 24, 16}, kt = {3, 4, 16, 24}, s = {3, 4, 24, 24};
  check<float>(scores, make(scores, strides(q, heads), strides(kt, headsT), strides(s, dense)),
               MTC_CALL_ALLOCATES);
  check<float>(mixed, make(mixed, strides(s, dense), strides(q, heads), strides(q, heads)),
               MTC_CALL_ALLOCATES);
  check<float>(mixed, make(mixed, strides(s, denseT), strides(q, heads), strides(q, heads), true),
               MTC_CALL_ALLOCATES);
  check<float>(mixed, make(mixed, strides(s, denseT), strides(q, dense), strides(q, dense)),
               mtc::test::bestLevelOfProducts());
  check<float>(scores, make(scores, strides(q, dense), strides(kt, denseT), strides(s, denseT)),
               mtc::test::bestLevelOfProducts());
  // The operand is one of three in a packed projection, so that there are gaps between lines.
  check<float>(
      mixed,
      make(mixed, strides(s, dense), {3 * 24 * 4 * 16, 16, 3 * 4 * 16, 1}, strides(q, heads)),
      MTC_CALL_ALLOCATES);
}

TEST(Contraction, BatchBroadcast) {
  Problem p{{3, 5}, 8, 12, 16};
  std::vector<int64_t> l = {3, 5, 8, 16}, r = {3, 5, 16, 12}, o = {3, 5, 8, 12};
  for (std::vector<int> axes : {std::vector<int>{0}, {1}, {0, 1}}) {
    check<float>(p,
                 make(p, strides(l, {0, 1, 2, 3}), strides(r, {0, 1, 2, 3}, 0, axes),
                      strides(o, {0, 1, 2, 3})),
                 MTC_CALL_ALLOCATES);
    check<float>(p,
                 make(p, strides(l, {0, 1, 2, 3}, 0, axes), strides(r, {0, 1, 2, 3}),
                      strides(o, {0, 1, 2, 3}), true),
                 MTC_CALL_ALLOCATES);
    check<float>(p,
                 make(p, strides(l, {0, 1, 2, 3}, 0, axes), strides(r, {0, 1, 3, 2}),
                      strides(o, {2, 0, 1, 3})),
                 MTC_CALL_ALLOCATES);
  }
}

TEST(Contraction, ManyBatchAxes) {
  Problem p{{2, 3, 2, 3}, 5, 7, 6};
  std::vector<int64_t> l = {2, 3, 2, 3, 5, 6}, r = {2, 3, 2, 3, 6, 7}, o = {2, 3, 2, 3, 5, 7};
  check<float>(p,
               make(p, strides(l, {3, 1, 0, 2, 4, 5}), strides(r, {0, 1, 2, 3, 4, 5}),
                    strides(o, {2, 0, 3, 1, 4, 5})),
               MTC_CALL_ALLOCATES);
  check<float>(p,
               make(p, strides(l, {3, 1, 4, 0, 2, 5}), strides(r, {5, 1, 2, 3, 4, 0}),
                    strides(o, {2, 4, 0, 3, 1, 5}, 3), true),
               MTC_CALL_PACKED);
}

TEST(Contraction, LayoutsThatNoLibraryTakesArePacked) {
  Problem p{{3}, 9, 7, 11};
  std::vector<int64_t> l = {3, 9, 11}, r = {3, 11, 7}, o = {3, 9, 7};
  Strides innermostBatch = strides(l, {1, 2, 0}), outInnermostBatch = strides(o, {2, 1, 0});
  for (bool accumulate : {false, true}) {
    MtcContraction c =
        make(p, innermostBatch, strides(r, {0, 1, 2}), strides(o, {0, 1, 2}), accumulate);
    check<float>(p, c, MTC_CALL_PACKED);
    EXPECT_EQ(mtc_call_support_level(MTC_ONEDNN, MTC_CONTRACTION, &c, 2), MTC_CALL_PACKED);
    c = make(p, strides(l, {0, 1, 2}), strides(r, {1, 2, 0}), outInnermostBatch, accumulate);
    check<float>(p, c, MTC_CALL_PACKED);
    check<float>(p, c, MTC_CALL_PACKED, 1);
    // Overlapping windows of one line: lhs[m, k] = line[m + k].
    check<float>(p, make(p, {0, 1, 1}, strides(r, {0, 1, 2}), strides(o, {0, 1, 2}), accumulate),
                 MTC_CALL_PACKED);
  }
}

TEST(Contraction, SumsOverNothingAndEmptyResults) {
  Problem nothing{{2}, 3, 4, 0};
  check<float>(nothing, make(nothing, {0, 0, 1}, {0, 4, 1}, {12, 4, 1}), MTC_CALL_LOOPS);
  check<float>(nothing, make(nothing, {0, 0, 1}, {0, 4, 1}, {12, 4, 1}, true), MTC_CALL_LOOPS);
  check<float>(nothing, adding(make(nothing, {0, 0, 1}, {0, 4, 1}, {12, 4, 1}), {{0, 0, 1}}),
               MTC_CALL_LOOPS);
  MtcContraction empty = make({{0}, 3, 4, 5}, {15, 5, 1}, {20, 4, 1}, {12, 4, 1});
  empty = adding(empty, {{12, 4, 1}});
  auto contraction = createContraction(empty, 2);
  ASSERT_TRUE(contraction);
  char *const buffers[4] = {};
  contraction->run(buffers, nullptr);
}

TEST(Contraction, DoublePrecision) {
  Problem p{{2}, 9, 7, 11};
  for (bool accumulate : {false, true})
    check<double>(p,
                  make(p, strides({2, 9, 11}, {0, 2, 1}), strides({2, 11, 7}, {0, 1, 2}),
                       strides({2, 9, 7}, {0, 2, 1}), accumulate, MTC_F64),
                  MTC_CALL_LOOPS);
}

/// narrow_contraction_test.cpp has more tests of 16-bit elements.
TEST(Contraction, BrainFloat) {
  Problem p{{3}, 33, 17, 20};
  MtcContraction c = make(p, strides({3, 33, 20}, {0, 2, 1}), strides({3, 20, 17}, {0, 1, 2}),
                          strides({3, 33, 17}, {0, 1, 2}), true, MTC_BF16);
  check<BrainFloat>(p, c, MTC_CALL_PACKED);
  check<BrainFloat>(p, adding(c, {{0, 0, 1}}), MTC_CALL_PACKED);
  check<BrainFloat>(p,
                    make(p, strides({3, 33, 20}, {1, 2, 0}), strides({3, 20, 17}, {0, 1, 2}),
                         strides({3, 33, 17}, {2, 1, 0}), false, MTC_BF16),
                    MTC_CALL_PACKED);
}

/// The extents are near the library's block sizes, and layouts are padded.
TEST(Contraction, PackedOperandsOfOddExtents) {
  for (int64_t extent : {15, 16, 17, 63, 64, 65, 130})
    for (const std::vector<int> &order : {std::vector<int>{0, 1}, std::vector<int>{1, 0}}) {
      const Problem p{{}, extent, 81, extent + 3};
      const MtcContraction c = make(p, strides({p.m, p.k}, order), strides({p.k, p.n}, order),
                                    strides({p.m, p.n}, {0, 1}), extent % 2 == 0);
      checkAlgorithms<float>(p, c, 2);
      checkAlgorithms<float>(p, adding(c, {{0, 1}, {p.n, 1}}), 2);
    }
}

/// The library prefers other layouts only for AVX-512.
TEST(Contraction, PackedOperandsAreCopied) {
  const Problem p{{}, 64, 96, 128};
  MtcContraction c = make(p, {p.k, 1}, {p.n, 1}, {p.n, 1});
  auto plain = createContraction(c, 1);
  if (plain->implementation().rfind("brg", 0) != 0)
    GTEST_SKIP() << "the library computes it by " << plain->implementation();
  const int64_t asStored = plain->scratchBytes();
  c.algorithm = MTC_PACKED_RHS;
  auto packed = createContraction(c, 1);
  EXPECT_THAT(packed->implementation(), testing::HasSubstr("blocked rhs"));
  EXPECT_GE(packed->scratchBytes(), asStored + 4 * p.k * p.n);
}

TEST(Contraction, UnsupportedTypeIsSaid) {
  MtcContraction c = make({{}, 2, 2, 2}, {2, 1}, {2, 1}, {2, 1}, false, MTC_I32);
  EXPECT_EQ(createContraction(c, 2), nullptr);
  EXPECT_EQ(mtc_call_support_level(MTC_ONEDNN, MTC_CONTRACTION, &c, 2), MTC_CALL_UNSUPPORTED);
  EXPECT_EQ(mtc_call_scratch_bytes(MTC_ONEDNN, MTC_CONTRACTION, &c, 2), -1);
}

TEST(Contraction, ExtentsBeyond32BitsAreNotTheLibrarys) {
  constexpr int64_t large = int64_t(1) << 32;
  for (const Problem &p : {Problem{{}, large, 8, 4}, Problem{{}, 8, large, 4},
                           Problem{{}, 8, 4, large}, Problem{{large}, 8, 8, 8}}) {
    MtcContraction c = make(p, {p.m * p.k, p.k, 1}, {p.k * p.n, p.n, 1}, {p.m * p.n, p.n, 1});
    if (p.batch.empty())
      c = make(p, {p.k, 1}, {p.n, 1}, {p.n, 1});
    EXPECT_NE(mtc_call_support_level(MTC_ONEDNN, MTC_CONTRACTION, &c, 2), MTC_CALL_UNSUPPORTED);
    EXPECT_GE(mtc_call_scratch_bytes(MTC_ONEDNN, MTC_CONTRACTION, &c, 2), 0);
  }
}

TEST(Contraction, EpiloguesAreKernels) {
  MtcContraction c = make({{}, 8, 8, 8}, {8, 1}, {8, 1}, {8, 1});
  EXPECT_NE(mtc_call_support_level(MTC_ONEDNN, MTC_CONTRACTION, &c, 2), MTC_CALL_UNSUPPORTED);
  c.activation = MTC_RELU;
  EXPECT_EQ(mtc_call_support_level(MTC_ONEDNN, MTC_CONTRACTION, &c, 2), MTC_CALL_UNSUPPORTED);
  EXPECT_EQ(mtc_call_scratch_bytes(MTC_ONEDNN, MTC_CONTRACTION, &c, 2), -1);
  c.activation = MTC_NO_ACTIVATION;
  c.summed = MTC_LHS_SUMMED;
  EXPECT_EQ(mtc_call_support_level(MTC_ONEDNN, MTC_CONTRACTION, &c, 2), MTC_CALL_UNSUPPORTED);
}

/// At run time, the library's AVX2 code reads the number of threads, and sums the remainder of a
/// row in a thread's share in another order.
TEST(Contraction, RunsOnTheThreadsThatItWasPlannedFor) {
  const MtcContraction c = make({{}, 61, 3, 3}, {1, 61}, {3, 1}, {3, 1});
  std::vector<float> lhs(61 * 3), rhs(3 * 3);
  for (std::vector<float> *values : {&lhs, &rhs})
    for (size_t i = 0; i < values->size(); ++i)
      (*values)[i] = std::sin(static_cast<float>(i + values->size()));
  std::vector<float> results[2];
  for (int threads : {1, 2}) {
    auto contraction = createContraction(c, 1);
    ASSERT_TRUE(contraction);
    std::vector<float> &out = results[threads - 1];
    out.resize(61 * 3);
    std::vector<char> scratch(static_cast<size_t>(contraction->scratchBytes()) + 64);
    char *buffers[] = {reinterpret_cast<char *>(lhs.data()), reinterpret_cast<char *>(rhs.data()),
                       reinterpret_cast<char *>(out.data())};
    setLibraryThreads(threads);
    contraction->run(buffers,
                     scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64));
    EXPECT_EQ(libraryThreads(), threads);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(Contraction, PlanningLeavesTheThreadsAlone) {
  setLibraryThreads(2);
  MtcContraction c = make({{}, 64, 64, 64}, {64, 1}, {64, 1}, {64, 1});
  EXPECT_GE(mtc_call_scratch_bytes(MTC_ONEDNN, MTC_CONTRACTION, &c, 24), 0);
  EXPECT_EQ(libraryThreads(), 2);
}

} // namespace

TEST(Contraction, KernelsAreFasterWhereWorkIsLittle) {
  auto dense = [](int64_t batch, int64_t m, int64_t n, int64_t k, bool transposedRhs = false) {
    MtcContraction c = {};
    mtc_set_contraction_types(&c, MTC_F32);
    c.batch_rank = 1;
    c.batch[0] = batch;
    c.m = m;
    c.n = n;
    c.k = k;
    const int64_t lhs[] = {m * k, k, 1}, out[] = {m * n, n, 1};
    const int64_t rhs[] = {k * n, transposedRhs ? 1 : n, transposedRhs ? k : 1};
    std::copy_n(lhs, 3, c.lhs_strides);
    std::copy_n(rhs, 3, c.rhs_strides);
    std::copy_n(out, 3, c.out_strides);
    return isFasterAsKernel(c);
  };
  EXPECT_TRUE(dense(1024, 4, 4, 4));
  EXPECT_TRUE(dense(1024, 6, 6, 6));
  EXPECT_FALSE(dense(1024, 8, 8, 8));
  EXPECT_FALSE(dense(1, 1024, 768, 768));
  EXPECT_TRUE(dense(1, 1024, 1, 64)) << "a matrix times a vector";
  EXPECT_TRUE(dense(1, 1, 64, 64, true)) << "a vector times a matrix whose columns are dense";
  EXPECT_FALSE(dense(1, 1, 64, 64)) << "its rows are dense";
  EXPECT_TRUE(dense(1024, 16, 16, 1));
}
