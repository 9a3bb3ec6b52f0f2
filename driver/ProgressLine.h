//===- ProgressLine.h - Progress of long operations on the terminal ---------------------------===//

#ifndef MTC_DRIVER_PROGRESSLINE_H
#define MTC_DRIVER_PROGRESSLINE_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mtc::tool {

/// Shows the current activity and its duration on the last line of the terminal while an object of
/// this class lives, after a second: `mtc: planning memory, 3 s`. Only the outermost object is
/// shown. Writes nothing if stderr is not a terminal.
class ProgressLine {
public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  /// Clears the line, if shown, to print a message. The line reappears a second later.
  static void clear();

private:
  void show();

  const std::string what;
  bool isShown = false;
  bool hasEnded = false;
  std::mutex mutex; ///< guards `isShown`, `hasEnded` and the terminal's line
  std::condition_variable ended;
  std::thread thread;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_PROGRESSLINE_H
