// A status line, and lines after it.
#include "runtime/reports/terminal_progress.h"

#include "runtime/reports/standard_output.h"

#include <unistd.h>

namespace mtc::runtime {

TerminalProgress::TerminalProgress() : line(STDOUT_FILENO) {}

int TerminalProgress::columns() const { return line.isActive() ? line.columns() : 0; }

void TerminalProgress::draw(const std::string &bar) { line.draw(bar); }

void TerminalProgress::print(const std::string &text) {
  terminal::StatusLine::clear();
  runtime::print("%s\n", text.c_str());
  flushOutput();
}

void TerminalProgress::keep() { line.keep(); }

} // namespace mtc::runtime
