//===- ProgressLine.h - What takes long, on a terminal ----------------------------------------===//

#ifndef MTC_DRIVER_PROGRESSLINE_H
#define MTC_DRIVER_PROGRESSLINE_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace mtc::tool {

/// While one lives, and it takes more than a second, the terminal's last line says what is done and
/// for how long: `mtc: planning memory, 3 s`. The outermost is shown. Nothing is written where
/// stderr is no terminal.
class ProgressLine {
public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  /// Clears the line, if one is shown, for a message in its place; it comes again a second later.
  static void clear();

private:
  void show();

  const std::string what;
  bool isShown = false;
  bool hasEnded = false;
  std::mutex mutex; ///< of the two above, and of the terminal's line
  std::condition_variable ended;
  std::thread thread;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_PROGRESSLINE_H
