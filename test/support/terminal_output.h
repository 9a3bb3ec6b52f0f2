// Captures the output of a process on a terminal.
#ifndef MTC_TEST_SUPPORT_TERMINAL_OUTPUT_H
#define MTC_TEST_SUPPORT_TERMINAL_OUTPUT_H

#include <cstdlib>
#include <pty.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace mtc::test {

/// Returns what a terminal of the given kind and width receives from a process that runs `act`.
template <typename Act>
std::string shownOnTerminal(const char *kind, unsigned short columns, const Act &act) {
  int terminal = -1;
  winsize size{.ws_row = 5, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    setenv("TERM", kind, 1);
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

} // namespace mtc::test

#endif // MTC_TEST_SUPPORT_TERMINAL_OUTPUT_H
