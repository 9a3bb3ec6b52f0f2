// Compares convolution graphs for cuDNN with plain sums. The emulated library computes the graph
// that it receives, and rejects graphs that cuDNN rejects.
#include "runtime/abi/cuda_library_call.h"
#include "runtime/calls/convolution/cuda/dnn_convolution.h"
#include "runtime/calls/convolution/cuda/dnn_convolution_plan.h"
#include "runtime/devices/cuda/driver.h"
#include "runtime/devices/gpu/handles.h"
#include "runtime/support/failure.h"
#include "test/support/convolution_cases.h"
#include "test/support/convolution_graphs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace mtc::convolution_cases;
using namespace mtc::runtime;
using namespace mtc::runtime::cuda;
using namespace mtc::runtime::gpu;
using testing::HasSubstr;

namespace {

std::unique_ptr<Dnn> openDnn() {
  unsetenv("MTC_CUDNN");
  return Dnn::open();
}

/// Device memory with a tensor of f32 or 16-bit elements.
class DeviceTensors {
public:
  explicit DeviceTensors(uint32_t type) : type(type), driver(openDriver()), stream(driver) {}

  Address give(const std::vector<float> &numbers) {
    std::vector<char> bytes;
    for (float number : numbers)
      appendUpper(bytes, number);
    const Address address = room(static_cast<int64_t>(bytes.size()));
    driver.copyToDevice(address, bytes.data(), bytes.size(), stream);
    check(driver, driver.waitForStream(stream), "copies");
    return address;
  }
  Address room(int64_t bytes) { return memories.emplace_back(driver, bytes).address(); }
  Address roomFor(size_t numbers) { return room(static_cast<int64_t>(numbers * width())); }
  std::vector<float> read(Address from, size_t count) {
    std::vector<char> bytes(count * width());
    driver.copyToHost(bytes.data(), from, bytes.size(), stream);
    check(driver, driver.waitForStream(stream), "convolution");
    std::vector<float> result(count);
    for (size_t i = 0; i < count; ++i)
      std::memcpy(reinterpret_cast<char *>(&result[i]) + 4 - width(), &bytes[i * width()], width());
    return result;
  }

private:
  /// A bf16 number is the upper half of an f32 number.
  void appendUpper(std::vector<char> &to, float number) const {
    char all[4];
    std::memcpy(all, &number, 4);
    to.insert(to.end(), all + 4 - width(), all + 4);
  }
  size_t width() const { return type == MTC_F32 ? 4 : 2; }

