// Compares convolutions and their adjoints with plain sums.
#include "runtime/abi/convolution.h"
#include "runtime/calls/convolution/cpu/convolution.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/vector/convert.h"
#include "test/support/convolution_cases.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

using namespace mtc::convolution_cases;
using namespace mtc::runtime;

namespace {

/// Tests that run with both libraries.
class EachConvolution : public testing::TestWithParam<MtcCallLibrary> {
protected:
  EachConvolution() { library = GetParam(); }

public:
  static inline MtcCallLibrary library = MTC_ONEDNN;
};

/// Runs the call with planned scratch memory; returns false if the library has no implementation.
bool run(const char *kind, const MtcConvolution &c, std::vector<char *> places, int threads) {
  const MtcCallLibrary library = EachConvolution::library;
  int64_t planned = mtc_call_scratch_bytes(library, kind, &c, threads);
  auto call = LibraryCall::create(library == MTC_ONEDNN ? linkedLibrary() : builtInLibrary(), kind,
                                  &c, threads);
  EXPECT_EQ(call != nullptr, planned >= 0);
  if (!call)
    return false;
  EXPECT_LE(call->scratchBytes(), planned);
  // The previous contents of the scratch must not matter, and bytes after it must not change.
  auto bytes = static_cast<size_t>(call->scratchBytes());
  std::vector<char> buffer(bytes + 256, static_cast<char>(0xff));
  char *scratch = buffer.data() + (64 - reinterpret_cast<uintptr_t>(buffer.data()) % 64);
  setLibraryThreads(threads);
  call->run(places.data(), scratch);
  for (char *each = scratch + bytes; each < buffer.data() + buffer.size(); ++each)
    EXPECT_EQ(*each, static_cast<char>(0xff)) << "written after the scratch";
  return true;
}

void expectNear(const std::vector<float> &got, const std::vector<double> &expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], 2e-5 * (1 + std::abs(expected[i]))) << "element " << i;
}

char *bytesOf(std::vector<float> &tensor) { return reinterpret_cast<char *>(tensor.data()); }

struct Tally {
  int run = 0, unsupported = 0;
  void operator+=(bool supported) { ++(supported ? run : unsupported); }
};

TEST_P(EachConvolution, MatchesItsDefinition) {
  Tally tally;
  for (const Case &each : cases())
    for (int threads : {1, 2, 5}) {
      SCOPED_TRACE(std::string(each.name) + ", threads " + std::to_string(threads));
      const MtcConvolution &c = each.c;
      Tensors t(c);
      const Sums sums(c, t);
      auto check = [&](const char *kind, std::vector<float> &a, std::vector<float> &b,
                       const std::vector<double> &expected) {
        SCOPED_TRACE(kind);
        std::vector<float> result(expected.size(), NAN);
        bool supported = run(kind, c, {bytesOf(a), bytesOf(b), bytesOf(result)}, threads);
        tally += supported;
        if (supported)
          expectNear(result, expected);
        else
          std::printf("%s of %s: no implementation\n", kind, each.name);
      };
      check(MTC_CONVOLUTION, t.input, t.weights, sums.output);
      check(MTC_TRANSPOSED_CONVOLUTION, t.output, t.weights, sums.input);
      check(MTC_CONVOLUTION_WEIGHT_GRADIENT, t.input, t.output, sums.weights);
    }
  EXPECT_GE(tally.run, 60);
}

/// oneDNN has no implementation of some input gradients for some numbers of threads.
TEST_P(EachConvolution, WindowsOfAnySizeAreComputed) {
  for (const auto [high, wide, stride, groups] :
       {std::array<int64_t, 4>{3, 39, 1, 1}, {3, 21, 2, 1}, {5, 21, 1, 2}, {2, 39, 1, 1}}) {
    MtcConvolution c = plane(2, groups, 8, 8, 20, high, stride, 1, high / 2, high / 2);
    c.input[1] = 60;
    c.kernel[1] = wide;
    c.before[1] = wide / 2;
    c.output[1] = (c.input[1] + 2 * c.before[1] - wide) / stride + 1;
    Tensors t(c);
    const Sums sums(c, t);
    for (int threads : {1, 2}) {
      SCOPED_TRACE(testing::Message() << high << " x " << wide << ", threads " << threads);
      std::vector<float> result(sums.input.size(), NAN);
      ASSERT_TRUE(run(MTC_TRANSPOSED_CONVOLUTION, c,
                      {bytesOf(t.output), bytesOf(t.weights), bytesOf(result)}, threads));
      for (size_t i = 0; i < result.size(); ++i)
        ASSERT_NEAR(result[i], sums.input[i], 1e-4 * (1 + std::abs(sums.input[i])))
            << "element " << i;
    }
  }
}

