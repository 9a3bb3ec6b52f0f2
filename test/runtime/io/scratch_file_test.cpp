// Tests ranges of a scratch file, with and without whole pages.
#include "runtime/abi/program.h"
#include "runtime/io/scratch_file.h"
#include "runtime/support/failure.h"
#include "test/runtime/support.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace mtc::runtime;
using testing::HasSubstr;

namespace {

class ScratchFileTest : public testing::Test {
protected:
  mtc::test::TemporaryFolder folder;
  BouncePages bounce;
};

TEST_F(ScratchFileTest, StartsAsZerosAndHasNoName) {
  ScratchFile file(folder.folder(), 3 * MTC_PAGE + 5);
  EXPECT_EQ(file.bytes(), 4 * MTC_PAGE);
  EXPECT_TRUE(std::filesystem::is_empty(folder.folder()));
  std::vector<char> found(static_cast<size_t>(file.bytes()), 'x');
  file.read(0, found.data(), file.bytes(), bounce);
  EXPECT_EQ(found, std::vector<char>(found.size(), '\0'));
}

TEST_F(ScratchFileTest, KeepsWhatLiesBesideARange) {
  const int64_t bytes = 3 * BouncePages::bytes;
  ScratchFile file(folder.folder(), bytes);
  std::vector<char> expected(static_cast<size_t>(bytes));
  std::mt19937 random(1);
  auto below = [&](int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
  };
  // The memory is page-aligned or unaligned.
  BouncePages pages[3];
  for (int round = 0; round < 300; ++round) {
    const bool isAligned = round % 3 == 0;
    const int64_t limit = round % 5 ? 3 * MTC_PAGE : 2 * BouncePages::bytes;
    std::vector<char> apart(static_cast<size_t>(limit) + 1);
    const int64_t offset =
        isAligned ? below(bytes / MTC_PAGE - 256) * MTC_PAGE : below(bytes - limit);
    const int64_t count =
        1 + below(std::min(isAligned ? BouncePages::bytes : limit, bytes - offset));
    char *memory = isAligned ? pages[round % 2].data() : apart.data() + 1;
    for (int64_t i = 0; i < count; ++i)
      memory[i] = static_cast<char>(random());
    file.write(offset, memory, count, bounce);
    std::copy(memory, memory + count, expected.begin() + offset);
    file.read(offset, memory, count, bounce);
    ASSERT_TRUE(std::equal(memory, memory + count, expected.begin() + offset)) << round;
  }
  std::vector<char> found(static_cast<size_t>(bytes));
  file.read(0, found.data(), bytes, bounce);
  EXPECT_EQ(found, expected);
}

TEST_F(ScratchFileTest, RefusesAFolderThatIsNone) {
  try {
    ScratchFile file(folder.folder() + "/none", MTC_PAGE);
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exitCode(), exitUserInput);
    EXPECT_THAT(failure.what(), HasSubstr("/none: no file can be made there"));
  }
}

TEST_F(ScratchFileTest, SaysHowMuchCannotBeReserved) {
  try {
    ScratchFile file(folder.folder(), int64_t{1} << 60);
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exitCode(), exitSystemFault);
    EXPECT_THAT(failure.what(), HasSubstr("1152921504606846976 bytes"));
    EXPECT_THAT(failure.what(), HasSubstr("are available"));
  }
}

} // namespace
