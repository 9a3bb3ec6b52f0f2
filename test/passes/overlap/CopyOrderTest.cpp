//===- CopyOrderTest.cpp - Order of copies to the device ------------------------------------===//

#include "passes/overlap/CopyOrder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mtc;
using ::testing::ElementsAre;

namespace {

TEST(CopyOrderTest, ABlockedCopyDoesNotDelayOthers) {
  CopyOrder order(6);
  order.setWork(0, 0, 4);
  order.setWork(1, 1, 1); // The memory of its destination is free after operation 0.
  order.setWork(2, 1, 1);
  order.setWork(3, 1, 1);
  order.setWork(4, 0, 1);
  order.setWork(5, 0, 1);
  order.add(1, 0, 4);
  order.add(2, 6, 5);
  order.add(3, 6, 5);
  EXPECT_THAT(order.find(), ElementsAre(2, 3, 1));
}

TEST(CopyOrderTest, TheCopyThatIsNeededFirstStartsFirst) {
  CopyOrder order(7);
  order.setWork(0, 0, 1);
  order.setWork(1, 1, 1); // Can start at time 1, when the first copy has ended.
  order.setWork(2, 1, 1);
  order.setWork(3, 1, 1);
  order.setWork(4, 0, 1);
  order.setWork(5, 0, 1);
  order.add(1, 0, 4);
  order.add(2, 7, 5);
  order.add(3, 7, 5);
  EXPECT_THAT(order.find(), ElementsAre(2, 1, 3));
}

TEST(CopyOrderTest, MemoryThatIsCopiedAwayIsFreeWhenTheCopyHasEnded) {
  CopyOrder order(6);
  order.setWork(0, 2, 3);
  order.setWork(1, 1, 1); // Into the memory that operation 0 copies away.
  order.setWork(2, 1, 1);
  order.setWork(3, 0, 1);
  order.setWork(4, 0, 9);
  order.add(1, 0, 4);
  order.add(2, 6, 5);
  EXPECT_THAT(order.find(), ElementsAre(2, 1));
}

} // namespace
