// Tests the division of rows into batches of similar lengths.
#include "runtime/data/grouped_batches.h"
#include "runtime/support/failure.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

TEST(RowGroups, FindsTheRowsOfAGroup) {
  RowGroups groups(3);
  std::vector<std::vector<int64_t>> wanted(3);
  for (int64_t row = 0; row < 5000; ++row) {
    // Group 2 has no row in most blocks.
    const size_t group = row % 1777 == 5 ? 2 : static_cast<size_t>(row * row % 7 < 3);
    groups.add(group);
    wanted[group].push_back(row);
  }
  for (size_t group = 0; group < 3; ++group) {
    ASSERT_EQ(groups.count(group), static_cast<int64_t>(wanted[group].size()));
    for (size_t i = 0; i < wanted[group].size(); ++i)
      ASSERT_EQ(groups.row(group, static_cast<int64_t>(i)), wanted[group][i]);
  }
  EXPECT_EQ(groups.groupOf(5), 2);
}

/// A program with shapes [4, 4], [2, 8] and [2, 4], of tokens and, optionally, a second input.
class GroupedRows : public testing::Test {
protected:
  static constexpr size_t count = 3;
  std::array<std::array<int64_t, 2>, count> dims = {{{4, 4}, {2, 8}, {2, 4}}};
  std::array<std::array<MtcInput, 2>, count> inputs = {};
  std::array<MtcShape, count> list = {};
  MtcProgram program{};
  std::optional<Shapes> shapes;
  InputLengths columns;

  void SetUp() override {
    for (size_t i = 0; i < count; ++i) {
      const int64_t bytes = dims[i][0] * dims[i][1] * 8;
      inputs[i][0] = {
          {"ids", MTC_I64, 2, dims[i].data(), 0, bytes, MTC_DEVICE}, 0, 0, 0, 0, -1, 0, 0, 0, ""};
      inputs[i][1] = {{"labels", MTC_I64, 2, dims[i].data(), 0, bytes, MTC_DEVICE},
                      1,
                      0,
                      0,
                      0,
                      0,
                      0,
                      50,
                      -100,
                      ""};
      list[i].name = "";
      list[i].batch = dims[i][0];
      list[i].inputs = inputs[i].data();
    }
    program.input_count = 2;
    program.inputs = inputs[0].data();
    program.batch = dims[0][0];
    program.shapes = list.data();
    program.shape_count = count;
    shapes.emplace(program);
    columns.resize(2);
  }

  void addColumn(size_t input, const std::vector<int64_t> &lengths) {
    columns[input] = {"--data " + std::string(inputs[0][input].tensor.name),
                      [lengths](int64_t first, std::span<int64_t> part) {
                        std::copy_n(lengths.begin() + first, part.size(), part.begin());
                      }};
  }

  RowShapes rowShapes(const std::vector<int64_t> &lengths, bool isMaskable = true) {
    addColumn(0, lengths);
    Problems problems;
    RowShapes result(*shapes, {0, 1, 2}, columns, static_cast<int64_t>(lengths.size()), isMaskable,
                     problems);
    problems.throwIfAny();
    return result;
  }

  std::string refusal(const std::vector<int64_t> &lengths) {
    try {
      rowShapes(lengths);
    } catch (const Failure &failure) {
      return failure.what();
    }
    return "";
  }
};

// 9 short and 4 long rows.
const std::vector<int64_t> mixed = {1, 8, 2, 3, 4, 5, 1, 2, 3, 7, 4, 1, 6};

