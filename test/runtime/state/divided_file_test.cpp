#include "runtime/state/divided_file.h"

#include "runtime/devices/cpu/cpu_device.h"
#include "runtime/io/checksum.h"
#include "runtime/io/shared_file.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/stored_variable.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "test/runtime/collectives/thread_ranks.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <deque>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::Each;
using testing::Field;
using testing::HasSubstr;

namespace {

/// Tests files of programs whose variables are sharded among ranks.
class DividedProgram {
public:
  DividedProgram() = default;
  DividedProgram(DividedProgram &&) = default; // A copy would refer to the values of the original.

  /// Adds a variable that is divided in flat pieces.
  void add(const char *name, uint32_t type, int64_t elements, int64_t piece, int64_t pieces = 3,
           int64_t stride = 1) {
    add(name, type, {elements, 1, 1, piece, pieces, stride, elements, elements});
  }
  /// Adds a variable with this division.
  void add(const char *name, uint32_t type, const Division &division) {
    auto &value = values.emplace_back();
    const int64_t size = typeBytes(type);
    value.elements = division.total;
    value.piece = division.piece;
    value.whole = {name, type, 1, &value.elements, 0, value.elements * size, MTC_DEVICE};
    MtcVariable variable{};
    variable.tensor = {name, type, 1, &value.piece, arena, value.piece * size, MTC_DEVICE};
    variable.role = MTC_PARAMETER;
    variable.of = -1;
    variable.whole = &value.whole;
    variable.run = division.run;
    variable.parts = division.parts;
    variable.stride = division.stride;
    variable.block = division.block;
    variable.piece = division.piece;
    variable.pieces = division.pieces;
    variable.piece_stride = division.pieceStride;
    arena += (value.piece * size + 63) / 64 * 64;
    variables.push_back(variable);
  }
  /// Moves the variables to the stages of a program with `ranks` ranks, in turn. The third of four
  /// variables is on every stage.
  void divideStages(int64_t ranks, int64_t stages) {
    rankCount = ranks;
    stageCount = stages;
    for (size_t i = 0; i < variables.size(); ++i)
      variables[i].stage = i % 4 == 2 ? -1 : static_cast<int32_t>(static_cast<int64_t>(i) % stages);
  }
  /// Lets each rank of its stage have a variable whole.
  void makeWhole(size_t variable) {
    MtcVariable &made = variables[variable];
    made.tensor = values[variable].whole;
    made.tensor.offset = arena;
    made.whole = nullptr;
    arena += (made.tensor.bytes + 63) / 64 * 64;
  }
  MtcProgram program() const {
    MtcProgram result = mtc_program;
    result.ranks = rankCount;
    result.stages = stageCount;
    result.variables = variables.data();
    result.variable_count = static_cast<uint32_t>(variables.size());
    result.arena_bytes = arena;
    return result;
  }
  const MtcTensor &whole(uint32_t variable) const { return values[variable].whole; }

private:
  struct Value {
    int64_t elements, piece;
    MtcTensor whole;
  };
  std::deque<Value> values;
  std::vector<MtcVariable> variables;
  int64_t arena = 0, rankCount = 1, stageCount = 1;
};

/// Returns the whole value of a variable.
std::string valueOf(const MtcTensor &tensor) {
  std::string value(static_cast<size_t>(tensor.bytes), '\0');
  for (size_t i = 0; i < value.size(); ++i)
    value[i] = static_cast<char>(i * 37 + i / 255 + tensor.name[0]);
  if (tensor.type == MTC_F32)
    for (size_t i = 3; i < value.size(); i += 4)
      value[i] = 0x3f;
  return value;
}

class DividedFileTest : public testing::Test {
protected:
  DividedFileTest() {
    divided.add("weight", MTC_F32, 700, 256);         // shards of 256, 256 and 188 elements
    divided.add("bias", MTC_F32, 10, 256);            // of rank 0 alone
    divided.add("codes", MTC_U8, 50 << 20, 17 << 20); // several requests per shard
  }

  /// Runs `action` on rank 0 with a device that has the values, while the others wait for it.
  std::vector<RankResult> onRanks(int count, const std::function<void(Device &)> &action) {
    const MtcProgram program = divided.program();
    return runRanks(count, [&](Ranks &ranks) {
      ranks.preparePieces();
      CpuDevice device(program, {"", 1, program.arena_bytes, "", nullptr, &ranks});
      for (uint32_t i = 0; i < program.variable_count; ++i) {
        const std::string value = valueOf(divided.whole(i));
        StoredVariable(program, i).write(device, [&](char *to, int64_t at, int64_t bytes) {
          std::memcpy(to, value.data() + at, static_cast<size_t>(bytes));
        });
      }
      prepare(device, ranks.rank());
      if (ranks.isLeader())
        action(device);
      waitForRankZero(program, device);
    });
  }

