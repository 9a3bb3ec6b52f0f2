// Compares contractions for cuBLASLt with loops. The emulated library multiplies the column-major
// matrices that it receives.
#include "runtime/abi/attention.h"
#include "runtime/abi/cuda_library_call.h"
#include "runtime/calls/contraction/cuda/matmul.h"
#include "runtime/devices/cpu/vector/convert.h"
#include "runtime/devices/cuda/driver.h"
#include "runtime/devices/cuda/emulated/execution/emulator.h"
#include "runtime/devices/gpu/handles.h"
#include "runtime/support/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

using namespace mtc::runtime::cuda;
using namespace mtc::runtime::gpu;

namespace {

/// The result of one contraction, and its additional results.
struct Results {
  std::vector<float> out, auxiliary, sums;
};

/// A contraction with up to three batch axes, computed by the library and by loops.
class Contraction {
public:
  explicit Contraction(MtcContraction given) : c(given) {
    std::mt19937 random(1);
    for (uint32_t buffer = 0; buffer < bufferCount(); ++buffer) {
      std::vector<float> &values = buffers.emplace_back(static_cast<size_t>(elements(buffer)));
      for (float &value : values)
        value = static_cast<float>(random() % 17) - 8;
    }
    if (hasPreactivation())
      for (float &value : buffers[outBuffer() - 1])
        value /= 4; // Where gelu bends.
  }

  /// The library's result, including the elements between out's rows.
  Results computed(const MatmulPlan &plan) const {
    const Driver &driver = openDriver();
    const Blas blas;
    OwnedStream stream(driver);
    std::vector<DeviceMemory> memories;
    std::vector<Address> addresses;
    std::vector<std::vector<char>> contents; // Copied when the stream gets to it.
    for (uint32_t buffer = 0; buffer < bufferCount(); ++buffer)
      contents.push_back(stored(buffer));
    for (const std::vector<char> &bytes : contents) {
      memories.emplace_back(driver, static_cast<int64_t>(bytes.size()));
      addresses.push_back(memories.back().address());
      driver.copyToDevice(addresses.back(), bytes.data(), bytes.size(), stream);
    }
    DeviceMemory scratch(driver, scratchBytes(plan));
    Matmul matmul(blas, plan, addresses, scratch.address(), scratchBytes(plan), MTC_CUDA_F32);
    matmul.enqueue(stream);
    std::vector<std::vector<float>> found;
    for (uint32_t buffer = outBuffer(); buffer < bufferCount(); ++buffer) {
      std::vector<float> &values = found.emplace_back(buffers[buffer].size());
      driver.copyToHost(values.data(), addresses[buffer], values.size() * sizeof(float), stream);
    }
    check(driver, driver.waitForStream(stream), "the product");
    return {found[0], c.has_auxiliary ? found[1] : std::vector<float>(),
            c.summed ? found.back() : std::vector<float>()};
  }

