// Each update is one system call, so that a line never appears in part.
#include "support/terminal/status_line.h"

#include "support/terminal/printable.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <sys/ioctl.h>
#include <unistd.h>

namespace mtc::terminal {
namespace {

/// Erases from the cursor to the end of the screen: the rest of a line that the terminal wrapped.
constexpr std::string_view eraseBelow = "\x1b[J";

std::mutex mutex;             ///< guards the variables below and the terminal's line
StatusLine *active = nullptr; ///< the object that may draw
int shownDescriptor = -1;     ///< the terminal with a line; -1 if no line is shown

bool canClearLine(int descriptor) {
  const char *kind = std::getenv("TERM");
  return isatty(descriptor) && kind && *kind && std::string_view(kind) != "dumb";
}

/// Writes to the terminal. A terminal that is gone is no reason to end a run.
void put(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

bool continuesCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

} // namespace

int columnsOf(std::string_view text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !continuesCharacter(byte); }));
}

std::string_view firstColumns(std::string_view text, int columns) {
  size_t end = 0;
  for (; end < text.size(); ++end)
    if (!continuesCharacter(text[end]) && columns-- <= 0)
      break;
  return text.substr(0, end);
}

StatusLine::StatusLine(int descriptor) : descriptor(descriptor), active(false) {
  const std::lock_guard lock(mutex);
  if (terminal::active || !canClearLine(descriptor))
    return;
  terminal::active = this;
  active = true;
}

StatusLine::~StatusLine() {
  if (!active)
    return;
  clear();
  const std::lock_guard lock(mutex);
  terminal::active = nullptr;
}

int StatusLine::columns() const {
  winsize size{};
  // A terminal that does not know its size, such as a serial line, reports 0.
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return 79;
  return std::max(size.ws_col - 1, 1);
}

void StatusLine::draw(std::string_view text) {
  if (!active)
    return;
  std::string line = "\r";
  line += firstColumns(printable(text), columns());
  line += eraseBelow;
  line += '\r';
  const std::lock_guard lock(mutex);
  put(descriptor, line);
  shownDescriptor = descriptor;
}

void StatusLine::keep() {
  const std::lock_guard lock(mutex);
  if (active && shownDescriptor >= 0)
    put(shownDescriptor, "\n");
  shownDescriptor = -1;
}

void StatusLine::clear() {
  const std::lock_guard lock(mutex);
  if (shownDescriptor >= 0)
    put(shownDescriptor, "\r" + std::string(eraseBelow));
  shownDescriptor = -1;
}

} // namespace mtc::terminal
