// A program takes only the weights that it was compiled with for its own.
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

using namespace mtc::test;
using testing::HasSubstr;

namespace {

class Weights : public testing::Test {
protected:
  void SetUp() override {
    writeSampleData(folder, 10);
    variables.assign(mtc_program.variables, mtc_program.variables + mtc_program.variable_count);
    variables[0].initial = MTC_INITIAL_FILE;
    program.variables = variables.data();
    program.weights_file = "w.safetensors";
    program.weights_digest = "c0ffee";
  }

  void writeWeights(const std::string &metadata) {
    writeFile(
        folder / "w.safetensors",
        safetensorsBytes("{" + metadata +
                             R"("fc.weight":{"dtype":"F32","shape":[1,3],"data_offsets":[0,12]}})",
                         bytesOf<float>({1, -2, 0.5})));
  }
  RunResult run(const std::vector<std::string> &more) {
    return runHere(program, withData(folder, more), folder / "sample");
  }

  TemporaryFolder folder;
  MtcProgram program = mtc_program;
  std::vector<MtcVariable> variables;
};

TEST_F(Weights, OfTheSameCompilationAreTaken) {
  writeWeights(R"("__metadata__":{"mtc.digest":"c0ffee"},)");
  RunResult result = run({});
  EXPECT_EQ(result.status, 0) << result.error;
}

TEST_F(Weights, OfAnotherAreRefusedUnlessNamed) {
  for (const char *metadata :
       {R"("__metadata__":{"mtc.digest":"decaf"},)", R"("__metadata__":{"format":"pt"},)", ""}) {
    writeWeights(metadata);
    RunResult result = run({});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.error,
                HasSubstr("these are not the weights that the program was compiled with (digest "));
    EXPECT_THAT(result.error, HasSubstr("expected c0ffee"));
    EXPECT_THAT(result.error, HasSubstr("--weights"));
    EXPECT_EQ(run({"--weights", folder / "w.safetensors"}).status, 0);
  }
}

} // namespace