  Results expected() const {
    Results r = {buffers[outBuffer()], {}, {}};
    if (c.has_auxiliary)
      r.auxiliary = buffers[outBuffer() + 1];
    if (c.summed)
      r.sums.assign(static_cast<size_t>(c.summed == MTC_LHS_SUMMED ? c.m : c.n), 0);
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
          const size_t position = index(outBuffer(), entry, m, n);
          sum += c.accumulate ? static_cast<double>(r.out[position]) : 0;
          if (c.has_auxiliary)
            r.auxiliary[position] = static_cast<float>(sum);
          r.out[position] = static_cast<float>(activated(sum, entry, m, n));
          if (c.summed == MTC_RESULT_SUMMED)
            r.sums[static_cast<size_t>(n)] += r.out[position];
        }
    for (int64_t k = 0; k < c.k; ++k) {
      for (int64_t m = 0; c.summed == MTC_LHS_SUMMED && m < c.m; ++m)
        r.sums[static_cast<size_t>(m)] += at(0, 0, m, k);
      for (int64_t n = 0; c.summed == MTC_RHS_SUMMED && n < c.n; ++n)
        r.sums[static_cast<size_t>(n)] += at(1, 0, k, n);
    }
    return r;
  }

private:
  bool hasPreactivation() const { return c.activation == MTC_GELU_GRADIENT; }
  /// The operands of a 16-bit contraction have 16-bit elements, and all other tensors f32.
  std::vector<char> stored(uint32_t buffer) const {
    const std::vector<float> &values = buffers[buffer];
    const auto *wide = reinterpret_cast<const char *>(values.data());
    if (buffer >= 2 || c.lhs_type == MTC_F32)
      return {wide, wide + values.size() * sizeof(float)};
    std::vector<char> bytes(values.size() * 2);
    mtc::runtime::narrowArray(c.lhs_type, values.data(), static_cast<int64_t>(values.size()),
                              bytes.data(), 1);
    return bytes;
  }
  uint32_t outBuffer() const { return 2 + c.addend_count + (hasPreactivation() ? 1 : 0); }
  uint32_t bufferCount() const {
    return outBuffer() + 1 + (c.has_auxiliary ? 1 : 0) + (c.summed ? 1 : 0);
  }
  double activated(double z, int64_t entry, int64_t m, int64_t n) const {
    if (c.activation == MTC_GELU)
      return gelu(z);
    if (!hasPreactivation())
      return z;
    const auto x = static_cast<double>(at(outBuffer() - 1, entry, m, n));
    constexpr double step = 1e-5;
    return z * (gelu(x + step) - gelu(x - step)) / (2 * step);
  }
  static double gelu(double x) {
    return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  const int64_t *strides(uint32_t buffer) const {
    return buffer == 0                    ? c.lhs_strides
           : buffer == 1                  ? c.rhs_strides
           : buffer >= 2 + c.addend_count ? c.out_strides
                                          : c.addend_strides[buffer - 2];
  }
  size_t index(uint32_t buffer, int64_t entry, int64_t row, int64_t column) const {
    const int64_t *s = strides(buffer);
    int64_t result = row * s[c.batch_rank] + column * s[c.batch_rank + 1];
    for (uint32_t i = c.batch_rank; i-- > 0; entry /= c.batch[i])
      result += entry % c.batch[i] * s[i];
    return static_cast<size_t>(result);
  }
  float at(uint32_t buffer, int64_t entry, int64_t row, int64_t column) const {
    return buffers[buffer][index(buffer, entry, row, column)];
  }
  int64_t elements(uint32_t buffer) const {
    if (c.summed && buffer + 1 == bufferCount())
      return c.summed == MTC_LHS_SUMMED ? c.m : c.n;
    const int64_t *s = strides(buffer);
    int64_t last = (buffer == 1 ? c.k - 1 : c.m - 1) * s[c.batch_rank] +
                   (buffer == 0 ? c.k - 1 : c.n - 1) * s[c.batch_rank + 1];
    for (uint32_t i = 0; i < c.batch_rank; ++i)
      last += (c.batch[i] - 1) * s[i];
    return last + 1;
  }

  MtcContraction c;
  std::vector<std::vector<float>> buffers; ///< as the contraction counts them
};

/// Checks that the result equals that of the loops, and the number of library calls.
void expectCalls(const MtcContraction &contraction, int64_t calls) {
  std::optional<MatmulPlan> plan = planMatmul(contraction);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->calls(), calls);
  EXPECT_EQ(mtc_cuda_call_support_level(MTC_CONTRACTION, &contraction, MTC_CUDA_TF32),
            calls > 1 ? 1 : 2);
  Contraction both(contraction);
  const Results found = both.computed(*plan), expected = both.expected();
  if (contraction.activation == MTC_GELU || contraction.activation == MTC_GELU_GRADIENT)
    EXPECT_THAT(found.out, testing::Pointwise(testing::FloatNear(1e-3f), expected.out));
  else
    EXPECT_EQ(found.out, expected.out);
  EXPECT_EQ(found.auxiliary, expected.auxiliary);
  EXPECT_THAT(found.sums, testing::Pointwise(testing::FloatNear(1e-3f), expected.sums));
}

void expectRefused(const MtcContraction &contraction) {
  EXPECT_FALSE(planMatmul(contraction));
  EXPECT_EQ(mtc_cuda_call_support_level(MTC_CONTRACTION, &contraction, MTC_CUDA_TF32), 0);
  EXPECT_EQ(mtc_cuda_call_scratch_bytes(MTC_CONTRACTION, &contraction), -1);
}

/// lhs [5, 7], rhs [7, 3], row-major.
MtcContraction plain() {
  return {MTC_F32, MTC_F32, MTC_F32, {MTC_F32, MTC_F32},
          MTC_F32, 0,       0,       {},
          5,       3,       7,       {7, 1},
          {3, 1},  {3, 1},  0,       0,
          {},      0,       0,       0,
          0,       0,       0};
}

/// lhs [5, 7], rhs [7, 8], for the layouts of an auxiliary matrix.
MtcContraction wide(uint32_t activation) {
  MtcContraction c = plain();
  c.n = c.rhs_strides[0] = c.out_strides[0] = 8;
  c.activation = activation;
  return c;
}

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
  expectCalls({MTC_F32, MTC_F32, MTC_F32, {MTC_F32, MTC_F32},
               MTC_F32, 0,       0,       {},
               5,       3,       7,       {20, 1},
               {9, 1},  {4, 1},  0,       0,
               {},      0,       0,       0,
               0,       0,       0},
              1);
}

