//===- ProgressLine.h - Progress of long operations on the terminal ---------------------------===//

#ifndef MTC_DRIVER_PROGRESSLINE_H
#define MTC_DRIVER_PROGRESSLINE_H

#include <cstddef>
#include <string>

namespace mtc::tool {

/// Shows the current activity on the last line of the terminal while objects of this class live,
/// after a second: `mtc: searching for flags  ━━━━─────  2/7  planning memory  0:03`. The outermost
/// object is the label, with a bar if its number of parts is known; the innermost one is the
/// detail. The line disappears at the end. Writes nothing if stderr is not a terminal. Objects are
/// created and destroyed by the main thread.
class ProgressLine {
public:
  /// `total` is the number of parts of the activity; 0 if it is not known.
  explicit ProgressLine(std::string what, size_t total = 0);
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  /// Records that `done` of `total` parts are done. May be called by any thread.
  void update(size_t done, size_t total);
  /// Starts the next part. `what` describes it; if empty, the description remains.
  void next(std::string what = "");

  /// Clears the line, if shown, to print a message. The line reappears a moment later.
  static void clear();

private:
  friend class ProgressThread;

  std::string what;
  size_t done = 0, total;
  bool hasStarted = false; ///< `next` was called
};

} // namespace mtc::tool

#endif // MTC_DRIVER_PROGRESSLINE_H
