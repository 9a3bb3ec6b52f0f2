// The bottom line of a terminal, which shows the progress of a long operation.
#ifndef MTC_SUPPORT_TERMINAL_STATUS_LINE_H
#define MTC_SUPPORT_TERMINAL_STATUS_LINE_H

#include <string>
#include <string_view>

namespace mtc::terminal {

/// A line that is redrawn in place. At most one object draws at a time: the first that is alive.
/// Nothing is drawn if the descriptor is not a terminal that can clear a line. The cursor rests in
/// the first column, so that the line is replaced as a whole even after the terminal became
/// narrower and wrapped it. Safe to use from several threads.
class StatusLine {
public:
  explicit StatusLine(int descriptor);
  /// Clears the line.
  ~StatusLine();
  StatusLine(const StatusLine &) = delete;
  StatusLine &operator=(const StatusLine &) = delete;

  /// Returns whether `draw` has an effect.
  bool isActive() const { return active; }
  /// Returns the number of columns that a line may occupy at the moment: one less than the
  /// terminal has, since some terminals wrap after the last one.
  int columns() const;
  /// Replaces the line. Text beyond `columns()` is cut off.
  void draw(std::string_view text);
  /// Keeps the line on the screen; later output starts on the next line.
  void keep();

  /// Clears the line that is shown, if any, before other output. The next `draw` shows it again.
  static void clear();

private:
  int descriptor;
  bool active;
};

/// Returns the number of columns that UTF-8 text occupies, without wide characters.
int columnsOf(std::string_view text);

/// Returns the first `columns` columns of a text.
std::string_view firstColumns(std::string_view text, int columns);

} // namespace mtc::terminal

#endif // MTC_SUPPORT_TERMINAL_STATUS_LINE_H
