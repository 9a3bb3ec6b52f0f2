// Contractions as cuBLASLt is told them, against loops: the emulated library multiplies the
// column-major matrices that it is given.
#include "runtime/abi/cuda_library_call.h"
#include "runtime/cuda/emulation/emulator.h"
#include "runtime/cuda/handles.h"
#include "runtime/cuda/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

using namespace mtc::runtime::cuda;

namespace {

/// A contraction with up to three batch axes, computed by the library and by loops.
class Contraction {
public:
  explicit Contraction(MtcContraction given) : c(given) {
    std::mt19937 random(1);
    for (uint32_t place = 0; place < 3 + c.addend_count; ++place) {
      std::vector<float> &values = places.emplace_back(static_cast<size_t>(elements(place)));
      for (float &value : values)
        value = static_cast<float>(random() % 17) - 8;
    }
  }

  /// The library's `out`, with what lies between its rows.
  std::vector<float> computed(const MatmulPlan &plan) const {
    const Driver &driver = openDriver();
    const Blas blas;
    OwnedStream stream(driver);
    std::vector<DeviceMemory> memories;
    std::vector<Address> addresses;
    for (const std::vector<float> &values : places) {
      const size_t bytes = values.size() * sizeof(float);
      memories.emplace_back(driver, static_cast<int64_t>(bytes));
      addresses.push_back(memories.back().address());
      driver.copyToDevice(addresses.back(), values.data(), bytes, stream);
    }
    DeviceMemory workspace(driver, workspaceBytes(plan));
    Matmul matmul(blas, plan, addresses, workspace.address(), workspaceBytes(plan), false);
    matmul.enqueue(stream);
    std::vector<float> out(places.back().size());
    driver.copyToHost(out.data(), addresses.back(), out.size() * sizeof(float), stream);
    check(driver, driver.waitForStream(stream), "the product");
    return out;
  }

  std::vector<float> expected() const {
    std::vector<float> out = places.back();
    int64_t entries = 1;
    for (uint32_t i = 0; i < c.batch_rank; ++i)
      entries *= c.batch[i];
    for (int64_t entry = 0; entry < entries; ++entry)
      for (int64_t m = 0; m < c.m; ++m)
        for (int64_t n = 0; n < c.n; ++n) {
          double sum = 0;
          for (int64_t k = 0; k < c.k; ++k)
            sum +=
                static_cast<double>(at(0, entry, m, k)) * static_cast<double>(at(1, entry, k, n));
          for (uint32_t a = 0; a < c.addend_count; ++a)
            sum += static_cast<double>(at(2 + a, entry, m, n));
          float &result = out[index(2 + c.addend_count, entry, m, n)];
          result = static_cast<float>(sum) + (c.accumulate ? result : 0);
        }
    return out;
  }

private:
  const int64_t *strides(uint32_t place) const {
    return place == 0                    ? c.lhs_strides
           : place == 1                  ? c.rhs_strides
           : place == 2 + c.addend_count ? c.out_strides
                                         : c.addend_strides[place - 2];
  }
  size_t index(uint32_t place, int64_t entry, int64_t row, int64_t column) const {
    const int64_t *s = strides(place);
    int64_t result = row * s[c.batch_rank] + column * s[c.batch_rank + 1];
    for (uint32_t i = c.batch_rank; i-- > 0; entry /= c.batch[i])
      result += entry % c.batch[i] * s[i];
    return static_cast<size_t>(result);
  }
  float at(uint32_t place, int64_t entry, int64_t row, int64_t column) const {
    return places[place][index(place, entry, row, column)];
  }
  int64_t elements(uint32_t place) const {
    const int64_t *s = strides(place);
    int64_t last = (place == 1 ? c.k - 1 : c.m - 1) * s[c.batch_rank] +
                   (place == 0 ? c.k - 1 : c.n - 1) * s[c.batch_rank + 1];
    for (uint32_t i = 0; i < c.batch_rank; ++i)
      last += (c.batch[i] - 1) * s[i];
    return last + 1;
  }

  MtcContraction c;
  std::vector<std::vector<float>> places; ///< lhs, rhs, addends, out
};

/// Expects the loops' result by so many calls of the library.
void expectCalls(const MtcContraction &contraction, int64_t calls) {
  std::optional<MatmulPlan> plan = planMatmul(contraction);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->calls(), calls);
  EXPECT_EQ(mtc_cuda_call_rate(MTC_CONTRACTION, &contraction), calls > 1 ? 1 : 2);
  Contraction both(contraction);
  EXPECT_EQ(both.computed(*plan), both.expected());
}

void expectRefused(const MtcContraction &contraction) {
  EXPECT_FALSE(planMatmul(contraction));
  EXPECT_EQ(mtc_cuda_call_rate(MTC_CONTRACTION, &contraction), 0);
  EXPECT_EQ(mtc_cuda_call_scratch_bytes(MTC_CONTRACTION, &contraction), -1);
}

/// lhs [5, 7], rhs [7, 3], row-major.
MtcContraction plain() { return {MTC_F32, 0, {}, 5, 3, 7, {7, 1}, {3, 1}, {3, 1}, 0, 0, {}}; }