TEST_F(GroupedRows, FillStepsOfTheirGroupInOrder) {
  const RowShapes rows = rowShapes(mixed);
  ASSERT_EQ(rows.groups(), 2U);
  EXPECT_EQ(rows.rowsOf(0), 9);
  EXPECT_EQ(rows.batchOfGroup(0), 4);
  EXPECT_EQ(rows.batchOfAll(), 2);
  const GroupedBatches order(rows, 1, /*dropsRest=*/false, /*shuffle=*/false, 0);
  // Two steps of four short rows; the ninth one moves to the long ones, 5 rows in steps of 2.
  EXPECT_EQ(order.stepsOfEpoch(), 5);
  EXPECT_THAT(order.batchOf(1).rows, ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(order.batchOf(2).rows, ElementsAre(6, 7, 8, 10));
  EXPECT_THAT(order.batchOf(3).rows, ElementsAre(1, 5));
  EXPECT_THAT(order.batchOf(4).rows, ElementsAre(9, 12));
  EXPECT_THAT(order.batchOf(5).rows, ElementsAre(11, 11));
  EXPECT_EQ(order.batchOf(5).filler, 1);
  EXPECT_EQ(order.batchOf(6).rows, order.batchOf(1).rows);
  EXPECT_EQ(order.stepsOf(3), 15);
  EXPECT_TRUE(order.endsEpoch(10));
  EXPECT_FALSE(order.endsEpoch(9));
  EXPECT_EQ(rows.batchOf(order.batchOf(1).shape), 4);
  EXPECT_EQ(rows.batchOf(order.batchOf(3).shape), 2);
}

TEST_F(GroupedRows, AreEachReadOnceInAnEpoch) {
  const RowShapes rows = rowShapes(mixed);
  for (const int64_t parts : {1, 2}) {
    const GroupedBatches order(rows, parts, /*dropsRest=*/false, /*shuffle=*/true, 7, 3, 1);
    std::set<std::vector<int64_t>> epochs;
    for (int64_t epoch = 0; epoch < 4; ++epoch) {
      std::vector<int64_t> read;
      std::set<int64_t> positions;
      for (int64_t step = 0; step < order.stepsOfEpoch(); ++step)
        for (int64_t part = 0; part < parts; ++part) {
          const Batch batch = order.batchOf(4 + epoch * order.stepsOfEpoch() + step, part, parts);
          EXPECT_TRUE(positions.insert(batch.position).second);
          EXPECT_EQ(static_cast<int64_t>(batch.rows.size()), rows.batchOf(batch.shape));
          read.insert(read.end(), batch.rows.begin(),
                      batch.rows.end() - static_cast<std::ptrdiff_t>(batch.filler));
          for (int64_t row : batch.rows)
            EXPECT_TRUE(mixed[static_cast<size_t>(row)] <= 4 || rows.batchOf(batch.shape) == 2);
        }
      epochs.insert(read);
      std::sort(read.begin(), read.end());
      std::vector<int64_t> all(mixed.size());
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(read, all);
    }
    EXPECT_EQ(epochs.size(), 4U) << "each epoch has its own order";
    EXPECT_EQ(order.stepsOf(1), 3) << "the first epoch was complete";
  }
}

TEST_F(GroupedRows, ThatFillNoStepAreDroppedIfNoShapeHoldsThem) {
  const RowShapes rows = rowShapes(mixed, /*isMaskable=*/false);
  EXPECT_EQ(GroupedBatches(rows, 1, false, false, 0).droppedRows(), 1);
  EXPECT_EQ(GroupedBatches(rows, 1, true, false, 0).droppedRows(), 1);
  EXPECT_EQ(GroupedBatches(rows, 1, true, false, 0).stepsOfEpoch(), 4);
  // A shape of two short rows holds what is left of six.
  const RowShapes even = rowShapes({1, 1, 1, 1, 1, 1}, /*isMaskable=*/false);
  const GroupedBatches order(even, 1, false, false, 0);
  EXPECT_EQ(order.droppedRows(), 0);
  EXPECT_THAT(order.batchOf(2).rows, ElementsAre(4, 5));
  EXPECT_EQ(even.batchOf(order.batchOf(2).shape), 2);
}

TEST_F(GroupedRows, ThatFitNoShapeAreRefused) {
  EXPECT_THAT(refusal({1, 9, 10}), HasSubstr("--data ids: row 1 has 9 values, but the longest rows"
                                             " of the input 'ids' have 8"));
  addColumn(1, {1, 2, 3});
  EXPECT_THAT(refusal({1, 3, 3}),
              HasSubstr("--data labels: row 1 has 2 values, but in --data ids it"
                        " has 3; labels of causal-lm are as long"));
  for (auto &each : inputs)
    each[1].shifted_from = -1;
  EXPECT_THAT(rowShapes({1, 3, 3}).warning(), HasSubstr("both are padded"));
}

} // namespace
