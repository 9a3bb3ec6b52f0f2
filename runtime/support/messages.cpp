// Messages of all threads share standard error, and the terminal's status line.
#include "runtime/support/messages.h"

#include "support/terminal/status_line.h"

#include <cstdio>
#include <utility>

namespace mtc::runtime {

static thread_local MessageSink *currentSink = nullptr;

MessageSink::MessageSink(Write write)
    : write(std::move(write)), outer(std::exchange(currentSink, this)) {}

MessageSink::~MessageSink() { currentSink = outer; }

void writeMessage(const std::string &line) {
  if (currentSink)
    return currentSink->write(printable(line));
  writeToStandardError(line);
}

void writeToStandardError(const std::string &line) {
  terminal::StatusLine::clear();
  std::fprintf(stderr, "%s\n", printable(line).c_str());
}

} // namespace mtc::runtime
