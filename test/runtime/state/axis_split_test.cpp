// Tests variables that are divided along axes, in flat shards and among pipeline stages.
#include "runtime/state/averages.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/divided_file.h"
#include "runtime/state/stored_variable.h"
#include "test/runtime/state/divided_program.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::Each;
using testing::Field;

namespace {

/// Elements of "table", whose parts have many runs and are sent in several messages.
constexpr int64_t tableElements = 4 * 300 * 4500;

/// Divides "weight" [6, 40] along its second axis, as 2 blocks of 4 parts, "bias" [40] in one
/// block, and "classes" [5, 7] along its second axis, with padding of 1; "scale" [7] is divided in
/// flat shards.
DividedProgram alongAxes(int64_t stride) {
  DividedProgram program;
  program.add("weight", MTC_F32, {5, 4, stride, 60, 1, 1, 240, 20});
  program.add("bias", MTC_F32, {10, 4, stride, 10, 1, 1, 40, 40});
  program.add("classes", MTC_F32, {2, 4, stride, 10, 1, 1, 35, 7});
  program.add("scale", MTC_F32, 7, 2, /*pieces=*/4);
  program.add("table", MTC_U8, {300, 4, stride, tableElements / 4, 1, 1, tableElements, 1200});
  return program;
}

/// Divides the parts of 4 ranks again in 2 pieces, whose ranks have a stride of 4.
DividedProgram inPiecesOfParts() {
  DividedProgram program;
  program.add("weight", MTC_F32, {5, 4, 1, 32, 2, 4, 240, 20});
  program.add("bias", MTC_F32, {10, 4, 1, 8, 2, 4, 40, 40});
  program.add("classes", MTC_F32, {2, 4, 1, 5, 2, 4, 35, 7});
  program.add("scale", MTC_F32, 7, 4, /*pieces=*/2, /*stride=*/4);
  program.add("table", MTC_U8, {300, 4, 1, tableElements / 8, 2, 4, tableElements, 1200});
  return program;
}

/// Divides the same variables in flat shards among 3 ranks.
DividedProgram inShards() {
  DividedProgram program;
  program.add("weight", MTC_F32, 240, 100);
  program.add("bias", MTC_F32, 40, 16);
  program.add("classes", MTC_F32, 35, 12);
  program.add("scale", MTC_F32, 7, 3);
  program.add("table", MTC_U8, tableElements, tableElements / 3);
  return program;
}

/// Lets one rank have the parts of all, with padding of "classes" as for 4 parts.
DividedProgram onOneRank() {
  DividedProgram program;
  program.add("weight", MTC_F32, 240, 240, 1);
  program.add("bias", MTC_F32, 40, 40, 1);
  program.add("classes", MTC_F32, {8, 1, 1, 40, 1, 1, 35, 7});
  program.add("scale", MTC_F32, 7, 7, 1);
  program.add("table", MTC_U8, tableElements, tableElements, 1);
  return program;
}

/// Has a table that each rank of the second of 2 stages has whole, and divides the other variables
/// in shards among the ranks of a stage.
DividedProgram ofStages(int64_t ranksOfStage) {
  DividedProgram program;
  const auto piece = [&](int64_t elements) { return (elements + ranksOfStage - 1) / ranksOfStage; };
  program.add("weight", MTC_F32, 240, piece(240), ranksOfStage);
  program.add("bias", MTC_F32, 40, piece(40), ranksOfStage);
  program.add("classes", MTC_F32, 35, piece(35), ranksOfStage);
  program.add("scale", MTC_F32, 7, 7, 1);
  program.add("table", MTC_U8, tableElements, tableElements, 1);
  program.makeWhole(3);
  program.makeWhole(4);
  program.divideStages(2 * ranksOfStage, 2);
  return program;
}

/// A checkpoint of 4 parts along an axis, each of which two ranks have or share, is read in flat
/// shards, and vice versa.
TEST(AxisSplitTest, CheckpointsAreReadByOtherNumbersOfRanks) {
  struct Layout {
    int ranks;
    DividedProgram program;
  };
  const Layout layouts[] = {{1, onOneRank()},  {4, alongAxes(1)},      {8, alongAxes(2)},
                            {8, alongAxes(1)}, {8, inPiecesOfParts()}, {3, inShards()},
                            {2, ofStages(1)},  {6, ofStages(3)}};
  for (const Layout &writer : layouts)
    for (const Layout &reader : layouts) {
      TemporaryFolder folder;
      onDevices(writer.ranks, writer.program, [&](const MtcProgram &program, Device &device) {
        for (uint32_t i = 0; i < program.variable_count; ++i) {
          const std::string value = valueOf(writer.program.whole(i));
          StoredVariable(program, i).write(device, [&](char *to, int64_t at, int64_t bytes) {
            std::memcpy(to, value.data() + at, static_cast<size_t>(bytes));
          });
        }
        if (device.ranks()->isLeader())
          CheckpointFolder(folder / "saved").save(program, device, {}, FiniteVariables());
        waitForRankZero(program, device);
      });
      onDevices(reader.ranks, reader.program, [&](const MtcProgram &program, Device &device) {
        Checkpoint(program, folder / "saved").load(program, device);
        for (uint32_t i = 0; i < program.variable_count; ++i) {
          const std::string value = valueOf(reader.program.whole(i));
          StoredVariable(program, i)
              .readOwn(device, [&](const char *from, int64_t at, int64_t bytes) {
                EXPECT_EQ(std::memcmp(from, value.data() + at, static_cast<size_t>(bytes)), 0)
                    << reader.program.whole(i).name << " of rank " << device.ranks()->rank();
              });
          std::string whole;
          if (device.ranks()->isLeader())
            StoredVariable(program, i)
                .read(device, [&](const char *from, int64_t at, int64_t bytes) {
                  EXPECT_EQ(static_cast<size_t>(at), whole.size());
                  whole.append(from, static_cast<size_t>(bytes));
                });
          waitForRankZero(program, device);
          if (device.ranks()->isLeader())
            EXPECT_TRUE(whole == value) << reader.program.whole(i).name;
        }
      });
    }
}

TEST(AxisSplitTest, AveragesAreExchangedWithParametersThatAreDividedLess) {
  const MtcVariable whole = {}, part = alongAxes(1).program().variables[0],
                    piece = inPiecesOfParts().program().variables[0];
  struct Case {
    int ranks;
    const MtcVariable &parameter, &average;
  };
  for (const Case &each : {Case{4, whole, part}, Case{8, whole, piece}, Case{8, part, piece}}) {
    DividedProgram divided = alongAxes(1);
    MtcProgram program = divided.program();
    auto variableOf = [&](const MtcVariable &division, int64_t offset) {
      MtcVariable variable = program.variables[0];
      variable.tensor = divided.whole(0);
      variable.tensor.offset = offset;
      variable.whole = division.whole ? &divided.whole(0) : nullptr;
      variable.run = division.run;
      variable.parts = division.parts;
      variable.stride = division.stride;
      variable.block = division.block;
      variable.piece = division.piece;
      variable.pieces = division.pieces;
      variable.piece_stride = division.piece_stride;
      return variable;
    };
    std::array variables{variableOf(each.parameter, 0), variableOf(each.average, 1024)};
    variables[1].role = MTC_AVERAGE;
    variables[1].of = 0;
    program.variables = variables.data();
    program.variable_count = 2;
    program.arena_bytes = 2048;
    const std::string value = valueOf(divided.whole(0));
    std::string average = value;
    for (char &byte : average)
      byte = static_cast<char>(byte ^ 1);
    const auto results = runRanks(each.ranks, [&](Ranks &ranks) {
      ranks.preparePieces();
      CpuDevice device(program, {"", 1, program.arena_bytes, "", nullptr, &ranks});
      const RankValues values{program, device};
      values.write(0, value);
      values.write(1, average);
      const StoredVariable parameter(program, 0);
      parameter.exchange(device, variables[1]);
      values.expect(0, average);
      values.expect(1, value);
      parameter.copyTo(device, variables[1]);
      values.expect(1, average);
      values.write(1, value);
      parameter.copyFrom(device, variables[1]);
      values.expect(0, value);
    });
    EXPECT_THAT(results, Each(Field(&RankResult::error, "")));
  }
}

/// Ranks of other stages have neither the parameter nor its average, whose shards the ranks of its
/// stage gather.
TEST(AxisSplitTest, AveragesOfAStageAreExchangedOnItsRanks) {
  for (const bool isShard : {false, true}) {
    DividedProgram divided;
    divided.add("weight", MTC_F32, 240, 240, 1);
    divided.add("weight.average", MTC_F32, 240, 120, 2);
    divided.makeWhole(0);
    if (!isShard)
      divided.makeWhole(1);
    divided.divideStages(4, 2);
    MtcProgram program = divided.program();
    std::array variables{program.variables[0], program.variables[1]};
    variables[0].stage = variables[1].stage = 1;
    variables[1].role = MTC_AVERAGE;
    variables[1].of = 0;
    program.variables = variables.data();
    const std::string value = valueOf(divided.whole(0));
    std::string average = value;
    for (char &byte : average)
      byte = static_cast<char>(byte ^ 1);
    const auto results = runRanks(4, [&](Ranks &ranks) {
      ranks.preparePieces();
      CpuDevice device(program, {"", 1, program.arena_bytes, "", nullptr, &ranks});
      const RankValues values{program, device};
      values.write(0, value);
      values.write(1, average);
      useAverages(program, device);
      if (ranks.rank() >= 2)
        return values.expect(0, average);
      // The memory of a rank of stage 0, which has no variable there, is unchanged.
      device.read(0, program.arena_bytes, [&](const char *from, int64_t, int64_t bytes) {
        EXPECT_EQ(std::count(from, from + bytes, 0), bytes);
      });
    });
    EXPECT_THAT(results, Each(Field(&RankResult::error, "")));
  }
}

/// Each rank has the upper halves of its part, and the lower ones of a piece of it.
TEST(AxisSplitTest, LowerHalvesAreDividedFurther) {
  DividedProgram parts, pieces;
  parts.add("weight", MTC_BF16, {5, 4, 1, 60, 1, 1, 240, 20});
  pieces.add("weight.low", MTC_I16, {5, 4, 1, 32, 2, 4, 240, 20});
  std::array variables{parts.program().variables[0], pieces.program().variables[0]};
  variables[1].tensor.offset = 256;
  variables[1].role = MTC_LOW_HALF;
  variables[1].of = 0;
  MtcProgram program = parts.program();
  program.variables = variables.data();
  program.variable_count = 2;
  program.arena_bytes = 512;
  MtcTensor all = parts.whole(0);
  all.type = MTC_F32;
  all.bytes *= 2;
  const std::string value = valueOf(all);
  TemporaryFolder folder;
  auto onRanks = [&](const std::function<void(const RankValues &)> &action) {
    const auto results = runRanks(8, [&](Ranks &ranks) {
      ranks.preparePieces();
      CpuDevice device(program, {"", 1, program.arena_bytes, "", nullptr, &ranks});
      action({program, device});
    });
    EXPECT_THAT(results, Each(Field(&RankResult::error, "")));
  };
  onRanks([&](const RankValues &values) {
    values.write(0, value);
    values.expect(0, value);
    if (values.device.ranks()->isLeader())
      CheckpointFolder(folder / "saved").save(program, values.device, {}, FiniteVariables());
    waitForRankZero(program, values.device);
  });
  onRanks([&](const RankValues &values) {
    Checkpoint(program, folder / "saved").load(program, values.device);
    values.expect(0, value);
  });
}

} // namespace
