//===- StandardStreams.cpp - Detection of failed writes to standard output --------------------===//

#include "support/compiler/StandardStreams.h"
#include "support/compiler/Errors.h"

#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

using namespace mtc::tool;

static const char *toolName = "";

/// Opens closed streams in the wrong direction, so that reads and writes still fail.
static void occupyClosedStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF)
      (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static void checkStandardOutput() {
  llvm::raw_fd_ostream &output = llvm::outs();
  output.flush();
  std::error_code code = output.error();
  output.clear_error(); // Otherwise LLVM terminates the process with a message of its own.
  int exitCode = code ? report(toolName, makeSystemFault("standard output cannot be written: " +
                                                         code.message()))
                      : 0;
  // Errors of standard error are ignored, since they cannot be reported.
  llvm::raw_fd_ostream &messages = llvm::errs();
  messages.flush();
  messages.clear_error();
  if (exitCode)
    std::_Exit(exitCode);
}

void mtc::tool::guardStandardStreams(const char *tool) {
  toolName = tool;
  occupyClosedStreams();
  std::signal(SIGPIPE, SIG_IGN); // Failed writes return EPIPE instead.
  // Handlers run in reverse order of registration, so this one runs before the streams'
  // destructors.
  (void)llvm::outs();
  (void)llvm::errs();
  std::atexit(checkStandardOutput);
}
