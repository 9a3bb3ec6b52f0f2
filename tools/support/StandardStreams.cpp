//===- StandardStreams.cpp - Standard output that is known to have been written ---------------===//

#include "tools/support/StandardStreams.h"
#include "tools/support/Errors.h"

#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

using namespace mtc::tool;

static const char *toolName = "";

/// Opens what is closed the wrong way round, so that using it fails as it would have.
static void occupyClosedStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF)
      (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static void checkStandardOutput() {
  llvm::raw_fd_ostream &output = llvm::outs();
  output.flush();
  std::error_code code = output.error();
  output.clear_error(); // LLVM would end the process by its own message.
  int exitCode = code ? report(toolName, makeSystemFault("standard output cannot be written: " +
                                                         code.message()))
                      : 0;
  // There is nowhere to say that messages cannot be written.
  llvm::raw_fd_ostream &messages = llvm::errs();
  messages.flush();
  messages.clear_error();
  if (exitCode)
    std::_Exit(exitCode);
}

void mtc::tool::guardStandardStreams(const char *tool) {
  toolName = tool;
  occupyClosedStreams();
  std::signal(SIGPIPE, SIG_IGN); // A write fails instead.
  // What is registered later runs earlier: before the streams' own destructors.
  (void)llvm::outs();
  (void)llvm::errs();
  std::atexit(checkStandardOutput);
}
