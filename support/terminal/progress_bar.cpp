// A line consists of those parts that fit, chosen in order of importance.
#include "support/terminal/progress_bar.h"

#include "support/terminal/status_line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace mtc::terminal {
namespace {

constexpr int minBar = 8, widestBar = 30, gap = 2;

/// Returns whether the terminal shows UTF-8, by the variable that determines LC_CTYPE.
bool showsUtf8() {
  for (const char *name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char *value = std::getenv(name); value && *value) {
      std::string locale = value;
      std::transform(locale.begin(), locale.end(), locale.begin(),
                     [](unsigned char c) { return std::tolower(c); });
      return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
  return false;
}

std::string drawBar(double fraction, int columns) {
  const bool isUtf8 = showsUtf8();
  const auto halves = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * columns * 2);
  std::string bar;
  for (int column = 0; column < columns; ++column)
    if (2 * column + 1 < halves)
      bar += isUtf8 ? "━" : "#";
    else if (2 * column < halves)
      bar += isUtf8 ? "╸" : ".";
    else
      bar += isUtf8 ? "─" : ".";
  return bar;
}

std::string format(const char *text, double value) {
  std::array<char, 32> buffer;
  std::snprintf(buffer.data(), buffer.size(), text, value);
  return buffer.data();
}

} // namespace

std::string progressText(const std::string &label, std::optional<double> fraction,
                         const std::vector<Part> &parts, int columns) {
  int left = columns - columnsOf(label), bar = 0;
  if (left < 0)
    return std::string(firstColumns(label, columns));
  std::vector<const Part *> byRank;
  byRank.reserve(parts.size());
  for (const Part &part : parts)
    byRank.push_back(&part);
  std::sort(byRank.begin(), byRank.end(), [](const Part *a, const Part *b) {
    return std::pair(a->rank, a) < std::pair(b->rank, b);
  });
  std::vector<bool> isShown(parts.size());
  bool isBarDecided = !fraction;
  auto decideBar = [&] {
    if (!isBarDecided && left >= gap + minBar)
      left -= gap + (bar = minBar);
    isBarDecided = true;
  };
  for (const Part *part : byRank) {
    if (part->rank > barRank)
      decideBar();
    const int needed = gap + columnsOf(part->text);
    if (part->text.empty() || needed > left)
      continue;
    left -= needed;
    isShown[static_cast<size_t>(part - parts.data())] = true;
  }
  decideBar();
  std::string text = label;
  if (bar)
    text += std::string(gap, ' ') + drawBar(*fraction, std::min(bar + left, widestBar));
  for (size_t i = 0; i < parts.size(); ++i)
    if (isShown[i])
      text += std::string(gap, ' ') + parts[i].text;
  return text;
}

std::string durationText(double seconds) {
  constexpr double longest = 3.6e9; // a million hours
  const auto whole = static_cast<long long>(std::clamp(seconds, 0.0, longest));
  std::array<char, 32> buffer;
  if (whole < 3600)
    std::snprintf(buffer.data(), buffer.size(), "%lld:%02lld", whole / 60, whole % 60);
  else
    std::snprintf(buffer.data(), buffer.size(), "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60,
                  whole % 60);
  return buffer.data();
}

std::string countText(double number) {
  constexpr std::array<const char *, 5> units = {"", "k", "M", "G", "T"};
  size_t unit = 0;
  for (; number >= 999.5 && unit + 1 < units.size(); ++unit)
    number /= 1000;
  return format(number >= 99.95 ? "%.0f" : number >= 9.995 ? "%.1f" : "%.2f", number) + units[unit];
}

std::string bytesText(double bytes) {
  constexpr std::array<const char *, 5> units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit)
    bytes /= 1024;
  return format(unit ? "%.2f " : "%.0f ", bytes) + units[unit];
}

} // namespace mtc::terminal