TEST(Matmul, ResultTransposed) {
  expectCalls({MTC_F32, MTC_F32, MTC_F32, {MTC_F32, MTC_F32},
               MTC_F32, 0,       0,       {},
               5,       3,       7,       {7, 1},
               {3, 1},  {1, 5},  0,       0,
               {},      0,       0,       0,
               0,       0,       0},
              1);
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
  MtcContraction heads = {MTC_F32,
                          MTC_F32,
                          MTC_F32,
                          {MTC_F32, MTC_F32},
                          MTC_F32,
                          0,
                          2,
                          {2, 3},
                          5,
                          11,
                          7,
                          {105, 7, 21, 1},
                          {231, 7, 1, 21},
                          {165, 55, 11, 1},
                          0,
                          0,
                          {},
                          0,
                          0,
                          0,
                          0,
                          0,
                          0};
  expectCalls(heads, 2);
  // the same with dense heads
  expectCalls({MTC_F32,
               MTC_F32,
               MTC_F32,
               {MTC_F32, MTC_F32},
               MTC_F32,
               0,
               2,
               {2, 3},
               5,
               11,
               7,
               {105, 35, 7, 1},
               {231, 77, 1, 7},
               {165, 55, 11, 1},
               0,
               0,
               {},
               0,
               0,
               0,
               0,
               0,
               0},
              1);
}

TEST(Matmul, BroadcastOperandsOfABatch) {
  // the same lhs for all entries
  expectCalls({MTC_F32, MTC_F32,   MTC_F32,    {MTC_F32, MTC_F32}, MTC_F32, 0, 1,  {4}, 5, 3,
               7,       {0, 7, 1}, {21, 3, 1}, {15, 3, 1},         0,       0, {}, 0,   0, 0,
               0,       0,         0},
              1);
  // the same rhs for all entries: more rows
  expectCalls({MTC_F32, MTC_F32,    MTC_F32,   {MTC_F32, MTC_F32}, MTC_F32, 0, 1,  {4}, 5, 3,
               7,       {35, 7, 1}, {0, 3, 1}, {15, 3, 1},         0,       0, {}, 0,   0, 0,
               0,       0,          0},
              1);
}

TEST(Matmul, BatchWithABiasOfItsOwn) {
  MtcContraction c = {
      MTC_F32, MTC_F32,    MTC_F32,    {MTC_F32, MTC_F32}, MTC_F32, 0, 1,           {4}, 5, 3,
      7,       {35, 7, 1}, {21, 3, 1}, {15, 3, 1},         0,       1, {{3, 0, 1}}, 0,   0, 0,
      0,       0,          0};
  expectCalls(c, 1);
  c.addend_strides[0][0] = 0;
  expectCalls(c, 1);
}

TEST(Matmul, VectorsAreMatrices) {
  expectCalls({MTC_F32, MTC_F32, MTC_F32, {MTC_F32, MTC_F32},
               MTC_F32, 0,       0,       {},
               1,       3,       7,       {7, 1},
               {3, 1},  {3, 1},  0,       0,
               {},      0,       0,       0,
               0,       0,       0},
              1);
  expectCalls({MTC_F32, MTC_F32, MTC_F32, {MTC_F32, MTC_F32},
               MTC_F32, 0,       0,       {},
               5,       1,       7,       {7, 1},
               {1, 1},  {1, 1},  1,       0,
               {},      0,       0,       0,
               0,       0,       0},
              1);
  expectCalls({MTC_F32, MTC_F32, MTC_F32, {MTC_F32, MTC_F32},
               MTC_F32, 0,       0,       {},
               1,       1,       7,       {1, 1},
               {1, 1},  {1, 1},  0,       0,
               {},      0,       0,       0,
               0,       0,       0},
              1);
  expectCalls({MTC_F32, MTC_F32, MTC_F32, {MTC_F32, MTC_F32},
               MTC_F32, 0,       0,       {},
               5,       3,       1,       {1, 1},
               {3, 1},  {3, 1},  0,       0,
               {},      0,       0,       0,
               0,       0,       0},
              1);
}

