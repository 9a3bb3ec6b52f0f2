//===- progress_line_test.cpp - Progress on a terminal ----------------------------------------===//

#include "driver/ProgressLine.h"
#include "driver/Report.h"
#include "test/support/terminal_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

using mtc::tool::ProgressLine;

namespace {

template <typename Act> std::string shownOf(const Act &act) {
  return mtc::test::shownOnTerminal("xterm", /*columns=*/80, act);
}

TEST(ProgressLine, IsClearedForMessagesAndAtItsEnd) {
  const std::string shown = shownOf([] {
    ProgressLine line("searching");
    usleep(1'300'000);
    mtc::tool::note("found");
  });
  EXPECT_THAT(shown, testing::StartsWith("\rmtc: searching  0:01\x1b[J\r"));
  EXPECT_GT(shown.find("found"), shown.rfind("\r\x1b[J"));
}

TEST(ProgressLine, ShowsPartsAndTheInnermostActivity) {
  const std::string shown = shownOf([] {
    ProgressLine line("searching", 4);
    line.next();
    line.next();
    line.next();
    ProgressLine inner("lowering");
    inner.next("planning memory");
    usleep(1'300'000);
  });
  EXPECT_THAT(shown,
              testing::StartsWith(
                  "\rmtc: searching  ###############...............  2/4  planning memory  0:01"));
  EXPECT_THAT(shown, testing::EndsWith("\r\x1b[J"));
}

TEST(ProgressLine, SaysNothingOfWhatIsQuick) {
  EXPECT_EQ(shownOf([] { ProgressLine line("searching"); }), "");
}

} // namespace
