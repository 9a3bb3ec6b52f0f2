#include "runtime/support/stages.h"

#include "runtime/devices/device.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mtc::runtime;
using testing::HasSubstr;

namespace {

TEST(Stages, ConsecutiveRanksHaveTheTablesOfAStage) {
  MtcProgram following[2] = {}, first = {};
  first.ranks = 6;
  EXPECT_EQ(stageOf(&first, 5), &first) << "a program without further stages";
  first.following_stage_count = 2;
  first.following_stages = following;
  const MtcProgram *expected[] = {&first,        &first,        &following[0],
                                  &following[0], &following[1], &following[1]};
  for (int64_t rank = 0; rank < 6; ++rank)
    EXPECT_EQ(stageOf(&first, rank), expected[rank]) << rank;
  EXPECT_EQ(stageOf(&first, 6), &first) << "more processes than ranks";
}

TEST(Stages, AreRefusedByDevicesWithoutMessages) {
  MtcProgram program = {};
  EXPECT_EQ(mtc::test::problemOf([&] { refuseStages(program); }), "");
  program.stages = 2;
  EXPECT_THAT(mtc::test::problemOf([&] { refuseStages(program); }),
              HasSubstr("2 pipeline stages, and programs for GPUs have no pipeline stages yet"));
  program.stages = 1;
  program.micro_steps.count = 1;
  EXPECT_THAT(mtc::test::problemOf([&] { refuseStages(program); }), HasSubstr("1 pipeline"));
}

} // namespace
