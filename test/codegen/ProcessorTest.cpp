//===- ProcessorTest.cpp - Descriptions of processors -----------------------------------------===//

#include "codegen/host/Processor.h"
#include "runtime/abi/processor.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TargetParser/Host.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mtc;
using testing::Contains;
using testing::HasSubstr;

namespace {

std::string featuresOf(llvm::StringRef cpu) {
  return llvm::cantFail(cpu::describeProcessor(cpu, "")).getFeatureNames();
}

/// Programs suggest a level of x86-64 from their own table of features, so the table must agree
/// with LLVM.
TEST(Processor, LevelsAreThoseOfLlvm) {
#define FEATURE(name, label, level, ...) {name, level},
  const std::vector<std::pair<std::string, int>> all = {MTC_X86_FEATURES(FEATURE)};
#undef FEATURE
  for (int level = 2; level <= 4; ++level) {
    std::string expected;
    for (const auto &[name, first] : all)
      if (first > 0 && first <= level)
        expected += (expected.empty() ? "" : ",") + name;
    EXPECT_EQ(featuresOf("x86-64-v" + std::to_string(level)), expected);
  }
  EXPECT_EQ(featuresOf("x86-64"), "");
}

TEST(Processor, OfThisMachineHasNoFeatureThatProgramsDoNotCheck) {
  auto host = llvm::cantFail(cpu::describeProcessor("host", ""));
  llvm::StringMap<bool> detected = llvm::sys::getHostCPUFeatures();
  const std::string names = host.getFeatureNames();
  for (llvm::StringRef name : llvm::split(names, ','))
    EXPECT_TRUE(name.empty() || detected.lookup(name)) << name.str();
  EXPECT_EQ(host.hasAvx512(), detected.lookup("avx512f"));
  EXPECT_EQ(host.hasAvx512Vbmi(), detected.lookup("avx512vbmi"));
  EXPECT_TRUE(host.isOfHost());
}

TEST(Processor, OfArmIsOfAnotherArchitecture) {
  for (const char *name : {"aarch64", "neoverse-n1", "cortex-a53"}) {
    auto processor = llvm::cantFail(cpu::describeProcessor(name, ""));
    EXPECT_EQ(processor.triple.getArch(), llvm::Triple::aarch64) << name;
    EXPECT_FALSE(processor.isX86());
    EXPECT_TRUE(processor.hasFloat16Conversion());
    EXPECT_FALSE(processor.hasAvx512());
    EXPECT_FALSE(processor.hasAvx512Vbmi());
    EXPECT_EQ(processor.name, name);
  }
  EXPECT_EQ(featuresOf("aarch64"), "");
  EXPECT_THAT(featuresOf("neoverse-n1"), HasSubstr("dotprod"));
  EXPECT_TRUE(llvm::cantFail(cpu::describeProcessor("neoverse-v1", "")).hasBFloat16Conversion());
}

TEST(Processor, UnknownNamesAreRefused) {
  auto refuse = [](llvm::StringRef name) {
    return llvm::toString(cpu::describeProcessor(name, "").takeError());
  };
  EXPECT_THAT(refuse("x86-64-v5"), HasSubstr("--cpu: unknown processor 'x86-64-v5'; expected"));
  EXPECT_THAT(refuse("i686"), HasSubstr("has no 64-bit mode"));
}

TEST(Processor, ListedNamesAreAccepted) {
  std::vector<cpu::ProcessorNames> lists = cpu::listProcessors();
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_THAT(lists[0].names, testing::IsSupersetOf({"x86-64-v2", "x86-64-v4", "sapphirerapids"}));
  EXPECT_THAT(lists[1].names, testing::IsSupersetOf({"aarch64", "neoverse-n1"}));
  for (const cpu::ProcessorNames &list : lists)
    for (const std::string &name : list.names) {
      auto processor = cpu::describeProcessor(name, "");
      EXPECT_TRUE(static_cast<bool>(processor)) << name;
      if (processor)
        EXPECT_EQ(processor->isX86(), list.architecture == "x86-64") << name;
      llvm::consumeError(processor.takeError());
    }
}

} // namespace