TEST_P(EachConvolution, AddsABiasAndWhatLiesAsTheOutput) {
  Tally tally;
  for (const Case &each : cases())
    for (uint32_t added : {1u, 2u, 3u}) {
      SCOPED_TRACE(std::string(each.name) + ", added " + std::to_string(added));
      MtcConvolution c = each.c;
      c.has_bias = added & 1;
      c.has_addend = added >> 1;
      Tensors t(c);
      std::vector<float> bias(t.output.begin(), t.output.begin() + c.groups * c.output_channels),
          result(t.output.size(), NAN);
      std::vector<char *> places = {bytesOf(t.input), bytesOf(t.weights)};
      if (c.has_bias)
        places.push_back(bytesOf(bias));
      if (c.has_addend)
        places.push_back(bytesOf(t.output));
      places.push_back(bytesOf(result));
      bool supported = run(MTC_CONVOLUTION, c, places, 2);
      tally += supported;
      if (supported)
        expectNear(result, finished(c, Sums(c, t).output, bias, t.output));
    }
  // Most of the library's fast implementations support a bias, few an addend.
  EXPECT_GE(tally.run, 12);
}

TEST_P(EachConvolution, AddsForAnyChannelsAndGroups) {
  Tally tally;
  for (int64_t groups : {1, 2, 3, 4})
    for (int64_t in : {1, 3, 4, 8, 9, 16})
      for (int64_t out : {1, 3, 4, 5, 8, 12, 16}) {
        MtcConvolution c = plane(2, groups, in, out, 5, 3, 1, 1, 1, 1);
        c.has_addend = 1;
        Tensors t(c);
        std::vector<float> result(t.output.size(), NAN);
        SCOPED_TRACE("groups " + std::to_string(groups) + ", channels " + std::to_string(in) +
                     " to " + std::to_string(out));
        bool supported =
            run(MTC_CONVOLUTION, c,
                {bytesOf(t.input), bytesOf(t.weights), bytesOf(t.output), bytesOf(result)}, 2);
        tally += supported;
        if (supported)
          expectNear(result, finished(c, Sums(c, t).output, {}, t.output));
      }
  EXPECT_GE(tally.run, 3);
}

/// Returns the elements of a tensor in 16 bits, or unchanged if `isF32`.
std::vector<char> stored(uint32_t type, bool isF32, std::vector<float> &tensor) {
  std::vector<char> bytes(tensor.size() * (isF32 ? 4 : 2));
  if (isF32)
    std::memcpy(bytes.data(), tensor.data(), bytes.size());
  else
    narrowArray(type, tensor.data(), static_cast<int64_t>(tensor.size()), bytes.data(), 2);
  return bytes;
}

/// Runs a call on 16-bit tensors, with the library's algorithm and in f32. The result must be the
/// exact sum, rounded once.
void checkNarrow(const char *kind, MtcConvolution c, std::vector<std::vector<char>> operands,
                 const std::vector<double> &expected, Tally &tally) {
  for (uint32_t inF32 : {0, 1})
    for (int threads : {1, 2}) {
      SCOPED_TRACE(std::string(kind) + ", type " + std::to_string(c.type) + ", result of type " +
                   std::to_string(c.result_type) + ", products in f32 " + std::to_string(inF32));
      c.product_type = inF32 ? uint32_t{MTC_F32} : c.type;
      std::vector<char> result(expected.size() *
                                   (static_cast<size_t>(mtc_type_bytes(c.result_type))),
                               static_cast<char>(0xff));
      std::vector<char *> places;
      for (std::vector<char> &operand : operands)
        places.push_back(operand.data());
      places.push_back(result.data());
      bool supported = run(kind, c, places, threads);
      tally += supported;
      if (!supported)
        continue;
      std::vector<float> wide(expected.size());
      if (c.result_type == MTC_F32)
        std::memcpy(wide.data(), result.data(), result.size());
      else
        widenArray(c.type, result.data(), static_cast<int64_t>(wide.size()), wide.data(), 2);
      const double tolerance = c.result_type == MTC_F32 ? 2e-5 : c.type == MTC_F16 ? 1e-3 : 8e-3;
      for (size_t i = 0; i < wide.size(); ++i)
        ASSERT_NEAR(wide[i], expected[i], tolerance * (1 + std::abs(expected[i])))
            << "element " << i;
    }
}

