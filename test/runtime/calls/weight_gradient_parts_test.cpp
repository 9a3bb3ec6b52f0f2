// Tests that weight gradients by oneDNN do not wait inside primitives, and what their parts
// compute.
#include "runtime/abi/convolution.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/onednn.h"
#include "runtime/devices/cpu/threads/library_slots.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/vector/convert.h"
#include "test/support/convolution_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

using namespace mtc::convolution_cases;
using namespace mtc::runtime;

namespace {

MtcConvolution withExtent(MtcConvolution c, uint32_t rank, int64_t input, int64_t output) {
  c.window_rank = rank;
  for (uint32_t i = 0; i < rank; ++i) {
    c.input[i] = input;
    c.output[i] = output;
    c.kernel[i] = 3;
    c.strides[i] = c.dilations[i] = c.before[i] = 1;
  }
  return c;
}

/// Gradients that several threads compute.
const std::vector<Case> &gradients() {
  static const std::vector<Case> all = {
      {"many images", plane(20, 1, 3, 16, 20, 3, 1, 1, 1, 1)},
      {"7x7 of few images", plane(3, 1, 3, 16, 40, 7, 2, 1, 3, 3)},
      {"one image", plane(1, 1, 8, 16, 60, 3, 1, 1, 1, 1)},
      {"stride, dilation, one-sided padding", plane(2, 1, 4, 12, 50, 3, 2, 2, 0, 3)},
      {"elements after the last window", plane(2, 1, 8, 16, 91, 3, 2, 1, 0, 0)},
      {"1x1 with stride", plane(6, 1, 24, 40, 47, 1, 2, 1, 0, 0)},
      {"many channels", plane(2, 1, 80, 160, 7, 3, 1, 1, 1, 1)},
      {"groups", plane(5, 4, 8, 8, 30, 3, 1, 1, 1, 1)},
      {"depthwise", plane(8, 48, 1, 1, 40, 3, 1, 1, 1, 1)},
      {"windows without overlap", plane(4, 1, 3, 48, 64, 16, 16, 1, 0, 0)},
      {"line", withExtent(plane(2, 1, 16, 32, 9, 3, 1, 1, 1, 1), 1, 2000, 2000)},
      {"volume", withExtent(plane(3, 1, 8, 16, 9, 3, 1, 1, 1, 1), 3, 14, 14)}};
  return all;
}

/// Counts the parallel regions of oneDNN that have several threads.
class RegionCounter {
public:
  using Region = void (*)(void (*)(void *), void *, unsigned, unsigned);

  RegionCounter() {
    setLibraryThreads(2); // Writes the slot.
    slot = findSlot("dnnl_version", "GOMP_parallel");
    original = reinterpret_cast<Region>(*slot);
    count = 0;
    writeSlot(slot, reinterpret_cast<void *>(run));
  }
  ~RegionCounter() { writeSlot(slot, reinterpret_cast<void *>(original)); }

  static inline std::atomic<int> count = 0;

private:
  static void run(void (*function)(void *), void *data, unsigned threads, unsigned flags) {
    count += threads != 1;
    original(function, data, threads, flags);
  }

  static inline Region original = nullptr;
  void **slot;
};

struct Gradient {
  std::string implementation;
  std::vector<float> weights;
  int regions = 0; ///< of oneDNN, with several threads
};

Gradient compute(const MtcConvolution &c, int threads, char *input, char *output) {
  const int64_t planned =
      mtc_call_scratch_bytes(MTC_ONEDNN, MTC_CONVOLUTION_WEIGHT_GRADIENT, &c, threads);
  auto call = LibraryCall::create(linkedLibrary(), MTC_CONVOLUTION_WEIGHT_GRADIENT, &c, threads);
  Gradient result;
  if (!call) {
    ADD_FAILURE() << "no implementation";
    return result;
  }
  EXPECT_LE(call->scratchBytes(), planned);
  const auto bytes = static_cast<size_t>(call->scratchBytes());
  std::vector<char> buffer(bytes + 256, static_cast<char>(0xff));
  char *scratch = buffer.data() + (64 - reinterpret_cast<uintptr_t>(buffer.data()) % 64);
  int64_t elements = c.groups * c.output_channels * c.input_channels;
  for (uint32_t i = 0; i < c.window_rank; ++i)
    elements *= c.kernel[i];
  const auto count = static_cast<size_t>(elements);
  std::vector<char> stored(count * static_cast<size_t>(mtc_type_bytes(c.result_type)));
  char *buffers[] = {input, output, stored.data()};
  const RegionCounter counter;
  call->run(buffers, scratch);
  for (char *each = scratch + bytes; each < buffer.data() + buffer.size(); ++each)
    EXPECT_EQ(*each, static_cast<char>(0xff)) << "written after the scratch";
  result.implementation = call->implementation();
  result.regions = RegionCounter::count;
  result.weights.resize(count);
  if (c.result_type == MTC_F32)
    std::memcpy(result.weights.data(), stored.data(), stored.size());
  else
    widenArray(c.result_type, stored.data(), elements, result.weights.data(), 1);
  return result;
}

char *bytesOf(std::vector<float> &tensor) { return reinterpret_cast<char *>(tensor.data()); }

bool hasParts(const Gradient &gradient) { return gradient.implementation.ends_with(" parts"); }

bool hasAvx512() {
  constexpr auto needed = static_cast<unsigned>(dnnl_cpu_isa_avx512_core);
  return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & needed) == needed;
}