TEST(Matmul, WhatTheLibraryDoesNotHaveIsRefused) {
  MtcContraction c = plain();
  c.lhs_strides[1] = 2; // no unit stride
  expectRefused(c);
  c = plain();
  c.k = 0;
  expectRefused(c);
  c = plain();
  mtc_set_contraction_types(&c, MTC_I32);
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
  mtc_set_contraction_types(&c, MTC_F64); // for which the library adds no bias
  c.addend_count = 1;
  c.addend_strides[0][1] = 1;
  expectRefused(c);
  MtcContraction attention = plain();
  EXPECT_EQ(mtc_cuda_call_support_level(MTC_ATTENTION, &attention, MTC_CUDA_TF32), 0);
}

TEST(Matmul, GivesTheSumsOfNarrowElementsInF32) {
  for (uint32_t type : {MTC_BF16, MTC_F16}) {
    MtcContraction c = wide(MTC_NO_ACTIVATION);
    mtc_set_contraction_types(&c, type);
    c.out_type = MTC_F32;
    expectCalls(c, 1);
    c.accumulate = 1; // a weight's gradient
    c.summed = MTC_LHS_SUMMED;
    expectCalls(c, 1);
    c = wide(MTC_NO_ACTIVATION);
    mtc_set_contraction_types(&c, type);
    c.out_type = MTC_F32;
    c.addend_count = 1;
    c.addend_strides[0][1] = 1;
    c.addend_types[0] = MTC_F32;
    expectCalls(c, 1);
    c.addend_types[0] = type; // The library adds what has the result's type.
    expectRefused(c);
    c.addend_types[0] = MTC_F32;
    c.out_type = type;
    expectRefused(c);
  }
}

TEST(Matmul, HasActivationsWhereOperandsAreRounded) {
  MtcContraction c = plain();
  auto level = [&](MtcCudaPrecision precision) {
    return mtc_cuda_call_support_level(MTC_CONTRACTION, &c, precision);
  };
  EXPECT_EQ(level(MTC_CUDA_F32), 2);
  c.activation = MTC_GELU;
  EXPECT_EQ(level(MTC_CUDA_F32), 0);
  EXPECT_EQ(level(MTC_CUDA_TF32), 2);
  mtc_set_contraction_types(&c, MTC_BF16);
  EXPECT_EQ(level(MTC_CUDA_F32), 2);
}

TEST(Matmul, WorkspaceGrowsWithTheResult) {
  MtcContraction c = plain();
  // Another 192 bytes align the workspace.
  EXPECT_EQ(mtc_cuda_call_scratch_bytes(MTC_CONTRACTION, &c), (64 << 10) + 192);
  c.m = c.n = c.k = c.lhs_strides[0] = c.rhs_strides[0] = c.out_strides[0] = 256;
  EXPECT_EQ(mtc_cuda_call_scratch_bytes(MTC_CONTRACTION, &c), 16 * 4 * 256 * 256 + 192);
  c.m = c.n = c.k = c.lhs_strides[0] = c.rhs_strides[0] = c.out_strides[0] = 4096;
  EXPECT_EQ(mtc_cuda_call_scratch_bytes(MTC_CONTRACTION, &c), (32 << 20) + 192);
}

TEST(Matmul, ForwardActivations) {
  for (bool hasBias : {false, true}) {
    MtcContraction c = wide(MTC_GELU);
    c.addend_count = hasBias;
    c.addend_strides[0][1] = 1;
    expectCalls(c, 1);
    c.has_auxiliary = 1;
    expectCalls(c, 1);
  }
  expectRefused(wide(MTC_RELU)); // It would give 0 for NaN.
}

TEST(Matmul, ActivationOfABatchWithGaps) {
  MtcContraction c = {
      MTC_F32, MTC_F32,    MTC_F32,    {MTC_F32, MTC_F32}, MTC_F32, 0, 1,           {4},      5, 8,
      7,       {35, 7, 1}, {56, 8, 1}, {88, 16, 1},        0,       1, {{8, 0, 1}}, MTC_GELU, 1, 0,
      0,       0,          0};
  expectCalls(c, 1);
}

TEST(Matmul, GradientOfGeluAndTheSumsOfItsRows) {
  MtcContraction c = wide(MTC_GELU_GRADIENT);
  expectCalls(c, 1);
  c.summed = MTC_RESULT_SUMMED;
  expectCalls(c, 1);
  c.out_strides[0] = 16;
  expectCalls(c, 1);
}

TEST(Matmul, SumsOfOperands) {
  for (uint32_t summed : {MTC_LHS_SUMMED, MTC_RHS_SUMMED})
    for (bool isTransposed : {false, true})
      for (bool accumulates : {false, true})
        for (bool outIsTransposed : {false, true}) {
          MtcContraction c = plain();
          c.summed = summed;
          c.accumulate = accumulates;
          if (isTransposed) {
            c.lhs_strides[0] = c.rhs_strides[0] = 1;
            c.lhs_strides[1] = 6, c.rhs_strides[1] = 9;
          }
          if (outIsTransposed)
            c.out_strides[0] = 1, c.out_strides[1] = 5;
          expectCalls(c, 1);
        }
}

