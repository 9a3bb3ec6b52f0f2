//===- progress_line_test.cpp - What a terminal shows of what takes long ----------------------===//

#include "driver/ProgressLine.h"
#include "driver/Report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

using mtc::tool::ProgressLine;

namespace {

/// What a terminal gets of a process that runs `act`.
template <typename Act> std::string shownOf(Act act) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C", 1);
    act();
    _exit(0);
  }
  std::string shown;
  char buffer[256];
  for (ssize_t got; (got = read(terminal, buffer, sizeof buffer)) > 0;)
    shown.append(buffer, static_cast<size_t>(got));
  close(terminal);
  waitpid(child, nullptr, 0);
  return shown;
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
