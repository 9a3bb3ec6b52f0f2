//===- ProgressLine.cpp - Progress of long operations on the terminal -------------------------===//

#include "driver/ProgressLine.h"

#include "support/terminal/progress_bar.h"
#include "support/terminal/status_line.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace mtc::tool;

namespace mtc::tool {

/// Draws the line while the outermost object lives.
class ProgressThread {
public:
  ProgressThread() : line(STDERR_FILENO) {
    if (line.isActive())
      thread = std::thread([this] { show(); });
  }
  ~ProgressThread() {
    {
      std::lock_guard lock(mutex);
      hasEnded = true;
    }
    ended.notify_one();
    if (thread.joinable())
      thread.join();
  }

  /// Guards the members of all ProgressLines and the variables below.
  static std::mutex mutex;
  static std::vector<ProgressLine *> stack; ///< outermost first
  using Clock = std::chrono::steady_clock;
  static Clock::time_point cleared; ///< when a message was written

private:
  void show() {
    constexpr auto delay = std::chrono::seconds(1);
    constexpr auto interval = std::chrono::milliseconds(200);
    const Clock::time_point start = Clock::now();
    std::unique_lock lock(mutex);
    for (auto next = start + delay; !ended.wait_until(lock, next, [this] { return hasEnded; });
         next = Clock::now() + interval)
      if (Clock::now() - cleared >
          std::chrono::milliseconds(500)) // The message may not be written yet.
        line.draw(describe(std::chrono::duration<double>(Clock::now() - start).count()));
  }

  std::string describe(double seconds) const {
    using terminal::Part;
    const ProgressLine &outer = *stack.front(), &inner = *stack.back();
    std::vector<Part> parts;
    std::optional<double> fraction;
    if (outer.total > 1) {
      fraction = static_cast<double>(outer.done) / static_cast<double>(outer.total);
      parts.push_back({std::to_string(outer.done) + "/" + std::to_string(outer.total), 0});
    }
    if (&inner != &outer)
      parts.push_back({inner.what, 3});
    parts.push_back({terminal::durationText(seconds), 1});
    return terminal::progressText("mtc: " + outer.what, fraction, parts, line.columns());
  }

  terminal::StatusLine line;
  bool hasEnded = false;
  std::condition_variable ended;
  std::thread thread;
};

std::mutex ProgressThread::mutex;
std::vector<ProgressLine *> ProgressThread::stack;
ProgressThread::Clock::time_point ProgressThread::cleared;

} // namespace mtc::tool

/// Exists while any object lives.
static std::unique_ptr<ProgressThread> drawer;

ProgressLine::ProgressLine(std::string what, size_t total) : what(std::move(what)), total(total) {
  {
    std::lock_guard lock(ProgressThread::mutex);
    ProgressThread::stack.push_back(this);
  }
  if (!drawer)
    drawer = std::make_unique<ProgressThread>();
}

ProgressLine::~ProgressLine() {
  if (ProgressThread::stack.front() == this)
    drawer.reset();
  std::lock_guard lock(ProgressThread::mutex);
  ProgressThread::stack.pop_back();
}

void ProgressLine::update(size_t newDone, size_t newTotal) {
  std::lock_guard lock(ProgressThread::mutex);
  done = newDone;
  total = newTotal;
}

void ProgressLine::next(std::string description) {
  std::lock_guard lock(ProgressThread::mutex);
  if (std::exchange(hasStarted, true))
    ++done;
  if (!description.empty())
    what = std::move(description);
}

void ProgressLine::clear() {
  std::lock_guard lock(ProgressThread::mutex);
  ProgressThread::cleared = ProgressThread::Clock::now();
  terminal::StatusLine::clear();
}
