//===- ProgressLine.cpp - Progress of long operations on the terminal -------------------------===//

#include "driver/ProgressLine.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mtc::tool;

/// The outermost object. Only the main thread creates and destroys it, and writes messages.
static ProgressLine *outermost = nullptr;

static constexpr llvm::StringLiteral clearedLine = "\r\033[K";

ProgressLine::ProgressLine(std::string what) : what(std::move(what)) {
  if (outermost || !llvm::sys::Process::StandardErrIsDisplayed())
    return;
  outermost = this;
  thread = std::thread([this] { show(); });
}

ProgressLine::~ProgressLine() {
  if (outermost != this)
    return;
  {
    std::lock_guard lock(mutex);
    hasEnded = true;
  }
  ended.notify_one();
  thread.join();
  clear();
  outermost = nullptr;
}

void ProgressLine::show() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex);
  for (auto seconds = std::chrono::seconds(1);; ++seconds) {
    if (ended.wait_until(lock, start + seconds, [this] { return hasEnded; }))
      return;
    llvm::errs() << clearedLine << llvm::formatv("mtc: {0}, {1} s", what, seconds.count());
    isShown = true;
  }
}

void ProgressLine::clear() {
  if (!outermost)
    return;
  std::lock_guard lock(outermost->mutex);
  if (outermost->isShown)
    llvm::errs() << clearedLine;
  outermost->isShown = false;
}
