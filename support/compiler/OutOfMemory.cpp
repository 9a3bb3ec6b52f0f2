//===- OutOfMemory.cpp - Messages about exhausted memory --------------------------------------===//

#include "support/compiler/OutOfMemory.h"
#include "support/compiler/Errors.h"

#include "runtime/abi/memory_limit.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"

#include <cstdlib>
#include <string>

using namespace mtc::tool;

static std::string prefix;

/// Removes temporary files, reports, and exits. Nothing is allocated.
[[noreturn]] static void stop() {
  llvm::sys::RunInterruptHandlers();
  mtc_report_out_of_memory(prefix.c_str());
  std::_Exit(exitSystemFault);
}

static void stopIfExhausted() {
  if (!mtc_can_reserve(MTC_MEMORY_RESERVE))
    stop();
}

void mtc::tool::guardMemory(const char *tool) {
  prefix = std::string(tool) + ": ";
  // The compiler has reserved more than this amount before it can print a message.
  if (!mtc_can_reserve(4 * MTC_MEMORY_RESERVE))
    stop();
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { stop(); });
  // Libraries also fail in other ways: they cannot start a thread, the C library aborts, or they
  // write to memory that was not allocated.
  llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
    stopIfExhausted();
    for (const char *text : {prefix.c_str(), "internal error: ", reason, "\n"})
      mtc_write_text(text);
  });
  llvm::sys::AddSignalHandler([](void *) { stopIfExhausted(); }, nullptr);
}