TEST_P(EachConvolution, OfNarrowElements) {
  Tally tally;
  std::vector<Case> all = cases();
  all.push_back({"blocks of the batch", plane(3, 1, 8, 8, 260, 1, 1, 1, 0, 0)});
  for (const Case &each : all) {
    SCOPED_TRACE(each.name);
    Tensors t(each.c);
    const Sums sums(each.c, t);
    for (uint32_t type : {MTC_BF16, MTC_F16})
      for (uint32_t isF32 : {0, 1}) {
        MtcConvolution c = each.c;
        mtc_set_convolution_types(&c, type);
        c.result_type = isF32 ? uint32_t{MTC_F32} : type;
        auto input = stored(type, false, t.input), weights = stored(type, false, t.weights),
             output = stored(type, false, t.output);
        checkNarrow(MTC_CONVOLUTION, c, {input, weights}, sums.output, tally);
        checkNarrow(MTC_TRANSPOSED_CONVOLUTION, c, {output, weights}, sums.input, tally);
        checkNarrow(MTC_CONVOLUTION_WEIGHT_GRADIENT, c, {input, output}, sums.weights, tally);
      }
  }
  EXPECT_GE(tally.run, 500);
}

TEST_P(EachConvolution, AddsEitherTypeToNarrowElements) {
  Tally tally;
  for (const Case &each : cases())
    for (uint32_t type : {MTC_BF16, MTC_F16})
      for (uint32_t ofF32 = 0; ofF32 < 8; ++ofF32) {
        SCOPED_TRACE(each.name);
        MtcConvolution c = each.c;
        mtc_set_convolution_types(&c, type);
        c.has_bias = c.has_addend = 1;
        c.bias_type = ofF32 & 1 ? uint32_t{MTC_F32} : type;
        c.addend_type = ofF32 >> 1 & 1 ? uint32_t{MTC_F32} : type;
        c.result_type = ofF32 >> 2 ? uint32_t{MTC_F32} : type;
        Tensors t(c);
        std::vector<float> bias(t.output.begin(), t.output.begin() + c.groups * c.output_channels);
        checkNarrow(MTC_CONVOLUTION, c,
                    {stored(type, false, t.input), stored(type, false, t.weights),
                     stored(type, c.bias_type == MTC_F32, bias),
                     stored(type, c.addend_type == MTC_F32, t.output)},
                    finished(c, Sums(c, t).output, bias, t.output), tally);
      }
  EXPECT_GE(tally.run, 100);
}

std::string nameOf(const testing::TestParamInfo<MtcCallLibrary> &info) {
  return info.param == MTC_ONEDNN ? "oneDNN" : "BuiltIn";
}

INSTANTIATE_TEST_SUITE_P(Libraries, EachConvolution, testing::Values(MTC_ONEDNN, MTC_BUILT_IN),
                         nameOf);

/// The runtime's own code is bit-identical for any number of threads, has equal scratch sizes for
/// all instruction sets, and supports everything except depthwise convolutions.
TEST(PatchConvolution, OfEachInstructionSet) {
  int checked = 0;
  for (const Case &each : cases())
    for (int set = 0; set <= static_cast<int>(machineVectors()); ++set) {
      SCOPED_TRACE(std::string(each.name) + ", " + vectorSetName(VectorSet(set)));
      const MtcConvolution &c = each.c;
      Tensors t(c);
      const Sums sums(c, t);
      auto check = [&](Computed computed, std::vector<float> &a, std::vector<float> &b,
                       const std::vector<double> &expected) {
        std::vector<std::vector<float>> results;
        for (int threads : {1, 2, 5}) {
          auto call = createPatchConvolution(c, computed, threads, VectorSet(set));
          ASSERT_EQ(call == nullptr, c.groups > 1 && c.input_channels == 1);
          if (!call)
            return;
          EXPECT_EQ(call->scratchBytes(),
                    createPatchConvolution(c, computed, threads, VectorSet(0))->scratchBytes());
          std::vector<char> scratch(static_cast<size_t>(call->scratchBytes()) + 64);
          char *aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
          std::vector<float> result(expected.size(), NAN);
          char *const places[] = {bytesOf(a), bytesOf(b), bytesOf(result)};
          call->run(places, aligned);
          results.push_back(result);
          ++checked;
        }
        expectNear(results.front(), expected);
        EXPECT_EQ(results[0], results[1]);
        EXPECT_EQ(results[0], results[2]);
      };
      check(Computed::Output, t.input, t.weights, sums.output);
      check(Computed::Input, t.output, t.weights, sums.input);
      check(Computed::Weights, t.input, t.output, sums.weights);
    }
  EXPECT_GE(checked, 90);
}

