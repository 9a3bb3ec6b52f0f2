// Compares Winograd convolutions with plain sums in f64, for each instruction set and any number of
// threads.
#include "runtime/abi/convolution.h"
#include "runtime/calls/convolution/cpu/winograd.h"
#include "runtime/devices/cpu/library_call.h"
#include "test/support/convolution_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace mtc::convolution_cases;
using namespace mtc::runtime;

namespace {

/// The maximum error of a result, relative to the maximum sum of absolute terms.
constexpr double maxError = 1e-6;

std::vector<Case> filteredCases() {
  Case fewer = {"windows left out", plane(2, 1, 6, 9, 10, 3, 1, 1, 1, 1)};
  fewer.c.output[0] -= 2;
  return {{"odd channels of one image", plane(1, 1, 5, 7, 8, 3, 1, 1, 1, 1)},
          {"whole vectors", plane(2, 1, 16, 32, 9, 3, 1, 1, 1, 1)},
          {"padding after", plane(3, 1, 33, 70, 13, 3, 1, 1, 0, 2)},
          {"padding before", plane(2, 1, 20, 3, 7, 3, 1, 1, 2, 0)},
          {"more padding than taps", plane(2, 1, 4, 6, 4, 3, 1, 1, 3, 4)},
          {"no padding", plane(1, 1, 3, 40, 5, 3, 1, 1, 0, 0)},
          {"one channel", plane(1, 1, 1, 1, 6, 3, 1, 1, 1, 1)},
          {"one position", plane(3, 1, 8, 9, 1, 3, 1, 1, 1, 1)},
          {"blocks of channels", plane(1, 1, 520, 44, 3, 3, 1, 1, 1, 1)},
          {"blocks of tiles", plane(3, 1, 6, 5, 33, 3, 1, 1, 1, 1)},
          fewer};
}

char *bytesOfFloats(std::vector<float> &tensor) { return reinterpret_cast<char *>(tensor.data()); }

/// Runs a call on scratch memory of 0xff, and checks that it writes nothing after it.
void runIn(LibraryCall &call, const std::vector<char *> &buffers) {
  const auto bytes = static_cast<size_t>(call.scratchBytes());
  std::vector<char> memory(bytes + 128, static_cast<char>(0xff));
  char *scratch = memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64);
  call.run(buffers.data(), scratch);
  EXPECT_TRUE(std::all_of(scratch + bytes, memory.data() + memory.size(),
                          [](char each) { return each == static_cast<char>(0xff); }));
}

void expectWithin(const std::vector<float> &got, const std::vector<double> &expected,
                  const std::vector<double> &absolute) {
  const double bound = maxError * *std::max_element(absolute.begin(), absolute.end());
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], bound) << "element " << i;
}

/// The tensors of a case, their exact sums, and the sums of their absolute terms.
struct Subject {
  explicit Subject(const MtcConvolution &c)
      : c(c), tensors(c), sums(c, tensors), absolute(c, absoluteOf(tensors)) {}

  static Tensors absoluteOf(Tensors tensors) {
    for (std::vector<float> *tensor : {&tensors.input, &tensors.weights, &tensors.output})
      for (float &element : *tensor)
        element = std::abs(element);
    return tensors;
  }

  std::vector<char *> operands(Computed computed) {
    char *const input = bytesOfFloats(tensors.input),
                *const weights = bytesOfFloats(tensors.weights),
                *const output = bytesOfFloats(tensors.output);
    return computed == Computed::Output  ? std::vector<char *>{input, weights}
           : computed == Computed::Input ? std::vector<char *>{output, weights}
                                         : std::vector<char *>{input, output};
  }
  static const std::vector<double> &of(const Sums &all, Computed computed) {
    return computed == Computed::Output  ? all.output
           : computed == Computed::Input ? all.input
                                         : all.weights;
  }

  MtcConvolution c;
  Tensors tensors;
  Sums sums, absolute;
};

