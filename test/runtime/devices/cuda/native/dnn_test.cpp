// Checks graphs of attention and convolution with cuDNN itself, which supports them on each
// architecture and needs no more memory than planned. The test needs neither a GPU nor a driver,
// only the driver's library or the toolkit's stub of this library.
#include "runtime/calls/attention/cuda/dnn_attention.h"
#include "runtime/calls/attention/cuda/dnn_attention_graph.h"
#include "runtime/calls/attention/cuda/dnn_attention_plan.h"
#include "runtime/calls/convolution/cuda/dnn_convolution.h"
#include "runtime/calls/convolution/cuda/dnn_convolution_graph.h"
#include "runtime/calls/convolution/cuda/dnn_convolution_plan.h"
#include "runtime/devices/cuda/workspace.h"
#include "test/support/convolution_cases.h"
#include "test/support/convolution_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <utility>

using namespace mtc::runtime;
using namespace mtc::runtime::cuda;
using namespace mtc::runtime::gpu;

namespace {

struct Architecture {
  int version, processors, sharedBytes, threads;
};
constexpr Architecture architectures[] = {{800, 108, 166912, 2048},
                                          {890, 128, 101376, 1536},
                                          {900, 132, 232448, 2048},
                                          {1000, 148, 232448, 2048},
                                          {1200, 170, 101376, 1536}};

/// The description of a device that is not present, in cuDNN's format.
dnn::Descriptor describe(const dnn::Library &library, const Architecture &a) {
  char json[1024];
  const int length = std::snprintf(
      json, sizeof json,
      R"({"cudaDeviceId":0,"deviceVer":%d,"driverVer":13000,"maxGridSize":[2147483647,65535,65535],)"
      R"("maxBlockSize":[1024,1024,64],"regsPerBlock":65536,"multiProcessorCount":%d,"warpSize":32,)"
      R"("maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":%d,)"
      R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,)"
      R"("maxThreadsPerBlock":1024,"maxThreadsPerSM":%d,"pciDeviceId":0,"isTccDriver":0,)"
      R"("supportCoopLaunch":1,"totalGlobalMem":25769803776,"smClockRateKHz":1500000,)"
      R"("memClockRateKHz":2000000,"l2CacheSize":52428800,"deviceName":"described"})",
      a.version, a.processors, a.sharedBytes, a.threads);
  dnn::Descriptor device(library, dnn::deviceKind);
  device.set(dnn::deviceJson, dnn::charType, length, json);
  device.finalize();
  return device;
}

MtcAttention attention(int64_t heads, int64_t keyHeads, int64_t queries, int64_t keys,
                       int64_t width, bool headsInside) {
  MtcAttention a = {};
  a.type = MTC_BF16;
  a.has_out = 1;
  a.batch = 2;
  a.heads = heads;
  a.key_heads = keyHeads;
  a.queries = queries;
  a.keys = keys;
  a.width = a.value_width = width;
  a.scale = 0.125;
  auto layOut = [&](int64_t count, int64_t length, std::initializer_list<int64_t *> all) {
    for (int64_t *strides : all) {
      strides[0] = count * length * width;
      strides[1] = headsInside ? width : length * width;
      strides[2] = headsInside ? count * width : width;
      strides[3] = 1;
    }
  };
  layOut(heads, queries, {a.query, a.out, a.saved_out, a.d_query});
  layOut(keyHeads, keys, {a.key, a.value, a.d_key, a.d_value});
  return a;
}

/// Returns the reason why the library cannot be queried, or an empty text.
std::string obstacle() {
  if (!dnn::openLibrary())
    return "cuDNN 9.19 or later is not installed";
  // The library opens the driver by this name, and finds the library that is already open.
  for (const char *name : {"libcuda.so.1", "/usr/local/cuda/lib64/stubs/libcuda.so",
                           "/usr/local/cuda/lib/stubs/libcuda.so"})
    if (dlopen(name, RTLD_NOW | RTLD_GLOBAL))
      return "";
  return "neither the driver nor the toolkit's stub of it is installed";
}

