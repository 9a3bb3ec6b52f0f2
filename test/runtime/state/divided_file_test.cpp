#include "runtime/state/divided_file.h"

#include "runtime/io/checksum.h"
#include "runtime/io/shared_file.h"
#include "runtime/support/failure.h"
#include "test/runtime/state/divided_program.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::Each;
using testing::Field;
using testing::HasSubstr;

namespace {

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
