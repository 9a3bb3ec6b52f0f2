// Tests the inputs of a program with pipeline stages, of which each stage reads some.
#include "runtime/data/dataset.h"
#include "runtime/devices/device.h"
#include "test/runtime/support.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

using namespace mtc::runtime;
using namespace mtc::test;

namespace {

/// The inputs of a language model whose labels are derived from tokens and a mask.
class StageInputs : public testing::Test {
protected:
  StageInputs() {
    program.loss = "causal-lm";
    program.batch = 2;
    program.accumulation.micro_steps = 1;
    program.input_count = 3;
    program.inputs = inputs;
    writeFile(folder / "ids.npy",
              npyBytes("<i8", "(2, 3)", bytesOf(std::vector<int64_t>{1, 2, 0, 4, 5, 6})));
    writeFile(folder / "mask.npy",
              npyBytes("|b1", "(2, 3)", bytesOf(std::vector<uint8_t>{1, 1, 0, 1, 1, 1})));
  }

  /// Loads rows as a stage that does not read the inputs whose offset is -1.
  void load(std::vector<int64_t> rows) {
    std::memset(arena, 0x77, sizeof arena);
    Dataset data(program, {{"ids", folder / "ids.npy"}, {"attention_mask", folder / "mask.npy"}},
                 false);
    data.load({std::move(rows)}, inputBuffers(program, arena));
  }
  std::vector<int64_t> loaded(int64_t offset) const {
    std::vector<int64_t> values(6);
    std::memcpy(values.data(), arena + offset, sizeof(int64_t) * values.size());
    return values;
  }

  const int64_t dims[2] = {2, 3};
  MtcInput inputs[3] = {
      {{"ids", MTC_I64, 2, dims, 0, 48, MTC_DEVICE}, 0, 0, 0, 0, -1, 0, 50, -100, ""},
      {{"labels", MTC_I64, 2, dims, 64, 48, MTC_DEVICE}, 1, 0, 0, 0, 0, 0, 50, -100, ""},
      {{"attention_mask", MTC_BOOL, 2, dims, 112, 6, MTC_DEVICE}, 0, 0, 0, 0, -1, 0, 0, 0, ""}};
  MtcProgram program{};
  TemporaryFolder folder;
  alignas(64) char arena[128];
  const std::vector<int64_t> untouched = std::vector<int64_t>(6, 0x7777777777777777);
};

TEST_F(StageInputs, LabelsAreDerivedFromTokensOfAnotherStage) {
  inputs[0].tensor.offset = inputs[2].tensor.offset = -1;
  load({0, 1});
  EXPECT_EQ(loaded(0), untouched);
  EXPECT_EQ(loaded(64), (std::vector<int64_t>{2, -100, -100, 5, 6, -100}));
}

TEST_F(StageInputs, LabelsOfAnotherStageAreLeftOut) {
  inputs[1].tensor.offset = -1;
  load({1, 0});
  EXPECT_EQ(loaded(0), (std::vector<int64_t>{4, 5, 6, 1, 2, 0}));
  EXPECT_EQ(loaded(64), untouched);
}

} // namespace