void expectPlanned(const MtcAttention &a, bool isGradient) {
  const dnn::Library &library = *dnn::openLibrary();
  auto planned = planDnnAttention(a, isGradient);
  ASSERT_TRUE(planned);
  const int64_t space = *planned - (isGradient ? offsetsBytes(a) : 0) -
                        workspaceSlack; // the workspace may start unaligned
  dnn::OperationGraph graph(library);
  isGradient ? addAttentionGradient(graph, a) : addAttention(graph, a);
  dnn::Descriptor operations = graph.finish();
  for (const Architecture &architecture : architectures) {
    SCOPED_TRACE(testing::Message() << "sm_" << architecture.version / 10 << ", " << a.heads << "/"
                                    << a.key_heads << " heads, " << a.queries << " x " << a.keys
                                    << " x " << a.width << ", gradient " << isGradient);
    auto choices = dnnChoices(library, operations, describe(library, architecture));
    EXPECT_TRUE(std::any_of(choices.begin(), choices.end(), [&](const DnnChoice &choice) {
      return choice.workspaceBytes <= space;
    }));
  }
}

class Dnn : public testing::Test {
  void SetUp() override {
    std::string missing = obstacle();
    if (!missing.empty())
      GTEST_SKIP() << missing;
  }
};

TEST_F(Dnn, IsNotUsedAgainstTheUsersWill) {
  setenv("MTC_CUDNN", "0", 1);
  EXPECT_FALSE(dnn::openLibrary());
  unsetenv("MTC_CUDNN");
  EXPECT_TRUE(dnn::openLibrary());
}

TEST_F(Dnn, KnowsAttention) {
  for (bool isGradient : {false, true}) {
    expectPlanned(attention(8, 8, 512, 512, 64, false), isGradient);
    expectPlanned(attention(12, 12, 1000, 1000, 64, true), isGradient);
  }
}

TEST_F(Dnn, KnowsCausalAttention) {
  for (int64_t offset : {0, 100}) {
    MtcAttention a = attention(4, 4, 100, 200, 40, true);
    a.is_causal = 1;
    a.causal_offset = offset;
    expectPlanned(a, false);
    expectPlanned(a, true);
  }
}

TEST_F(Dnn, KnowsABatchOfOneOfAnyStride) {
  MtcAttention a = attention(4, 4, 256, 256, 64, true);
  a.batch = 1;
  for (int64_t *strides : {a.query, a.out, a.key, a.value, a.saved_out, a.d_query, a.d_key})
    strides[0] = 0;
  expectPlanned(a, false);
  expectPlanned(a, true);
}

TEST_F(Dnn, KnowsSharedHeads) {
  MtcAttention a = attention(8, 2, 512, 512, 64, true);
  a.is_causal = 1;
  a.type = MTC_F16;
  expectPlanned(a, false);
  expectPlanned(a, true);
}

/// cuDNN has no gradient in f32, so it is not used for training in f32.
TEST_F(Dnn, HasNoGradientInF32) {
  const dnn::Library &library = *dnn::openLibrary();
  MtcAttention a = attention(8, 8, 512, 512, 64, false);
  a.type = MTC_F32;
  EXPECT_FALSE(planDnnAttention(a, true));
  dnn::OperationGraph graph(library);
  addAttentionGradient(graph, a);
  dnn::Descriptor operations = graph.finish();
  for (const Architecture &architecture : architectures)
    EXPECT_TRUE(dnnChoices(library, operations, describe(library, architecture)).empty());
}

