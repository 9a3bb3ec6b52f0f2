// Tests the check of a weights file that the compiler makes before it writes a program.
#include "runtime/state/weights_check.h"

#include "runtime/abi/weights_file.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

using namespace mtc::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A program with a matrix and a bias, without values of their own.
class WeightsCheck : public testing::Test {
protected:
  void SetUp() override {
    for (size_t i = 0; i < 2; ++i) {
      variables[i].tensor = tensors[i];
      variables[i].role = MTC_PARAMETER;
      variables[i].initial = MTC_INITIAL_FILE;
      variables[i].of = -1;
    }
    program.variables = variables.data();
    program.variable_count = 2;
  }

  /// Writes tensors of two elements each, with their type and shape.
  std::string check(const std::vector<std::array<std::string, 3>> &given,
                    const std::string &metadata = "") {
    std::string header, data;
    for (const auto &[name, type, shape] : given) {
      const size_t begin = data.size(), bytes = type == "BF16" ? 4 : 8;
      header += (header.empty() ? "" : ",") + ("\"" + name) + R"(":{"dtype":")" + type +
                R"(","shape":)" + shape + R"(,"data_offsets":[)" + std::to_string(begin) + "," +
                std::to_string(begin + bytes) + "]}";
      data += bytes == 8 ? bytesOf<float>({1, 2}) : std::string("\x80\x3f\x00\x40", 4);
    }
    writeFile(folder / "w.safetensors", safetensorsBytes("{" + metadata + header + "}", data));
    std::string all;
    for (const std::string &problem : mtc::runtime::checkWeights(
             {.program = program,
              .path = folder / path,
              .isRequired = [&](uint32_t variable) { return isRequired[variable]; },
              .constant =
                  [&](const std::string &name) -> std::optional<mtc::runtime::ProgramConstant> {
                if (name != "scale")
                  return std::nullopt;
                return mtc::runtime::ProgramConstant{scale,
                                                     reinterpret_cast<const char *>(scaleValues)};
              },
              .isIgnored = [](const std::string &name) { return name == "ignored"; }}))
      all += (all.empty() ? "" : "\n") + problem;
    return all;
  }

  const int64_t matrixDims[2] = {1, 2}, biasDims[1] = {2};
  MtcTensor tensors[2] = {{.name = "fc.weight",
                           .type = MTC_F32,
                           .rank = 2,
                           .dims = matrixDims,
                           .offset = -1,
                           .bytes = 8,
                           .space = 0},
                          {.name = "fc.bias",
                           .type = MTC_F32,
                           .rank = 1,
                           .dims = biasDims,
                           .offset = -1,
                           .bytes = 8,
                           .space = 0}};
  const MtcTensor scale = {.name = "scale",
                           .type = MTC_F32,
                           .rank = 1,
                           .dims = biasDims,
                           .offset = -1,
                           .bytes = 8,
                           .space = 0};
  float scaleValues[2] = {1, 2};
  bool isRequired[2] = {true, true};
  std::vector<MtcVariable> variables = std::vector<MtcVariable>(2);
  MtcProgram program = {};
  std::string path = "w.safetensors";
  TemporaryFolder folder;
};

TEST_F(WeightsCheck, AcceptsMatchingTensors) {
  EXPECT_EQ(check({{"fc.weight", "F32", "[1,2]"}, {"fc.bias", "F32", "[2]"}}), "");
  EXPECT_EQ(check({{"fc.weight", "BF16", "[1,2]"}, {"fc.bias", "F32", "[2]"}}), "");
  EXPECT_EQ(check({{"net.fc.weight", "F32", "[1,2]"}, {"net.fc.bias", "F32", "[2]"}}), "");
}

TEST_F(WeightsCheck, ReportsAllProblems) {
  const std::string problems = check({{"fc.weigth", "F32", "[1,2]"}, {"fc.bias", "F32", "[1,2]"}});
  EXPECT_THAT(problems, HasSubstr("tensor 'fc.weight' is missing; the program expects f32 [1, 2]; "
                                  "did you mean 'fc.weigth'"));
  EXPECT_THAT(problems, HasSubstr("tensor 'fc.bias' is f32 [1, 2]; the program expects f32 [2]"));
  EXPECT_THAT(problems, HasSubstr("the program does not have tensor 'fc.weigth', f32 [1, 2]; did "
                                  "you mean 'fc.weight'?; --ignore-weights 'fc.weigth'"));
  EXPECT_THAT(check({}), HasSubstr("tensor 'fc.bias' is missing"));
}

TEST_F(WeightsCheck, NeedsOnlyRequiredVariables) {
  isRequired[1] = false;
  EXPECT_EQ(check({{"fc.weight", "F32", "[1,2]"}}), "");
  EXPECT_THAT(check({{"fc.weight", "F32", "[1,2]"}, {"fc.bias", "F32", "[1,2]"}}),
              HasSubstr("'fc.bias' is f32 [1, 2]"));
}

TEST_F(WeightsCheck, AcceptsUnusedTensorsOnRequest) {
  isRequired[1] = false;
  const std::array<std::string, 3> weight = {"fc.weight", "F32", "[1,2]"},
                                   more = {"more", "BF16", "[2]"};
  EXPECT_THAT(check({weight, more}), HasSubstr("does not have tensor 'more', bf16 [2]"));
  EXPECT_EQ(check({weight, {"ignored", "F32", "[2]"}}), "");
  EXPECT_EQ(check({weight, {"bn.num_batches_tracked", "F32", "[2]"}}), "");
  // Checkpoints also have optimizer state.
  EXPECT_EQ(check({weight, more},
                  R"("__metadata__":{")" MTC_WEIGHTS_NAMES R"(":")" MTC_MODULE_NAMES R"("},)"),
            "");
}

TEST_F(WeightsCheck, ComparesConstants) {
  isRequired[1] = false;
  const std::array<std::string, 3> weight = {"fc.weight", "F32", "[1,2]"};
  for (const char *type : {"F32", "BF16"})
    EXPECT_EQ(check({weight, {"scale", type, "[2]"}}), "");
  EXPECT_THAT(check({weight, {"scale", "F32", "[1,2]"}}),
              HasSubstr("'scale' is f32 [1, 2]; the program expects f32 [2]"));
  scaleValues[1] = 3;
  for (const char *type : {"F32", "BF16"})
    EXPECT_THAT(check({weight, {"scale", type, "[2]"}}),
                AllOf(HasSubstr("tensor 'scale' is a constant of the program, with another value"),
                      HasSubstr("--ignore-weights 'scale'"), Not(HasSubstr("\n"))));
}

TEST_F(WeightsCheck, ReportsUnreadableFiles) {
  path = "i.index.json";
  writeFile(folder / path, R"({"weight_map":{"fc.bias":"none.safetensors"}})");
  EXPECT_THAT(check({}), AllOf(HasSubstr("none.safetensors"), HasSubstr("No such file")));
}

} // namespace
