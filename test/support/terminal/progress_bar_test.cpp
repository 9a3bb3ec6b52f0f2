// Tests that progress lines fit a terminal of any width.
#include "support/terminal/progress_bar.h"
#include "support/terminal/status_line.h"
#include "test/support/terminal_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

using namespace mtc::terminal;

namespace {

TEST(ProgressBar, FitsEveryWidthAndOmitsTheLeastImportant) {
  setenv("LC_ALL", "C.UTF-8", 1);
  const std::vector<Part> parts = {{"33%", 7}, {"0:12 < 3:21", 1}, {"loss 0.1234", 0}, {"", 0}};
  for (int columns = 1; columns <= 200; ++columns)
    EXPECT_LE(columnsOf(progressText("step 12/500", 0.33, parts, columns)), columns) << columns;
  EXPECT_EQ(progressText("step 12/500", 0.33, parts, 6), "step 1");
  EXPECT_EQ(progressText("step 12/500", 0.33, parts, 24), "step 12/500  loss 0.1234");
  EXPECT_EQ(progressText("step 12/500", 0.5, parts, 47),
            "step 12/500  ━━━━────  0:12 < 3:21  loss 0.1234");
  EXPECT_EQ(progressText("step 12/500", std::nullopt, parts, 80),
            "step 12/500  33%  0:12 < 3:21  loss 0.1234");
  setenv("LC_ALL", "C", 1);
  EXPECT_EQ(progressText("a", 0.5, {}, 11), "a  ####....");
  EXPECT_EQ(progressText("a", 7, {}, 11), "a  ########");
  unsetenv("LC_ALL");
}

TEST(ProgressBar, Numbers) {
  EXPECT_EQ(durationText(7.9), "0:07");
  EXPECT_EQ(durationText(754), "12:34");
  EXPECT_EQ(durationText(5025), "1:23:45");
  EXPECT_EQ(durationText(-1), "0:00");
  EXPECT_EQ(countText(0.519), "0.52");
  EXPECT_EQ(countText(9.996), "10.0");
  EXPECT_EQ(countText(999.6), "1.00k");
  EXPECT_EQ(countText(45'600'000), "45.6M");
  EXPECT_EQ(bytesText(512), "512 bytes");
  EXPECT_EQ(bytesText(799616), "780.88 KiB");
}

TEST(ProgressBar, CutsBetweenCharacters) {
  EXPECT_EQ(firstColumns("a━b", 2), "a━");
  EXPECT_EQ(firstColumns("a━b", 9), "a━b");
  EXPECT_EQ(columnsOf("a━b"), 3);
}

template <typename Act> std::string shownOf(const char *kind, const Act &act) {
  return mtc::test::shownOnTerminal(kind, /*columns=*/20, act);
}

TEST(StatusLine, IsReplacedClearedAndKept) {
  EXPECT_EQ(shownOf("xterm",
                    [] {
                      StatusLine line(STDOUT_FILENO), second(STDOUT_FILENO);
                      line.draw("one");
                      second.draw("not shown");
                      line.draw("a line of more than twenty columns");
                      StatusLine::clear();
                      StatusLine::clear();
                      line.draw("three");
                      line.keep();
                    }),
            "\rone\x1b[J\r\ra line of more than\x1b[J\r\r\x1b[J\rthree\x1b[J\r\r\n");
}

TEST(StatusLine, ShowsNothingOnWhatCannotClearALine) {
  auto draw = [] {
    StatusLine line(STDOUT_FILENO);
    line.draw("one");
    line.keep();
  };
  EXPECT_EQ(shownOf("dumb", draw), "");
  EXPECT_FALSE(StatusLine(open("/dev/null", O_WRONLY | O_CLOEXEC)).isActive());
}

} // namespace