TEST(Matmul, EpiloguesThatTheLibraryDoesNotHaveAreRefused) {
  for (uint32_t activation : {MTC_GELU, MTC_GELU_GRADIENT}) {
    MtcContraction c = wide(activation);
    mtc_set_contraction_types(&c, MTC_F64);
    expectRefused(c);
    c = wide(activation);
    c.accumulate = 1; // or another matrix
    expectRefused(c);
    c = wide(activation);
    c.summed = MTC_LHS_SUMMED;
    expectRefused(c);
    c = wide(activation);
    c.batch_rank = 2; // [3, 5, 2, 8]: two calls
    c.batch[0] = 2, c.batch[1] = 3;
    for (int64_t *strides : {c.lhs_strides, c.rhs_strides, c.out_strides})
      strides[0] = 8, strides[1] = 160, strides[2] = 16, strides[3] = 1;
    expectRefused(c);
  }
  MtcContraction c = wide(MTC_NO_ACTIVATION);
  c.summed = MTC_RESULT_SUMMED; // without gelu's gradient
  expectRefused(c);
  c.summed = MTC_RHS_SUMMED;
  c.addend_count = 1; // The library has one vector.
  c.addend_strides[0][1] = 1;
  expectRefused(c);
  c = wide(MTC_GELU_GRADIENT);
  c.addend_count = 1;
  c.addend_strides[0][1] = 1;
  expectRefused(c);
  c = wide(MTC_GELU);
  c.has_auxiliary = 1;
  c.out_strides[0] = 12; // not a multiple of 8
  expectRefused(c);
  c.has_auxiliary = 0;
  expectCalls(c, 1);
  c = wide(MTC_NO_ACTIVATION);
  c.has_auxiliary = 1;
  expectRefused(c);
}

/// Runs the gradient of GELU and its sums. All buffers have the required size, except one, which
/// lacks an element. Returns whether the device still works.
bool runsWithTooSmall(size_t small) {
  MtcContraction c = wide(MTC_GELU_GRADIENT);
  c.summed = MTC_RESULT_SUMMED;
  const MatmulPlan plan = *planMatmul(c);
  const Driver &driver = openDriver();
  const Blas blas;
  OwnedStream stream(driver);
  std::vector<DeviceMemory> memories;
  std::vector<Address> addresses;
  for (int64_t elements : {5 * 7, 7 * 8, 5 * 8, 5 * 8, 8}) { // lhs, rhs, preactivation, out, sums
    const int64_t bytes = 4 * (elements - (addresses.size() == small ? 1 : 0));
    memories.emplace_back(driver, bytes);
    addresses.push_back(memories.back().address());
    driver.fillBytes(addresses.back(), 0, static_cast<size_t>(bytes), stream);
  }
  DeviceMemory scratch(driver, scratchBytes(plan));
  Matmul matmul(blas, plan, addresses, scratch.address(), scratchBytes(plan), MTC_CUDA_F32);
  matmul.enqueue(stream);
  return driver.waitForStream(stream) == success;
}

TEST(Matmul, AccessesOfEpiloguesAreChecked) {
  // An error ends the device's process, so each test runs in a child process.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_TRUE(runsWithTooSmall(5));
  EXPECT_EXIT(std::exit(runsWithTooSmall(2) ? 0 : 3), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(std::exit(runsWithTooSmall(4) ? 0 : 3), testing::ExitedWithCode(3), "");
}

TEST(Matmul, WithoutAnAlgorithmTheEpilogueIsNamed) {
  const Blas blas;
  const Driver &driver = openDriver();
  DeviceMemory memory(driver, 1024);
  const Address start = memory.address();
  auto message = [&](const MtcContraction &c, Address auxiliary) {
    const MatmulPlan plan = *planMatmul(c);
    try {
      Matmul matmul(blas, plan, {start, start, auxiliary, start, start}, start, 0, MTC_CUDA_F32);
      return std::string();
    } catch (const mtc::runtime::Failure &failure) {
      return std::string(failure.what());
    }
  };
  const MtcContraction c = wide(MTC_GELU_GRADIENT);
  EXPECT_EQ(message(c, start), "");
  EXPECT_THAT(message(c, start + 4), // It wants multiples of 16 bytes.
              testing::AllOf(testing::HasSubstr("f32, 5 x 8 x 7, batch 1 with an activation"),
                             testing::HasSubstr("--skip-pass mtc-fuse-activations")));
}

} // namespace
