// Tests the division of a contraction into tasks.
#include "runtime/calls/contraction/cpu/panel_plan.h"

#include <gtest/gtest.h>

using namespace mtc::runtime;

namespace {

TEST(Tasks, AreWholeTilesThatThreadsShareEqually) {
  for (const int64_t tile : {6, 12, 32})
    for (const int64_t taskLines : {32, 37, 64})
      for (int64_t lines = 1; lines < 1500; lines += 7) {
        const Tasks tasks(lines, taskLines, tile);
        int64_t at = 0, maximum = 0, minimum = lines;
        for (int64_t i = 0; i < tasks.count; ++i) {
          const Range task = tasks.at(i);
          ASSERT_EQ(task.begin, at);
          ASSERT_GT(task.size(), 0);
          ASSERT_LT(task.size(), taskLines + tile);
          ASSERT_TRUE(task.end % tile == 0 || task.end == lines);
          at = task.end;
          maximum = std::max(maximum, partsOf(task.size(), tile));
          minimum = std::min(minimum, partsOf(task.size(), tile));
        }
        ASSERT_EQ(at, lines);
        ASSERT_LE(maximum - minimum, 1);
        if (tasks.count % 2 == 0) { // As many tasks for each of two threads.
          const int64_t first = partsOf(tasks.at(tasks.count / 2).begin, tile);
          ASSERT_LE(partsOf(lines, tile) - 2 * first, 1);
          ASSERT_GE(partsOf(lines, tile) - 2 * first, 0);
        }
      }
}

} // namespace
