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
    ProgressLine line("searching"), inner("something else");
    usleep(1'200'000);
    mtc::tool::note("found");
  });
  EXPECT_THAT(shown, testing::StartsWith("\r\033[Kmtc: searching, 1 s\r\033[K"));
  EXPECT_THAT(shown, testing::HasSubstr("found"));
  EXPECT_THAT(shown, testing::Not(testing::HasSubstr("something else")));
}

TEST(ProgressLine, SaysNothingOfWhatIsQuick) {
  EXPECT_EQ(shownOf([] { ProgressLine line("searching"); }), "");
}

} // namespace
