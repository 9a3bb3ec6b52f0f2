// The last addend of a contraction is an operand, or the previous contents of the result if the
// memory plan permits it. These are oneDNN's post-operations `binary_add` and `sum`. The results of
// both are bit-identical.
#include "runtime/calls/contraction/cpu/onednn/contraction.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/support/element_type.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace mtc::runtime;

namespace {

struct Problem {
  int64_t m, n, k;
};

struct Stored {
  MtcType type;
  int64_t gap; ///< elements between the rows of the factors
};

using Bytes = std::vector<char>;

Bytes randomElements(MtcType type, int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  Bytes bytes(static_cast<size_t>(count * typeBytes(type)));
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint32_t>(normal(generator));
    const auto upper = static_cast<uint16_t>(bits >> 16); // a bf16
    const auto *from =
        type == MTC_F32 ? static_cast<const void *>(&bits) : static_cast<const void *>(&upper);
    std::memcpy(bytes.data() + i * typeBytes(type), from, static_cast<size_t>(typeBytes(type)));
  }
  return bytes;
}

struct Operands {
  Bytes lhs, rhs, bias, residual, old;
};

Bytes compute(MtcContraction c, const std::vector<const Bytes *> &addends, Operands &operands,
              Bytes out, int threads) {
  c.addend_count = static_cast<uint32_t>(addends.size());
  std::vector<char *> buffers = {operands.lhs.data(), operands.rhs.data()};
  for (size_t i = 0; i < addends.size(); ++i) {
    const bool isBias = addends[i] == &operands.bias;
    c.addend_strides[i][0] = isBias ? 0 : c.out_strides[0];
    c.addend_strides[i][1] = 1;
    buffers.push_back(const_cast<char *>(addends[i]->data()));
  }
  buffers.push_back(out.data());
  auto call = createContraction(c, threads);
  EXPECT_TRUE(call);
  if (!call)
    return {};
  Bytes scratch(static_cast<size_t>(call->scratchBytes()) + 64);
  setLibraryThreads(threads);
  call->run(buffers.data(),
            scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64));
  return out;
}

class Accumulation : public testing::TestWithParam<Stored> {};

TEST_P(Accumulation, HasTheBitsOfAnAddend) {
  const auto [type, gap] = GetParam();
  for (const auto &[m, n, k] :
       {Problem{33, 20, 17}, {64, 96, 128}, {1, 40, 700}, {70, 65, 3}, {40, 48, 2000}}) {
    Operands operands = {randomElements(type, m * (k + gap), 1),
                         randomElements(type, k * (n + gap), 2), randomElements(type, n, 3),
                         randomElements(type, m * n, 4), randomElements(type, m * n, 5)};
    const std::vector<const Bytes *> others[] = {{}, {&operands.bias}, {&operands.residual}};
    for (uint32_t algorithm :
         {0u, static_cast<uint32_t>(MTC_PACKED_RHS), static_cast<uint32_t>(MTC_PACKED_OPERANDS),
          static_cast<uint32_t>(MTC_OWN_PANELS)})
      for (const std::vector<const Bytes *> &addends : others)
        for (int threads : {1, 2}) {
          SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
                       ", algorithm " + std::to_string(algorithm) + ", " +
                       std::to_string(addends.size()) + " other addends, threads " +
                       std::to_string(threads));
          MtcContraction c{};
          mtc_set_contraction_types(&c, type);
          c.algorithm = algorithm;
          c.m = m;
          c.n = n;
          c.k = k;
          const int64_t lhs[] = {k + gap, 1}, rhs[] = {n + gap, 1}, out[] = {n, 1};
          std::copy(std::begin(lhs), std::end(lhs), c.lhs_strides);
          std::copy(std::begin(rhs), std::end(rhs), c.rhs_strides);
          std::copy(std::begin(out), std::end(out), c.out_strides);
          std::vector<const Bytes *> all = addends;
          all.push_back(&operands.old);
          const Bytes added = compute(c, all, operands, operands.old, threads);
          c.accumulate = 1;
          const Bytes accumulated = compute(c, addends, operands, operands.old, threads);
          EXPECT_TRUE(added != operands.old);
          EXPECT_TRUE(added == accumulated);
        }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Accumulation,
                         testing::Values(Stored{MTC_F32, 0}, Stored{MTC_F32, 5},
                                         Stored{MTC_BF16, 0}, Stored{MTC_BF16, 5}),
                         [](const testing::TestParamInfo<Stored> &each) {
                           return std::string(each.param.type == MTC_F32 ? "f32" : "bf16") +
                                  (each.param.gap ? "WithGaps" : "");
                         });

} // namespace
