// Tests the decision whether a processor can run the code of a program.
#include "runtime/devices/cpu/processor.h"

#include "runtime/abi/processor.h"
#include "runtime/support/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

using namespace mtc::runtime;
using testing::HasSubstr;

namespace {

using Features = std::set<std::string>;

#define FEATURE(name, label, level, ...) {name, level},
const std::vector<std::pair<std::string, int>> all = {MTC_X86_FEATURES(FEATURE)};
#undef FEATURE

/// Returns the features of LLVM's processor x86-64-v`level`.
Features ofLevel(int level) {
  Features features;
  for (const auto &[name, first] : all)
    if (first > 0 && first <= level)
      features.insert(name);
  return features;
}

std::string joined(const Features &features) {
  std::string text;
  for (const std::string &name : features)
    text += (text.empty() ? "" : ",") + name;
  return text;
}

std::string refuse(const std::string &processor, const Features &required,
                   const Features &present) {
  return refuseProcessor(processor, joined(required),
                         [&](const std::string &name) { return present.count(name) > 0; });
}

TEST(Processor, RunsWhatItHas) {
  EXPECT_EQ(refuse("x86-64", {}, {}), "");
  for (int level = 1; level <= 4; ++level)
    for (int other = level; other <= 4; ++other)
      EXPECT_EQ(refuse("x86-64-v2", ofLevel(level), ofLevel(other)), "") << level << other;
}

TEST(Processor, NamesWhatIsMissing) {
  EXPECT_EQ(refuse("x86-64-v3", ofLevel(3), ofLevel(2)),
            "the program uses AVX, AVX2, BMI1, BMI2, F16C, FMA, LZCNT and MOVBE, which this "
            "processor lacks; it was compiled with --cpu x86-64-v3. Compile it with --cpu "
            "x86-64-v2");
  Features almost = ofLevel(3);
  almost.erase("fma");
  EXPECT_EQ(refuse("host", ofLevel(3), almost),
            "the program uses FMA, which this processor lacks; it was compiled for the processor "
            "of another machine. Compile it with --cpu x86-64-v2");
  almost.erase("f16c");
  EXPECT_THAT(refuse("haswell", ofLevel(3), almost), HasSubstr("uses F16C and FMA, which"));
}

TEST(Processor, SuggestsTheHighestLevel) {
  const Features bf16 = {"avx512bf16"};
  for (int level = 1; level <= 4; ++level)
    EXPECT_THAT(
        refuse("cooperlake", bf16, ofLevel(level)),
        testing::EndsWith(level == 1 ? "--cpu x86-64" : "--cpu x86-64-v" + std::to_string(level)));
}

TEST(Processor, LeavesNoUnknownFeatureUnchecked) {
  EXPECT_THAT(refuse("host", {"avx1024"}, ofLevel(4)), HasSubstr("uses avx1024, which"));
  EXPECT_FALSE(processorHas("avx1024"));
}

/// The compiler's library detects features with its own code.
TEST(Processor, DetectsTheMachine) {
  EXPECT_EQ(processorHas("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(processorHas("fma"), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(processorHas("sse4.2"), __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(processorHas("avx512f"), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(processorHas("avx512bf16"), __builtin_cpu_supports("avx512bf16") != 0);
  EXPECT_EQ(processorHas("avx512vbmi2"), __builtin_cpu_supports("avx512vbmi2") != 0);
  EXPECT_EQ(processorHas("fma4"), __builtin_cpu_supports("fma4") != 0);
}

TEST(Processor, EndsTheRun) {
  EXPECT_NO_THROW(checkProcessor({.processor = "x86-64-v9", .features = ""}));
  try {
    checkProcessor({.processor = "x86-64-v9", .features = "avx1024"});
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exitCode(), exitSystemFault);
  }
}

} // namespace