  TemporaryFolder folder;
  DividedProgram divided;
  std::function<void(Device &, int rank)> prepare = [](Device &, int) {};
};

TEST_F(DividedFileTest, EachRankWritesItsPieces) {
  const MtcProgram program = divided.program();
  const std::string path = folder / "values.safetensors";
  const auto results = onRanks(3, [&](Device &device) {
    std::vector<SafetensorsEntry> entries;
    for (uint32_t i = 0; i < program.variable_count; ++i)
      entries.push_back({divided.whole(i).name, divided.whole(i).type, {*divided.whole(i).dims}});
    SafetensorsWriter writer(path, entries);
    DividedFile file(program, device, writer);
    for (uint32_t i = 0; i < program.variable_count; ++i) {
      const std::string value = valueOf(divided.whole(i));
      PieceChecksum expected(StoredVariable(program, i).pieceSizes());
      expected.add(value.data(), static_cast<int64_t>(value.size()));
      EXPECT_EQ(file.write(i, i, /*refusesNonFinite=*/true), expected.value());
    }
    file.sync();
    writer.commit();
  });
  EXPECT_THAT(results, Each(Field(&RankResult::error, "")));
  const SafetensorsFile file(path);
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const std::string value = valueOf(divided.whole(i));
    std::string found(value.size(), '\0');
    readArray(*file.find(divided.whole(i).name), 0, found.data(),
              static_cast<int64_t>(found.size()));
    EXPECT_TRUE(found == value) << divided.whole(i).name;
  }
}

TEST_F(DividedFileTest, ReportsAnElementOfAnotherRankThatIsNotFinite) {
  const MtcProgram program = divided.program();
  prepare = [&](Device &device, int rank) {
    if (rank == 2)
      device.write(addressOf(program.variables[0].tensor), 4, [](char *to, int64_t, int64_t bytes) {
        const float value = std::nanf("");
        std::memcpy(to, &value, static_cast<size_t>(bytes));
      });
  };
  const auto results = onRanks(3, [&](Device &device) {
    SafetensorsWriter writer(folder / "values.safetensors", {{"weight", MTC_F32, {700}}});
    DividedFile file(program, device, writer);
    EXPECT_EQ(file.write(0, 0, /*refusesNonFinite=*/true), std::nullopt);
    EXPECT_NE(file.write(0, 0, /*refusesNonFinite=*/false), std::nullopt);
  });
  EXPECT_THAT(results, Each(Field(&RankResult::error, "")));
  EXPECT_EQ(listFolder(folder.folder()), std::vector<std::string>()) << "nothing is left";
}

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

/// Runs `action` on all ranks of a program with devices whose memory is zeroed.
void onDevices(int count, const DividedProgram &divided,
               const std::function<void(const MtcProgram &, Device &)> &action) {
  const MtcProgram program = divided.program();
  const auto results = runRanks(count, [&](Ranks &ranks) {
    if (program.stages > 1)
      ranks.setStages(program.stages, 0);
    ranks.preparePieces();
    CpuDevice device(program, {"", 1, program.arena_bytes, "", nullptr, &ranks});
    action(program, device);
  });
  EXPECT_THAT(results, Each(Field(&RankResult::error, "")));
}

/// A checkpoint of 4 parts along an axis, each of which two ranks have or share, is read in flat
/// shards, and vice versa.
TEST(AxisSplitTest, CheckpointsAreReadByOtherNumbersOfRanks) {
  struct Layout {
    int ranks;
    DividedProgram program;
  };
  const Layout layouts[] = {{4, alongAxes(1)},      {8, alongAxes(2)}, {8, alongAxes(1)},
                            {8, inPiecesOfParts()}, {3, inShards()},   {2, ofStages(1)},
                            {6, ofStages(3)}};
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

/// Writes and compares elements of variables of a rank.
struct RankValues {
  const MtcProgram &program;
  Device &device;

  void write(uint32_t variable, const std::string &from) const {
    StoredVariable(program, variable).write(device, [&](char *to, int64_t at, int64_t bytes) {
      std::memcpy(to, from.data() + at, static_cast<size_t>(bytes));
    });
  }
  void expect(uint32_t variable, const std::string &expected) const {
    int64_t compared = 0;
    StoredVariable(program, variable)
        .readOwn(device, [&](const char *from, int64_t at, int64_t bytes) {
          EXPECT_EQ(std::memcmp(from, expected.data() + at, static_cast<size_t>(bytes)), 0)
              << "of rank " << device.ranks()->rank();
          compared += bytes;
        });
    EXPECT_GT(compared, 0);
  }
};

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

TEST(SharedFileTest, IsOnlyTheFileOfThisNumber) {
  TemporaryFolder folder;
  writeFile(folder / "file", "0123456789");
  const uint64_t number = fileNumber(folder / "file");
  EXPECT_EQ(SharedFile::open(folder / "other", number), nullptr);
  EXPECT_EQ(SharedFile::open(folder / "file", number + 1), nullptr);
  const auto file = SharedFile::open(folder / "file", number);
  ASSERT_NE(file, nullptr);
  file->write(4, "ab", 2);
  file->sync();
  EXPECT_EQ(readFile(folder / "file"), "0123ab6789");
  const FileSizeLimit limit(10);
  try {
    file->write(8, "abcd", 4);
    FAIL() << "a write beyond the limit";
  } catch (const Failure &failure) {
    EXPECT_THAT(failure.what(), HasSubstr("file: cannot be written: "));
    EXPECT_EQ(failure.exitCode(), exitSystemFault);
  }
}

} // namespace