/// Every architecture has a kernel with the precision that fits the planned workspace.
void expectPlanned(const MtcConvolution &c, Computed computed, MtcCudaPrecision precision) {
  const dnn::Library &library = *dnn::openLibrary();
  auto planned = planDnnConvolution(c, computed);
  ASSERT_TRUE(planned);
  const int64_t space = *planned - workspaceSlack;
  dnn::OperationGraph graph(library);
  addConvolution(graph, c, computed);
  dnn::Descriptor operations = graph.finish();
  const uint32_t refused = refusedNotes(c, precision);
  auto isGood = [&](const DnnChoice &choice) {
    return choice.workspaceBytes <= space && !(choice.notes & refused);
  };
  for (const Architecture &architecture : architectures) {
    SCOPED_TRACE(testing::Message() << "sm_" << architecture.version / 10 << ", computed "
                                    << static_cast<int>(computed) << ", type " << c.type
                                    << ", precision " << precision);
    dnn::Descriptor device = describe(library, architecture);
    auto isAmong = [&](dnn::Heuristics heuristics) {
      auto choices = dnnChoices(library, operations, device, heuristics);
      return std::any_of(choices.begin(), choices.end(), isGood);
    };
    EXPECT_TRUE(isAmong(dnn::best) || isAmong(dnn::fallback));
  }
}

void expectPlanned(MtcConvolution c) {
  for (auto [type, precision] : {std::pair(MTC_F32, MTC_CUDA_F32),
                                 {MTC_F32, MTC_CUDA_TF32},
                                 {MTC_F16, MTC_CUDA_F32},
                                 {MTC_BF16, MTC_CUDA_F32}}) {
    mtc_set_convolution_types(&c, type);
    for (Computed computed : {Computed::Output, Computed::Input, Computed::Weights})
      if (planDnnConvolution(c, computed))
        expectPlanned(c, computed, precision);
  }
}

TEST_F(Dnn, KnowsConvolution) {
  for (const mtc::convolution_cases::Case &each : mtc::convolution_cases::cases()) {
    SCOPED_TRACE(each.name);
    expectPlanned(each.c);
  }
}

TEST_F(Dnn, KnowsTheEpiloguesOfConvolution) {
  for (mtc::convolution_cases::Case each : mtc::convolution_cases::cases())
    for (bool hasAddend : {false, true})
      for (MtcActivation activation : {MTC_NO_ACTIVATION, MTC_RELU})
        for (auto [type, precision] : {std::pair(MTC_F32, MTC_CUDA_F32),
                                       {MTC_F32, MTC_CUDA_TF32},
                                       {MTC_BF16, MTC_CUDA_F32}}) {
          SCOPED_TRACE(testing::Message()
                       << each.name << ", addend " << hasAddend << ", activation " << activation);
          mtc_set_convolution_types(&each.c, type);
          each.c.has_bias = 1;
          each.c.has_addend = hasAddend;
          each.c.activation = activation;
          expectPlanned(each.c, Computed::Output, precision);
        }
}

/// One of the library's first three choices must fit the planned workspace.
TEST_F(Dnn, ConvolvesFastInThePlannedWorkspace) {
  const MtcConvolution c = mtc::convolution_cases::plane(8, 1, 64, 64, 32, 3, 1, 1, 1, 1);
  const dnn::Library &library = *dnn::openLibrary();
  for (Computed computed : {Computed::Output, Computed::Input, Computed::Weights}) {
    dnn::OperationGraph graph(library);
    addConvolution(graph, c, computed);
    dnn::Descriptor operations = graph.finish();
    for (const Architecture &architecture : architectures) {
      auto choices = dnnChoices(library, operations, describe(library, architecture));
      ASSERT_GE(choices.size(), 3u);
      EXPECT_TRUE(std::any_of(choices.begin(), choices.begin() + 3, [&](const DnnChoice &choice) {
        return choice.workspaceBytes <= *planDnnConvolution(c, computed);
      }));
    }
  }
}

TEST_F(Dnn, RefusesWhatTheEmulatedOneDoes) {
  for (const DnnConvolutionGraph &each : convolutionGraphs())
    EXPECT_EQ(isTaken(*dnn::openLibrary(), each), each.isRight) << each.name;
}

} // namespace
