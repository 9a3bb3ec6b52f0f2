// Tests contractions with a compressed matrix as either operand and in either layout.
#include "runtime/calls/contraction/cpu/panels.h"
#include "runtime/calls/contraction/plain.h"
#include "runtime/devices/cpu/onednn.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/vector/narrow_floats.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace mtc::runtime;

namespace {

/// A stored matrix, and the values of its elements.
struct StoredMatrix {
  std::vector<char> bytes;
  std::vector<float> elements;

  StoredMatrix(uint32_t storage, int64_t count, std::mt19937 &random) {
    elements.resize(static_cast<size_t>(count));
    if (storage == MTC_STORED_BF16) {
      bytes.resize(elements.size() * sizeof(BFloat16));
      for (size_t i = 0; i < elements.size(); ++i) {
        BFloat16 value;
        narrow(static_cast<float>(static_cast<int>(random() % 23) - 11) / 8, value);
        std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
        elements[i] = widen(value);
      }
      return;
    }
    constexpr std::array<float, 16> values = MTC_NF4_VALUES;
    bytes.resize(static_cast<size_t>(mtc_nf4_bytes(count)));
    for (size_t i = 0; i < elements.size(); ++i) {
      const size_t block = i / MTC_NF4_BLOCK;
      const float scale = 0.5f + 0.25f * static_cast<float>(block % 5);
      std::memcpy(bytes.data() + mtc_nf4_scales(count) + static_cast<int64_t>(4 * block), &scale,
                  sizeof scale);
      const size_t code = random() % values.size();
      bytes[i / 2] = static_cast<char>(bytes[i / 2] | (i % 2 ? code : code << 4));
      elements[i] = values[code] * scale;
    }
  }
};

struct Case {
  int64_t m, n, k;
  uint32_t storage;
  bool isLhs, isTransposed, resultIsTransposed;
};

void check(const Case &one, VectorSet set, int threads) {
  SCOPED_TRACE(std::string(vectorSetName(set)) + ", m " + std::to_string(one.m) + ", n " +
               std::to_string(one.n) + ", k " + std::to_string(one.k) + ", storage " +
               std::to_string(one.storage) + (one.isLhs ? ", lhs" : ", rhs") +
               (one.isTransposed ? ", transposed" : ""));
  MtcContraction c = {};
  mtc_set_contraction_types(&c, MTC_F32);
  c.m = one.m;
  c.n = one.n;
  c.k = one.k;
  auto lay = [](int64_t *strides, bool isTransposed, int64_t rows, int64_t columns) {
    strides[0] = isTransposed ? 1 : columns;
    strides[1] = isTransposed ? rows : 1;
  };
  lay(c.lhs_strides, one.isLhs && one.isTransposed, c.m, c.k);
  lay(c.rhs_strides, !one.isLhs && one.isTransposed, c.k, c.n);
  lay(c.out_strides, one.resultIsTransposed, c.m, c.n);
  (one.isLhs ? c.lhs_storage : c.rhs_storage) = one.storage;

  std::mt19937 random(5);
  StoredMatrix matrix(one.storage, (one.isLhs ? c.m : c.n) * c.k, random);
  std::vector<float> input(static_cast<size_t>((one.isLhs ? c.n : c.m) * c.k)),
      out(static_cast<size_t>(c.m * c.n), NAN);
  for (float &element : input)
    element = static_cast<float>(static_cast<int>(random() % 23) - 11) / 8;
  auto call = createPanelContraction(c, simplifyContraction(c), threads, set);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->supportLevel(), MTC_CALL_FAST);
  std::vector<char> buffer(static_cast<size_t>(call->scratchBytes()) + 64);
  char *scratch = buffer.data() + (64 - reinterpret_cast<uintptr_t>(buffer.data()) % 64);
  char *stored = matrix.bytes.data(), *given = reinterpret_cast<char *>(input.data());
  char *buffers[] = {one.isLhs ? stored : given, one.isLhs ? given : stored,
                     reinterpret_cast<char *>(out.data())};
  call->run(buffers, scratch);

  const std::vector<float> &lhs = one.isLhs ? matrix.elements : input,
                           &rhs = one.isLhs ? input : matrix.elements;
  for (int64_t m = 0; m < c.m; ++m)
    for (int64_t n = 0; n < c.n; ++n) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < c.k; ++k) {
        const double term =
            static_cast<double>(
                lhs[static_cast<size_t>(m * c.lhs_strides[0] + k * c.lhs_strides[1])]) *
            rhs[static_cast<size_t>(k * c.rhs_strides[0] + n * c.rhs_strides[1])];
        sum += term;
        magnitude += std::fabs(term);
      }
      ASSERT_NEAR(out[static_cast<size_t>(m * c.out_strides[0] + n * c.out_strides[1])], sum,
                  1e-6 * magnitude + 1e-12)
          << "row " << m << ", column " << n;
    }
}

TEST(StoredContraction, EverySideAndLayout) {
  const std::array<int64_t, 3> extents[] = {{33, 20, 17}, {1, 40, 64},   {24, 1, 63},
                                            {5, 7, 1},    {70, 90, 530}, {40, 1100, 130}};
  setLibraryThreads(2);
  for (int set = 0; set <= static_cast<int>(machineVectors()); ++set)
    for (auto [m, n, k] : extents)
      for (uint32_t storage : {MTC_STORED_BF16, MTC_STORED_NF4})
        for (bool isLhs : {false, true})
          for (bool isTransposed : {false, true})
            for (bool resultIsTransposed : {false, true})
              check({m, n, k, storage, isLhs, isTransposed, resultIsTransposed}, VectorSet(set), 2);
}

TEST(StoredContraction, IsReadByNothingElse) {
  MtcContraction c = {};
  mtc_set_contraction_types(&c, MTC_F32);
  c.m = c.n = c.k = 4; // Small ones are kernels otherwise.
  c.lhs_strides[0] = c.rhs_strides[0] = c.out_strides[0] = 4;
  c.lhs_strides[1] = c.rhs_strides[1] = c.out_strides[1] = 1;
  EXPECT_TRUE(mtc_call_is_faster_as_kernel(MTC_ONEDNN, MTC_CONTRACTION, &c));
  c.rhs_storage = MTC_STORED_NF4;
  EXPECT_FALSE(mtc_call_is_faster_as_kernel(MTC_ONEDNN, MTC_CONTRACTION, &c));
  auto call = LibraryCall::create(linkedLibrary(), MTC_CONTRACTION, &c, 1);
  ASSERT_TRUE(call);
  EXPECT_TRUE(call->implementation().starts_with("f32 panels"));
}

} // namespace
