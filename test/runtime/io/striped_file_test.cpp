// Tests files in several folders, and the comparison of their rate with the plan's.
#include "runtime/io/striped_file.h"
#include "runtime/loop/disk_rate.h"
#include "runtime/support/failure.h"
#include "test/runtime/support.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace mtc::runtime;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class StripedFileTest : public testing::Test {
protected:
  mtc::test::TemporaryFolder folder;
  BouncePages bounce;

  std::vector<std::string> folders(int count) {
    std::vector<std::string> result;
    for (int i = 0; i < count; ++i) {
      result.push_back(folder / std::to_string(i));
      std::filesystem::create_directories(result.back());
    }
    return result;
  }
};

TEST_F(StripedFileTest, HoldsTheSameBytesInAnyNumberOfFolders) {
  const int64_t bytes = 5 * StripedFile::stripe + 3 * MTC_PAGE + 7;
  for (const int count : {1, 2, 3, 9}) {
    const StripedFile file(folders(count), bytes);
    std::vector<char> expected(static_cast<size_t>(bytes));
    std::mt19937 random(1);
    auto below = [&](int64_t limit) {
      return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
    };
    std::vector<char> part;
    int64_t moved = 0;
    for (int round = 0; round < 40; ++round) {
      const int64_t begin = below(bytes), size = 1 + below(bytes - begin);
      part.resize(static_cast<size_t>(size));
      for (char &each : part)
        each = static_cast<char>(random());
      file.write(begin, part.data(), size, bounce);
      std::copy(part.begin(), part.end(), expected.begin() + begin);
      moved += size;
    }
    std::vector<char> found(static_cast<size_t>(bytes));
    file.read(0, found.data(), bytes, bounce);
    EXPECT_EQ(found, expected) << count;
    EXPECT_EQ(file.movedBytes(), moved + bytes);
    EXPECT_GT(file.seconds(), 0);
    EXPECT_GE(file.bytes(), bytes);
    EXPECT_LT(file.bytes(), bytes + StripedFile::stripe + MTC_PAGE);
  }
}

TEST_F(StripedFileTest, RefusesAFolderThatIsNone) {
  std::vector<std::string> two = folders(2);
  two[1] += "/none";
  try {
    StripedFile file(two, 4 * StripedFile::stripe);
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_THAT(failure.what(), HasSubstr("/none: no file can be made there"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(two[0]));
}

TEST_F(StripedFileTest, TakesTheNameOfAFolderThatExistsAsOne) {
  const std::string comma = folder / "a,b";
  std::filesystem::create_directories(comma);
  EXPECT_THAT(foldersOf(comma), ElementsAre(comma));
  EXPECT_THAT(foldersOf("/x,/y"), ElementsAre("/x", "/y"));
  EXPECT_THAT(foldersOf(","), ElementsAre(","));
}

TEST(DiskRate, IsComparedWithThePlan) {
  MtcProgram program{};
  program.plan_json = R"({"transfers": {"bytes": 2147483648, "seconds": 2}})";
  EXPECT_EQ(describeSlowDisk(program, {int64_t{2} << 30, 3.0}), "");
  const std::string slow = describeSlowDisk(program, {int64_t{2} << 30, 8.0});
  EXPECT_THAT(slow,
              HasSubstr("copies 256.00 MiB/s in each direction, and the plan assumes 1.00 GiB/s"));
  EXPECT_THAT(slow, HasSubstr("a step copies 2.00 GiB. Choose"));
  program.plan_json = "{}";
  EXPECT_EQ(describeSlowDisk(program, {int64_t{2} << 30, 8.0}), "");
}

} // namespace
