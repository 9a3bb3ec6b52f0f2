// Tests that prefetched batches have the right samples, and that errors are reported at the right
// step.
#include "runtime/devices/cpu/cpu_device.h"
#include "runtime/loop/batch_reader.h"
#include "runtime/support/failure.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::HasSubstr;

namespace {

class Batches : public testing::Test {
protected:
  TemporaryFolder folder;
  CpuDevice device{mtc_program, {"", 2, mtc_program.arena_bytes, ""}};

  void SetUp() override { writeSampleData(folder, 10); }

  Dataset data() {
    return Dataset(mtc_program, {{"x", folder / "x.npy"}, {"target", folder / "target.npy"}},
                   false);
  }
  /// Checks that the inputs contain these rows.
  void expectRows(const std::vector<int64_t> &rows) {
    std::vector<char *> inputs = device.batchBuffers(/*ahead=*/false);
    auto *x = reinterpret_cast<const float *>(inputs[0]);
    auto *target = reinterpret_cast<const float *>(inputs[1]);
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(target[i], sampleTarget(rows[i])) << i;
      for (int64_t feature = 0; feature < 3; ++feature)
        EXPECT_EQ(x[3 * i + static_cast<size_t>(feature)], sampleX(rows[i], feature)) << i;
    }
  }
};

TEST_F(Batches, AreThoseAskedForWhateverWasReadAhead) {
  Dataset data = this->data();
  BatchReader reader(mtc_program, device);
  const Batch first = {{0, 1, 2, 3}}, second = {{7, 3, 9, 9}}, third = {{4, 5, 6, 8}};
  reader.load(data, first, second);
  expectRows(first.rows); // the next batch is prefetched into another buffer
  reader.load(data, second, first);
  expectRows(second.rows);
  reader.load(data, third, {}); // another batch than announced
  expectRows(third.rows);
  reader.load(data, first, {});
  expectRows(first.rows);
}

TEST_F(Batches, ReadAheadOfOneDataSetAreNotThoseOfAnother) {
  Dataset data = this->data();
  writeFile(folder / "other.npy", npyBytes("<f4", "(10, 3)", std::string(120, '\0')));
  Dataset other(mtc_program, {{"x", folder / "other.npy"}, {"target", folder / "target.npy"}},
                false);
  BatchReader reader(mtc_program, device);
  const Batch first = {{0, 1, 2, 3}}, second = {{4, 5, 6, 7}};
  reader.load(other, first, second);
  reader.load(data, second, first);
  expectRows(second.rows);
  reader.load(other, first, {});
  reader.load(data, first, {}); // as announced, but a batch of the other set was read between
  expectRows(first.rows);
}

TEST_F(Batches, WithoutAStagingPlaceNothingIsReadAhead) {
  MtcProgram program = mtc_program;
  program.staging = 0;
  Dataset data = this->data();
  BatchReader reader(program, device);
  reader.load(data, {{0, 1, 2, 3}}, {{4, 5, 6, 7}});
  device.read(mtc_program.staging, 128, [](const char *from, int64_t, int64_t bytes) {
    EXPECT_EQ(std::string(from, static_cast<size_t>(bytes)), std::string(128, '\0'));
  });
  reader.load(data, {{4, 5, 6, 7}}, {});
  expectRows({4, 5, 6, 7});
}

TEST_F(Batches, AMistakeBelongsToItsBatch) {
  Dataset data = this->data();
  std::filesystem::resize_file(folder / "x.npy", std::filesystem::file_size(folder / "x.npy") - 12);
  BatchReader reader(mtc_program, device);
  reader.load(data, {{0, 1, 2, 3}}, {{6, 7, 8, 9}}); // row 9 does not exist any more
  expectRows({0, 1, 2, 3});
  try {
    reader.load(data, {{6, 7, 8, 9}}, {});
    FAIL() << "row 9 was read";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exitCode(), exitUserInput);
    EXPECT_THAT(failure.what(), HasSubstr("x.npy: ends at byte"));
  }
  reader.load(data, {{0, 1, 2, 3}}, {{6, 7, 8, 9}});
  reader.load(data, {{4, 5, 6, 7}}, {{6, 7, 8, 9}}); // never requested: no error
  expectRows({4, 5, 6, 7});
}

TEST_F(Batches, ReadAheadTrainToTheSameBits) {
  MtcProgram without = mtc_program;
  without.staging = 0;
  std::vector<std::string> flags = {"--steps", "9", "--export", folder / "staged.onnx"};
  ASSERT_EQ(runHere(mtc_program, withData(folder, flags)).status, 0);
  flags.back() = folder / "plain.onnx";
  ASSERT_EQ(runHere(without, withData(folder, flags)).status, 0);
  EXPECT_EQ(readFile(folder / "staged.onnx"), readFile(folder / "plain.onnx"));
}

} // namespace
