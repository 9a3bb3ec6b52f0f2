// Checks the declarations of driver.h, nccl.h and blas_lt.h with the libraries themselves. The test
// needs neither a GPU nor a driver.
#include "runtime/collectives/nccl/nccl.h"
#include "runtime/devices/cuda/blas_lt.h"
#include "runtime/devices/cuda/native/shared_library.h"
#include "runtime/support/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

using namespace mtc::runtime;
using namespace mtc::runtime::cuda;
using namespace mtc::runtime::gpu;
using testing::HasSubstr;

namespace {

TEST(SharedLibrary, SaysWhereItWasLookedFor) {
  setenv("MTC_CUDA_PATH", "/nowhere/a:/nowhere/b", 1);
  SharedLibrary library({"libnone.so.2", "libnone.so.1"});
  unsetenv("MTC_CUDA_PATH");
  EXPECT_FALSE(library.isOpen());
  EXPECT_EQ(library.find("f"), nullptr);
  EXPECT_THAT(library.searched(),
              HasSubstr("libnone.so.2, libnone.so.1 by the loader's rules, in /nowhere/a, "
                        "in /nowhere/b"));
}

TEST(SharedLibrary, IsFoundAsWheelsHaveIt) {
  namespace fs = std::filesystem;
  fs::path root = fs::temp_directory_path() / ("mtc-wheel-" + std::to_string(getpid()));
  fs::path folder = root / "nvidia" / "cublas" / "lib";
  fs::create_directories(folder);
  fs::create_symlink("/lib/x86_64-linux-gnu/libm.so.6", folder / "libmtc-test.so.1");
  setenv("MTC_CUDA_PATH", root.c_str(), 1);
  SharedLibrary library({"libmtc-test.so.1"});
  unsetenv("MTC_CUDA_PATH");
  EXPECT_EQ(library.isOpen(), fs::exists("/lib/x86_64-linux-gnu/libm.so.6"));
  fs::remove_all(root);
}

TEST(Nccl, TakesWhatItIsTold) {
  const nccl::Library *found = nullptr;
  try {
    found = &nccl::openLibrary();
  } catch (const Failure &failure) {
    EXPECT_THAT(failure.what(), HasSubstr("nvidia-nccl"));
    GTEST_SKIP() << failure.what();
  }
  EXPECT_EQ(found->beginGroup(), nccl::done);
  EXPECT_EQ(found->endGroup(), nccl::done);
  EXPECT_THAT(found->statusText(nccl::invalidArgument), HasSubstr("invalid argument"));
  EXPECT_THAT(found->statusText(nccl::remoteFailed), HasSubstr("remote process"));
  EXPECT_EQ(found->nameGroup, nullptr);
}

TEST(BlasLt, TakesWhatItIsTold) {
  const BlasLt *found = nullptr;
  try {
    found = &openBlasLt();
  } catch (const Failure &failure) {
    EXPECT_THAT(failure.what(), HasSubstr("nvidia-cublas"));
    GTEST_SKIP() << failure.what();
  }
  const BlasLt &blas = *found;
  for (ScalarType type : {blasF32, blasF64, blasF16, blasBf16}) {
    MatrixLayoutHandle layout = nullptr;
    ASSERT_EQ(blas.createLayout(&layout, type, 5, 3, 8), 0);
    const int32_t count = 4;
    const int64_t stride = 24;
    EXPECT_EQ(blas.setLayout(layout, batchCount, &count, sizeof count), 0);
    EXPECT_EQ(blas.setLayout(layout, batchStride, &stride, sizeof stride), 0);
    EXPECT_EQ(blas.destroyLayout(layout), 0);
  }
  for (ComputeType compute : {computeF32, computeTf32, computeF64}) {
    MatmulDescription description = nullptr;
    ASSERT_EQ(
        blas.createDescription(&description, compute, compute == computeF64 ? blasF64 : blasF32),
        0);
    const Address bias = 256;
    const int64_t stride = 3;
    EXPECT_EQ(blas.setDescription(description, transposeA, &transposedOperand, 4), 0);
    EXPECT_EQ(blas.setDescription(description, transposeB, &transposedOperand, 4), 0);
    for (uint32_t kind : {uint32_t{biasEpilogue}, biasEpilogue | geluEpilogue,
                          biasEpilogue | geluEpilogue | auxiliaryEpilogue,
                          geluGradientEpilogue | auxiliaryEpilogue | biasGradientEpilogue,
                          uint32_t{biasGradientAEpilogue}, uint32_t{biasGradientBEpilogue}})
      EXPECT_EQ(blas.setDescription(description, epilogue, &kind, sizeof kind), 0);
    EXPECT_EQ(blas.setDescription(description, biasPointer, &bias, sizeof bias), 0);
    EXPECT_EQ(blas.setDescription(description, biasBatchStride, &stride, sizeof stride), 0);
    const int64_t leading = 8;
    EXPECT_EQ(blas.setDescription(description, auxiliaryPointer, &bias, sizeof bias), 0);
    EXPECT_EQ(blas.setDescription(description, auxiliaryLeading, &leading, sizeof leading), 0);
    EXPECT_EQ(blas.setDescription(description, auxiliaryBatchStride, &leading, sizeof leading), 0);
    EXPECT_EQ(blas.destroyDescription(description), 0);
  }
  MatmulPreference preference = nullptr;
  ASSERT_EQ(blas.createPreference(&preference), 0);
  const uint64_t bytes = 1 << 20;
  const uint32_t alignment = 64;
  EXPECT_EQ(blas.setPreference(preference, reductionSchemes, &reduceApart, 4), 0);
  EXPECT_EQ(blas.setPreference(preference, maxWorkspace, &bytes, sizeof bytes), 0);
  for (PreferenceAttribute attribute : {alignmentA, alignmentB, alignmentC, alignmentD})
    EXPECT_EQ(blas.setPreference(preference, attribute, &alignment, sizeof alignment), 0);
  EXPECT_EQ(blas.destroyPreference(preference), 0);
  EXPECT_THAT(blas.statusText(15), HasSubstr("not supported"));
}

} // namespace