  uint32_t type;
  std::vector<DeviceMemory> memories;

public:
  const Driver &driver;
  OwnedStream stream;
};

void expectNear(const std::vector<float> &found, const std::vector<double> &wanted,
                double tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    ASSERT_NEAR(static_cast<double>(found[i]), wanted[i], tolerance * (1 + std::abs(wanted[i])))
        << "element " << i;
}

void checkAgainstSums(const MtcConvolution &c) {
  const std::unique_ptr<Dnn> dnn = openDnn();
  ASSERT_TRUE(dnn);
  Tensors t(c);
  const Sums sums(c, t);
  auto check = [&](Computed computed, const std::vector<float> &a, const std::vector<float> &b,
                   const std::vector<double> &wanted) {
    SCOPED_TRACE(testing::Message() << "computed " << static_cast<int>(computed));
    const auto bytes = planDnnConvolution(c, computed);
    ASSERT_TRUE(bytes);
    DeviceTensors tensors(c.type);
    const Address result = tensors.roomFor(wanted.size());
    auto call = DnnConvolution::create(*dnn, c, computed, MTC_CUDA_F32,
                                       {tensors.give(a), tensors.give(b), result},
                                       tensors.room(*bytes), *bytes);
    ASSERT_TRUE(call);
    call->enqueue(tensors.stream);
    expectNear(tensors.read(result, wanted.size()), wanted, c.type == MTC_F32 ? 1e-6 : 1e-2);
  };
  check(Computed::Output, t.input, t.weights, sums.output);
  check(Computed::Input, t.output, t.weights, sums.input);
  if (planDnnConvolution(c, Computed::Weights))
    check(Computed::Weights, t.input, t.output, sums.weights);
}

TEST(DnnConvolution, IsWhatSumsAre) {
  for (const Case &each : cases()) {
    SCOPED_TRACE(each.name);
    checkAgainstSums(each.c);
  }
}

TEST(DnnConvolution, IsWhatSumsAreIn16Bits) {
  for (Case each : cases()) {
    SCOPED_TRACE(each.name);
    mtc_set_convolution_types(&each.c, MTC_BF16);
    checkAgainstSums(each.c);
  }
}

/// The epilogues are a bias, a bias with an addend, and both with an activation.
void checkEpilogues(MtcConvolution c) {
  const std::unique_ptr<Dnn> dnn = openDnn();
  ASSERT_TRUE(dnn);
  c.has_bias = 1;
  Tensors t(c);
  const std::vector<float> bias(t.output.begin(), t.output.begin() + c.groups * c.output_channels);
  const Sums sums(c, t);
  for (bool hasAddend : {false, true})
    for (MtcActivation activation : {MTC_NO_ACTIVATION, MTC_RELU}) {
      c.has_addend = hasAddend;
      c.activation = activation;
      const auto bytes = planDnnConvolution(c, Computed::Output);
      ASSERT_TRUE(bytes);
      DeviceTensors tensors(c.type);
      std::vector<Address> buffers = {tensors.give(t.input), tensors.give(t.weights),
                                      tensors.give(bias)};
      if (hasAddend)
        buffers.push_back(tensors.give(t.output));
      buffers.push_back(tensors.roomFor(t.output.size()));
      auto call = DnnConvolution::create(*dnn, c, Computed::Output, MTC_CUDA_TF32, buffers,
                                         tensors.room(*bytes), *bytes);
      ASSERT_TRUE(call);
      call->enqueue(tensors.stream);
      expectNear(tensors.read(buffers.back(), t.output.size()),
                 finished(c, sums.output, bias, t.output), c.type == MTC_F32 ? 1e-6 : 1e-2);
    }
}

TEST(DnnConvolution, AddsAndActivates) {
  for (Case each : cases()) {
    SCOPED_TRACE(each.name);
    checkEpilogues(each.c);
    mtc_set_convolution_types(&each.c, MTC_BF16);
    checkEpilogues(each.c);
  }
}

TEST(DnnConvolution, HasEpiloguesWithABias) {
  MtcConvolution c = plane(2, 1, 4, 6, 9, 3, 1, 1, 1, 1);
  auto level = [&](MtcCudaPrecision precision) {
    return mtc_cuda_call_support_level(MTC_CONVOLUTION, &c, precision);
  };
  c.activation = MTC_RELU;
  EXPECT_EQ(level(MTC_CUDA_TF32), 0);
  c.has_bias = 1;
  EXPECT_EQ(level(MTC_CUDA_TF32), 2);
  EXPECT_EQ(level(MTC_CUDA_F32), 0); // What it makes of a NaN is not said.
  mtc_set_convolution_types(&c, MTC_BF16);
  EXPECT_EQ(level(MTC_CUDA_F32), 2);
  c = plane(2, 1, 4, 6, 9, 3, 1, 1, 1, 1);
  c.has_addend = 1;
  EXPECT_EQ(level(MTC_CUDA_F32), 0);
  c.has_bias = 1;
  EXPECT_EQ(level(MTC_CUDA_F32), 2);
}

TEST(DnnConvolution, IsNotAskedForWhatItCannot) {
  const MtcConvolution plain = plane(2, 1, 4, 6, 9, 3, 2, 1, 1, 1);
  auto isPlanned = [&](Computed computed, auto change) {
    MtcConvolution c = plain;
    change(c);
    return planDnnConvolution(c, computed).has_value();
  };
  auto isRefused = [&](auto change) {
    return !isPlanned(Computed::Output, change) && !isPlanned(Computed::Input, change) &&
           !isPlanned(Computed::Weights, change);
  };
  EXPECT_TRUE(isPlanned(Computed::Output, [](MtcConvolution &) {}));
  EXPECT_TRUE(isRefused([](MtcConvolution &c) { mtc_set_convolution_types(&c, MTC_F64); }));
  EXPECT_TRUE(isRefused([](MtcConvolution &c) { c.batch = 0; }));
  EXPECT_TRUE(isRefused([](MtcConvolution &c) { c.kernel[0] = 0; }));
  EXPECT_TRUE(isRefused([](MtcConvolution &c) { c.output[0] -= 2; })); // a window is skipped
  auto halfVolume = [](MtcConvolution &c) {
    c = volume();
    mtc_set_convolution_types(&c, MTC_F16);
  };
  EXPECT_TRUE(isPlanned(Computed::Output, halfVolume));
  EXPECT_FALSE(isPlanned(Computed::Weights, halfVolume));
}

TEST(DnnConvolution, PlansCopiesAndPartialSums) {
  // The workspace has copies of 4 x 4 and of 8 x 8 padded channels in f32, and the descriptors.
  const MtcConvolution c = plane(2, 1, 3, 5, 9, 3, 1, 1, 1, 1);
  const int64_t positions = 9 * 10, input = 2 * 4 * 4 * positions, output = 2 * 8 * 4 * positions,
                weights = 8 * 4 * 4 * 9;
  EXPECT_EQ(planDnnConvolution(c, Computed::Output), input + output + weights + 4096);
  EXPECT_EQ(planDnnConvolution(c, Computed::Input), input + output + weights + 4096);
  EXPECT_EQ(planDnnConvolution(c, Computed::Weights), 2 * (input + output) + weights + 4096);
}

TEST(DnnConvolution, RoundsNoMoreThanThePrecisionSays) {
  MtcConvolution c = plane(2, 1, 4, 6, 9, 3, 1, 1, 1, 1);
  const uint32_t exact = refusedNotes(c, MTC_CUDA_F32), rounded = refusedNotes(c, MTC_CUDA_TF32);
  EXPECT_TRUE(exact & dnn::usesTensorCores);
  EXPECT_FALSE(rounded & dnn::usesTensorCores);
  for (uint32_t notes : {exact, rounded})
    EXPECT_TRUE(notes & dnn::isNondeterministic && notes & dnn::roundsInputs);
  mtc_set_convolution_types(&c, MTC_BF16);
  EXPECT_EQ(refusedNotes(c, MTC_CUDA_F32), dnn::isNondeterministic | dnn::roundsSums);
}

TEST(DnnConvolution, SaysWhatIsMissing) {
  const MtcConvolution c = plane(2, 1, 4, 6, 9, 3, 1, 1, 1, 1);
  MtcCall call = {};
  call.kind = MTC_CONVOLUTION;
  call.description = &c;
  call.scratch_bytes = *planDnnConvolution(c, Computed::Output);
  auto messageOf = [&](int64_t scratchBytes) -> std::string {
    Libraries libraries;
    call.scratch_bytes = scratchBytes;
    try {
      convolutionCalls.prepare({libraries, MTC_CUDA_F32, {{4096, 8192, 12288}, 256}}, call);
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.exitCode(), exitSystemFault);
      return failure.what();
    }
    return "nothing";
  };
  const int64_t planned = call.scratch_bytes;
  unsetenv("MTC_CUDNN");
  EXPECT_EQ(messageOf(planned), "nothing");
  EXPECT_THAT(messageOf(64), HasSubstr("cuDNN has no kernel for this GPU"));
  setenv("MTC_CUDNN", "0", 1);
  EXPECT_THAT(messageOf(planned),
              testing::AllOf(HasSubstr("cuDNN, version 9.19 or later, which MTC_CUDNN=0 switches "
                                       "off. It comes with"),
                             HasSubstr("compiled with --no-cudnn")));
  unsetenv("MTC_CUDNN");
}

TEST(DnnConvolution, RefusesGraphsThatDoNotFit) {
  const std::unique_ptr<Dnn> dnn = openDnn();
  ASSERT_TRUE(dnn);
  for (const DnnConvolutionGraph &each : convolutionGraphs())
    EXPECT_EQ(isTaken(dnn->library, each), each.isRight) << each.name;
}

} // namespace