TEST(Matmul, OperandsLieEitherWay) {
  for (bool lhsIsTransposed : {false, true})
    for (bool rhsIsTransposed : {false, true}) {
      MtcContraction c = plain();
      if (lhsIsTransposed)
        c.lhs_strides[0] = 1, c.lhs_strides[1] = 5;
      if (rhsIsTransposed)
        c.rhs_strides[0] = 1, c.rhs_strides[1] = 7;
      expectCalls(c, 1);
    }
}

TEST(Matmul, RowsWithGaps) {
  expectCalls({MTC_F32, 0, {}, 5, 3, 7, {20, 1}, {9, 1}, {4, 1}, 0, 0, {}}, 1);
}

TEST(Matmul, ResultTransposed) {
  expectCalls({MTC_F32, 0, {}, 5, 3, 7, {7, 1}, {3, 1}, {1, 5}, 0, 0, {}}, 1);
}

TEST(Matmul, AccumulatesAndAdds) {
  MtcContraction c = plain();
  c.accumulate = 1;
  expectCalls(c, 1);
  c.addend_count = 1; // a bias for each column
  c.addend_strides[0][1] = 1;
  expectCalls(c, 1);
  c.accumulate = 0;
  c.addend_count = 2; // and a matrix with gaps
  c.addend_strides[1][0] = 6;
  c.addend_strides[1][1] = 1;
  expectCalls(c, 1);
  std::swap(c.addend_strides[0], c.addend_strides[1]);
  expectCalls(c, 1);
}

TEST(Matmul, BatchesOfOneStrideAreOneCall) {
  // heads [2, 3] of [2, 5, 3, 7] and [2, 11, 3, 7]: scores [2, 3, 5, 11]
  MtcContraction heads = {MTC_F32,          2, {2, 3}, 5, 11, 7, {105, 7, 21, 1}, {231, 7, 1, 21},
                          {165, 55, 11, 1}, 0, 0,      {}};
  expectCalls(heads, 2);
  // the same with dense heads
  expectCalls(
      {MTC_F32, 2, {2, 3}, 5, 11, 7, {105, 35, 7, 1}, {231, 77, 1, 7}, {165, 55, 11, 1}, 0, 0, {}},
      1);
}

TEST(Matmul, BroadcastOperandsOfABatch) {
  // lhs the same in each entry
  expectCalls({MTC_F32, 1, {4}, 5, 3, 7, {0, 7, 1}, {21, 3, 1}, {15, 3, 1}, 0, 0, {}}, 1);
  // rhs the same: more rows
  expectCalls({MTC_F32, 1, {4}, 5, 3, 7, {35, 7, 1}, {0, 3, 1}, {15, 3, 1}, 0, 0, {}}, 1);
}

TEST(Matmul, BatchWithABiasOfItsOwn) {
  MtcContraction c = {MTC_F32,    1,          {4},        5, 3, 7,
                      {35, 7, 1}, {21, 3, 1}, {15, 3, 1}, 0, 1, {{3, 0, 1}}};
  expectCalls(c, 1);
  c.addend_strides[0][0] = 0;
  expectCalls(c, 1);
}

TEST(Matmul, VectorsAreMatrices) {
  expectCalls({MTC_F32, 0, {}, 1, 3, 7, {7, 1}, {3, 1}, {3, 1}, 0, 0, {}}, 1);
  expectCalls({MTC_F32, 0, {}, 5, 1, 7, {7, 1}, {1, 1}, {1, 1}, 1, 0, {}}, 1);
  expectCalls({MTC_F32, 0, {}, 1, 1, 7, {1, 1}, {1, 1}, {1, 1}, 0, 0, {}}, 1);
  expectCalls({MTC_F32, 0, {}, 5, 3, 1, {1, 1}, {3, 1}, {3, 1}, 0, 0, {}}, 1);
}

TEST(Matmul, WhatTheLibraryDoesNotHaveIsRefused) {
  MtcContraction c = plain();
  c.lhs_strides[1] = 2; // no unit stride
  expectRefused(c);
  c = plain();
  c.k = 0;
  expectRefused(c);
  c = plain();
  c.type = MTC_I32;
  expectRefused(c);
  c = plain();
  c.accumulate = 1;
  c.addend_count = 1; // a second matrix
  c.addend_strides[0][0] = 3;
  c.addend_strides[0][1] = 1;
  expectRefused(c);
  c = plain();
  c.addend_count = 1; // a bias for each row
  c.addend_strides[0][0] = 1;
  expectRefused(c);
  c = plain();
  c.type = MTC_F64; // in which the library adds no bias
  c.addend_count = 1;
  c.addend_strides[0][1] = 1;
  expectRefused(c);
  MtcContraction attention = plain();
  EXPECT_EQ(mtc_cuda_call_rate(MTC_ATTENTION, &attention), 0);
}

TEST(Matmul, WorkspaceGrowsWithTheResult) {
  MtcContraction c = plain();
  EXPECT_EQ(mtc_cuda_call_scratch_bytes(MTC_CONTRACTION, &c), 64 << 10);
  c.m = c.n = c.k = c.lhs_strides[0] = c.rhs_strides[0] = c.out_strides[0] = 256;
  EXPECT_EQ(mtc_cuda_call_scratch_bytes(MTC_CONTRACTION, &c), 16 * 4 * 256 * 256);
  c.m = c.n = c.k = c.lhs_strides[0] = c.rhs_strides[0] = c.out_strides[0] = 4096;
  EXPECT_EQ(mtc_cuda_call_scratch_bytes(MTC_CONTRACTION, &c), 32 << 20);
}

} // namespace
