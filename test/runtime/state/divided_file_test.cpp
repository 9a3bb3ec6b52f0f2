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

  void add(const char *name, uint32_t type, int64_t elements, int64_t piece) {
    addRuns(name, type, elements, piece, piece, /*parts=*/3, /*stride=*/1);
  }
  /// Adds a variable of which each rank has runs of elements with `piece` elements in total.
  void addRuns(const char *name, uint32_t type, int64_t elements, int64_t piece, int64_t run,
               int64_t parts, int64_t stride) {
    auto &value = values.emplace_back();
    const int64_t size = typeBytes(type);
    value.elements = elements;
    value.piece = piece;
    value.whole = {name, type, 1, &value.elements, 0, elements * size, MTC_DEVICE};
    MtcVariable variable{};
    variable.tensor = {name, type, 1, &value.piece, arena, piece * size, MTC_DEVICE};
    variable.role = MTC_PARAMETER;
    variable.of = -1;
    variable.whole = &value.whole;
    variable.run = run;
    variable.parts = parts;
    variable.stride = stride;
    arena += (piece * size + 63) / 64 * 64;
    variables.push_back(variable);
  }
  MtcProgram program() const {
    MtcProgram result = mtc_program;
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
  int64_t arena = 0;
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
      PieceChecksum expected(StoredVariable(program, i).runBytes());
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

/// Divides "weight" [6, 40] along its second axis, as 2 blocks of 4 parts, and "bias" [40] in one
/// block; "scale" [7] is divided in flat shards.
DividedProgram alongAxes(int64_t stride) {
  DividedProgram program;
  program.addRuns("weight", MTC_F32, 240, 60, /*run=*/5, /*parts=*/4, stride);
  program.addRuns("bias", MTC_F32, 40, 10, /*run=*/10, /*parts=*/4, stride);
  program.addRuns("scale", MTC_F32, 7, 2, /*run=*/2, /*parts=*/4, /*stride=*/1);
  return program;
}

/// Divides the same variables in flat shards among 3 ranks.
DividedProgram inShards() {
  DividedProgram program;
  program.add("weight", MTC_F32, 240, 100);
  program.add("bias", MTC_F32, 40, 16);
  program.add("scale", MTC_F32, 7, 3);
  return program;
}

/// Runs `action` on all ranks of a program with devices whose memory is zeroed.
void onDevices(int count, const DividedProgram &divided,
               const std::function<void(const MtcProgram &, Device &)> &action) {
  const MtcProgram program = divided.program();
  const auto results = runRanks(count, [&](Ranks &ranks) {
    ranks.preparePieces();
    CpuDevice device(program, {"", 1, program.arena_bytes, "", nullptr, &ranks});
    action(program, device);
  });
  EXPECT_THAT(results, Each(Field(&RankResult::error, "")));
}

/// A checkpoint of 4 parts along an axis, each of which two ranks have, is read in flat shards, and
/// vice versa.
TEST(AxisSplitTest, CheckpointsAreReadByOtherNumbersOfRanks) {
  struct Layout {
    int ranks;
    DividedProgram program;
  };
  const Layout layouts[] = {
      {4, alongAxes(1)}, {8, alongAxes(2)}, {8, alongAxes(1)}, {3, inShards()}};
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

TEST(AxisSplitTest, AveragesAreExchangedWithWholeParameters) {
  // Each rank has the whole parameter, and a part of its average.
  DividedProgram divided = alongAxes(1);
  MtcProgram program = divided.program();
  std::vector<MtcVariable> variables(program.variables, program.variables + 1);
  variables.push_back(variables[0]);
  variables[0].tensor = divided.whole(0);
  variables[1].tensor.offset = 1024;
  variables[1].role = MTC_AVERAGE;
  variables[1].of = 0;
  program.variables = variables.data();
  program.variable_count = 2;
  program.arena_bytes = 2048;
  const std::string value = valueOf(divided.whole(0));
  std::string average = value;
  for (char &byte : average)
    byte = static_cast<char>(byte ^ 1);
  const auto results = runRanks(4, [&](Ranks &ranks) {
    ranks.preparePieces();
    CpuDevice device(program, {"", 1, program.arena_bytes, "", nullptr, &ranks});
    auto write = [&](uint32_t variable, const std::string &from) {
      StoredVariable(program, variable).write(device, [&](char *to, int64_t at, int64_t bytes) {
        std::memcpy(to, from.data() + at, static_cast<size_t>(bytes));
      });
    };
    auto expect = [&](uint32_t variable, const std::string &expected) {
      StoredVariable(program, variable)
          .readOwn(device, [&](const char *from, int64_t at, int64_t bytes) {
            EXPECT_EQ(std::memcmp(from, expected.data() + at, static_cast<size_t>(bytes)), 0);
          });
    };
    write(0, value);
    write(1, average);
    const StoredVariable parameter(program, 0);
    parameter.exchange(device, variables[1]);
    expect(0, average);
    expect(1, value);
    parameter.copyTo(device, variables[1]);
    expect(1, average);
    write(1, value);
    parameter.copyFrom(device, variables[1]);
    expect(0, value);
  });
  EXPECT_THAT(results, Each(Field(&RankResult::error, "")));
}

TEST(DivisionTest, OfRunsCoversEachElementOnce) {
  for (const int64_t total : {1, 12, 25, 60})
    for (const int64_t run : {1, 3, 5, 60})
      for (const int64_t parts : {1, 2, 4}) {
        const Division division{run, parts, 2, total};
        std::vector<int> seen(static_cast<size_t>(total));
        for (int64_t part = 0; part < parts; ++part) {
          int64_t own = 0;
          division.forEachRun(part, 0, division.countOf(part), [&](const ElementRun &each) {
            EXPECT_EQ(each.own, own);
            own += each.count;
            for (int64_t i = 0; i < each.count; ++i) {
              EXPECT_EQ(division.partOfElement(each.value + i), part);
              ++seen[static_cast<size_t>(each.value + i)];
            }
          });
          EXPECT_EQ(part < division.ownedParts(), own > 0);
          EXPECT_EQ(division.partOf(division.ownerOf(part)), part);
        }
        EXPECT_THAT(seen, Each(1)) << total << " in runs of " << run << " of " << parts;
      }
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

TEST(PieceChecksumTest, IsOfThePiecesChecksums) {
  std::string bytes(1000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(i * i);
  auto sumOf = [&](int64_t from, int64_t to) {
    Checksum sum;
    sum.add(bytes.data() + from, to - from);
    return sum.value();
  };
  PieceChecksum undivided;
  undivided.add(bytes.data(), 300);
  undivided.add(bytes.data() + 300, 700);
  EXPECT_EQ(undivided.value(), sumOf(0, 1000));
  for (const int64_t piece : {7, 256, 500, 1000, 2000}) {
    PieceChecksum byPiece(piece);
    for (int64_t at = 0; at < 1000; at += piece)
      byPiece.addPiece(sumOf(at, std::min<int64_t>(1000, at + piece)));
    for (const int64_t step : {1, 13, 256, 1000}) {
      PieceChecksum sum(piece);
      sum.add(bytes.data(), 10);
      sum.restart();
      for (int64_t at = 0; at < 1000; at += step)
        sum.add(bytes.data() + at, std::min(step, 1000 - at));
      EXPECT_EQ(sum.value(), byPiece.value()) << piece << " in steps of " << step;
    }
  }
}

TEST(PieceChecksumTest, OfPartsWithSeveralPieces) {
  const std::string bytes = "0123456789ab";
  std::array<Checksum, 2> parts;
  for (size_t at = 0; at < bytes.size(); at += 3)
    parts[at / 3 % 2].add(bytes.data() + at, 3);
  PieceChecksum byPart(3);
  for (const Checksum &part : parts)
    byPart.addPiece(part.value());
  PieceChecksum sum(3, /*parts=*/2);
  sum.add(bytes.data(), 1);
  sum.restart();
  sum.add(bytes.data(), 4);
  sum.add(bytes.data() + 4, 8);
  EXPECT_EQ(sum.value(), byPart.value());
}

} // namespace