TEST(WeightGradientParts, MatchTheDefinition) {
  int divided = 0;
  for (const Case &each : gradients()) {
    Tensors t(each.c);
    const std::vector<double> expected = Sums(each.c, t).weights;
    for (int threads : {1, 2, 3, 8}) {
      const Gradient got = compute(each.c, threads, bytesOf(t.input), bytesOf(t.output));
      SCOPED_TRACE(testing::Message() << each.name << " on " << threads << " threads: "
                                      << got.implementation << ", regions: " << got.regions);
      divided += hasParts(got);
      ASSERT_EQ(got.weights.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(got.weights[i], expected[i], 1e-4 * (1 + std::abs(expected[i])))
            << "element " << i;
    }
  }
  if (hasAvx512()) // With AVX2, oneDNN has few primitives for channels in the last axis.
    EXPECT_GE(divided, 12);
}

/// If the threads of a primitive computed parts of the same sums, they would wait for each other,
/// and bits would depend on the number of threads.
TEST(WeightGradientParts, SumsAreNotDividedInsidePrimitives) {
  for (const Case &each : gradients()) {
    Tensors t(each.c);
    std::vector<float> onOneThread, inParts;
    for (int threads : {1, 2, 3, 4, 5, 8}) {
      const Gradient got = compute(each.c, threads, bytesOf(t.input), bytesOf(t.output));
      SCOPED_TRACE(testing::Message() << each.name << " on " << threads << " threads: "
                                      << got.implementation << ", regions: " << got.regions);
      if (hasParts(got)) {
        EXPECT_LE(got.regions, 1) << "only the copy of the result has several threads";
        if (inParts.empty())
          inParts = got.weights;
        EXPECT_EQ(got.weights, inParts);
      } else if (got.implementation.starts_with("jit:") ||
                 got.implementation.starts_with("jit_1x1:")) {
        if (onOneThread.empty())
          onOneThread = got.weights;
        EXPECT_EQ(got.weights, onOneThread);
      }
    }
  }
}

TEST(WeightGradientParts, ElementsOf16BitsAreAddedInF32) {
  if (!libraryMultiplies(MTC_BF16))
    GTEST_SKIP() << "oneDNN has no instructions for bf16";
  int divided = 0;
  for (const Case &each : gradients()) {
    Tensors t(each.c);
    const std::vector<double> expected = Sums(each.c, t).weights;
    for (uint32_t result : {MTC_F32, MTC_BF16}) {
      MtcConvolution c = each.c;
      mtc_set_convolution_types(&c, MTC_BF16);
      c.result_type = result;
      auto narrow = [](std::vector<float> &tensor) {
        std::vector<char> bytes(tensor.size() * 2);
        narrowArray(MTC_BF16, tensor.data(), static_cast<int64_t>(tensor.size()), bytes.data(), 1);
        return bytes;
      };
      std::vector<char> input = narrow(t.input), output = narrow(t.output);
      const Gradient got = compute(c, 2, input.data(), output.data());
      SCOPED_TRACE(testing::Message() << each.name << ": " << got.implementation);
      divided += hasParts(got);
      ASSERT_EQ(got.weights.size(), expected.size());
      // Half a unit in the last of 8 bits.
      const double tolerance = result == MTC_F32 ? 1e-4 : 4e-3;
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(got.weights[i], expected[i], tolerance * (1 + std::abs(expected[i])))
            << "element " << i;
    }
  }
  EXPECT_GE(divided, 8);
}

} // namespace