TEST(Winograd, IsWithinItsBound) {
  for (const Case &each : filteredCases()) {
    Subject subject(each.c);
    for (Computed computed : {Computed::Output, Computed::Input, Computed::Weights})
      for (int set = 0; set <= static_cast<int>(machineVectors()); ++set) {
        SCOPED_TRACE(std::string(each.name) + ", computes " +
                     std::to_string(static_cast<int>(computed)) + ", " +
                     vectorSetName(VectorSet(set)));
        const std::vector<double> &expected = Subject::of(subject.sums, computed);
        std::vector<std::vector<float>> results;
        for (int threads : {1, 2, 3, 1}) {
          auto call = createWinogradConvolution(each.c, computed, threads, VectorSet(set));
          ASSERT_TRUE(call);
          EXPECT_EQ(
              call->scratchBytes(),
              createWinogradConvolution(each.c, computed, threads, VectorSet(0))->scratchBytes());
          std::vector<float> &result = results.emplace_back(expected.size(), NAN);
          std::vector<char *> buffers = subject.operands(computed);
          buffers.push_back(bytesOfFloats(result));
          runIn(*call, buffers);
          EXPECT_EQ(result, results.front()) << threads << " threads";
        }
        expectWithin(results.front(), expected, Subject::of(subject.absolute, computed));
      }
  }
}

TEST(Winograd, AddsBiasAndAddend) {
  for (const Case &each : filteredCases())
    for (uint32_t added : {1u, 2u, 3u}) {
      SCOPED_TRACE(std::string(each.name) + ", added " + std::to_string(added));
      MtcConvolution c = each.c;
      c.has_bias = added & 1;
      c.has_addend = added >> 1;
      Subject subject(c);
      std::vector<float> &addend = subject.tensors.output,
                         bias(addend.begin(), addend.begin() + c.output_channels),
                         result(addend.size(), NAN);
      std::vector<char *> buffers = subject.operands(Computed::Output);
      if (c.has_bias)
        buffers.push_back(bytesOfFloats(bias));
      if (c.has_addend)
        buffers.push_back(bytesOfFloats(addend));
      buffers.push_back(bytesOfFloats(result));
      runIn(*createWinogradConvolution(c, Computed::Output, 2, machineVectors()), buffers);
      std::vector<double> absolute = subject.absolute.output;
      for (double &element : absolute)
        element += added;
      expectWithin(result, finished(c, subject.sums.output, bias, addend), absolute);
    }
}

TEST(Winograd, OfBothLibraries) {
  MtcConvolution c = plane(2, 1, 8, 8, 9, 3, 1, 1, 1, 1);
  c.algorithm = MTC_WINOGRAD;
  for (const CallLibrary *library : {&linkedLibrary(), &builtInLibrary()})
    for (const char *kind :
         {MTC_CONVOLUTION, MTC_TRANSPOSED_CONVOLUTION, MTC_CONVOLUTION_WEIGHT_GRADIENT}) {
      auto call = LibraryCall::create(*library, kind, &c, 2);
      ASSERT_TRUE(call);
      EXPECT_EQ(call->implementation(),
                std::string("f32 winograd ") + vectorSetName(machineVectors()));
      EXPECT_EQ(call->supportLevel(), MTC_CALL_FAST);
    }
}

TEST(Winograd, OnlyOfItsConvolutions) {
  auto has = [](auto change) {
    MtcConvolution c = plane(2, 1, 8, 8, 9, 3, 1, 1, 1, 1);
    change(c);
    auto call = createWinogradConvolution(c, Computed::Output, 1, machineVectors());
    return call != nullptr;
  };
  EXPECT_TRUE(has([](MtcConvolution &) {}));
  EXPECT_FALSE(has([](MtcConvolution &c) { mtc_set_convolution_types(&c, MTC_BF16); }));
  EXPECT_FALSE(has([](MtcConvolution &c) { c.groups = 2; }));
  EXPECT_FALSE(has([](MtcConvolution &c) { c.activation = MTC_RELU; }));
  EXPECT_FALSE(has([](MtcConvolution &c) { c.window_rank = 1; }));
  EXPECT_FALSE(has([](MtcConvolution &c) { c.kernel[1] = 1; }));
  EXPECT_FALSE(has([](MtcConvolution &c) { c.strides[0] = 2; }));
  EXPECT_FALSE(has([](MtcConvolution &c) { c.dilations[1] = 2; }));
  EXPECT_FALSE(has([](MtcConvolution &c) { c.batch = 0; }));
}

} // namespace
