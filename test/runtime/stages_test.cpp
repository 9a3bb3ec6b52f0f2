#include "runtime/support/stages.h"

#include <gtest/gtest.h>

using namespace mtc::runtime;

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

} // namespace
