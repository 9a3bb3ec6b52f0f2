// The text of a progress line, made to fit the terminal.
#ifndef MTC_SUPPORT_TERMINAL_PROGRESS_BAR_H
#define MTC_SUPPORT_TERMINAL_PROGRESS_BAR_H

#include <optional>
#include <string>
#include <vector>

namespace mtc::terminal {

/// A piece of information on a progress line.
struct Part {
  std::string text;
  int rank; ///< parts with the highest rank are omitted first if the line is too long
};

/// Returns `LABEL  BAR  PARTS`, at most `columns` wide. `fraction` is the share that is done;
/// nullopt if it is unknown, so that there is no bar. The bar is omitted before parts of
/// `barRank` or less, and fills the columns that are left.
std::string progressText(const std::string &label, std::optional<double> fraction,
                         const std::vector<Part> &parts, int columns);
inline constexpr int barRank = 2;

/// Returns "0:07", "12:34" or "1:23:45".
std::string durationText(double seconds);

/// Returns a number with three digits: "0.52", "12.3", "4.56k", "78.9M".
std::string countText(double number);

/// Returns "512 bytes", "780.88 KiB", "2.57 GiB".
std::string bytesText(double bytes);

} // namespace mtc::terminal

#endif // MTC_SUPPORT_TERMINAL_PROGRESS_BAR_H
