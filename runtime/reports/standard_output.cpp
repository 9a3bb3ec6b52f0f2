// Records the first error, because the stream itself only has an error flag.
#include "runtime/reports/standard_output.h"

#include "runtime/support/failure.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace mtc::runtime {

static int firstError = 0;
static bool isSilent = false;

static void note(bool failed) {
  if (failed && !firstError)
    firstError = errno ? errno : EIO;
}

void silenceOutput() { isSilent = true; }

void print(const char *format, ...) {
  if (isSilent)
    return;
  va_list arguments;
  va_start(arguments, format);
  note(std::vprintf(format, arguments) < 0);
  va_end(arguments);
}

void flushOutput() { note(std::fflush(stdout) != 0); }

void startOutput() {
  firstError = 0;
  std::clearerr(stdout);
}

void checkOutput() {
  flushOutput();
  if (firstError && firstError != EPIPE)
    systemError("standard output cannot be written: ", std::strerror(firstError));
}

} // namespace mtc::runtime