/// The weight gradient is reordered in the result, without a copy of all weights.
TEST(PatchConvolution, WeightGradientNeedsLessScratchThanTheWeights) {
  const MtcConvolution c = plane(1, 1, 512, 512, 7, 3, 2, 1, 1, 1);
  constexpr int64_t weightBytes = int64_t{512} * 512 * 9 * 4;
  for (int threads : {1, 2, 5})
    EXPECT_LT(createPatchConvolution(c, Computed::Weights, threads, VectorSet(0))->scratchBytes(),
              weightBytes);
}

/// With strides, the gradients of several images are computed together, without taps that read no
/// element.
TEST(PatchConvolution, InputGradientWithStridesOmitsTaps) {
  const MtcConvolution c = plane(3, 1, 64, 5, 97, 3, 2, 1, 1, 1);
  Tensors t(c);
  const Sums sums(c, t);
  std::vector<std::vector<float>> results;
  for (int threads : {1, 2, 5}) {
    auto call = createPatchConvolution(c, Computed::Input, threads, machineVectors());
    EXPECT_NE(call->implementation().find("by residue"), std::string::npos);
    MtcConvolution more = c;
    more.batch *= 4;
    EXPECT_EQ(createPatchConvolution(more, Computed::Input, threads, VectorSet(0))->scratchBytes(),
              call->scratchBytes());
    std::vector<char> scratch(static_cast<size_t>(call->scratchBytes()) + 64);
    char *aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
    std::vector<float> result(sums.input.size(), NAN);
    char *const places[] = {bytesOf(t.output), bytesOf(t.weights), bytesOf(result)};
    call->run(places, aligned);
    results.push_back(result);
  }
  expectNear(results.front(), sums.input);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Convolution, HasNoActivation) {
  MtcConvolution c = plane(2, 1, 4, 6, 9, 3, 1, 1, 1, 1);
  c.activation = MTC_RELU;
  EXPECT_EQ(mtc_call_support_level(MTC_ONEDNN, MTC_CONVOLUTION, &c, 2), MTC_CALL_UNSUPPORTED);
}

TEST(Convolution, UnsupportedTypesAndEmptyTensorsAreSaid) {
  MtcConvolution c = plane(2, 1, 4, 6, 9, 3, 1, 1, 1, 1);
  mtc_set_convolution_types(&c, MTC_F64);
  EXPECT_EQ(mtc_call_support_level(MTC_ONEDNN, MTC_CONVOLUTION, &c, 2), MTC_CALL_UNSUPPORTED);
  mtc_set_convolution_types(&c, MTC_F32);
  EXPECT_GT(mtc_call_support_level(MTC_ONEDNN, MTC_CONVOLUTION, &c, 2), MTC_CALL_UNSUPPORTED);
  c.batch = 0;
  EXPECT_EQ(mtc_call_support_level(MTC_ONEDNN, MTC_CONVOLUTION, &c, 2), MTC_CALL_UNSUPPORTED);
  c.batch = int64_t(1) << 32; // oneDNN counts in 32 bits.
  for (const char *kind :
       {MTC_CONVOLUTION, MTC_TRANSPOSED_CONVOLUTION, MTC_CONVOLUTION_WEIGHT_GRADIENT})
    EXPECT_EQ(mtc_call_support_level(MTC_ONEDNN, kind, &c, 2), MTC_CALL_UNSUPPORTED);
  c.batch = 0;
  EXPECT_EQ(mtc_call_scratch_bytes(MTC_ONEDNN, MTC_CONVOLUTION_WEIGHT_GRADIENT, &c, 2), -1);
}

} // namespace
