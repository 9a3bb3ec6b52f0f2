#include "support/terminal/suggestions.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mtc::terminal {

/// Returns the Levenshtein distance, the minimum number of insertions, deletions and substitutions
/// (Wagner-Fischer algorithm, one row at a time), or a number above `limit` if it is larger.
static size_t editDistance(std::string_view a, std::string_view b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit)
    return limit + 1;
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
    if (*std::min_element(row.begin(), row.end()) > limit)
      return limit + 1;
  }
  return row[b.size()];
}

static std::string lowerCase(std::string_view text) {
  std::string lower(text);
  for (char &c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string suggestNames(std::string_view name, const std::vector<std::string_view> &candidates) {
  std::string lower = lowerCase(name);
  std::erase_if(lower, [](char c) { return c == '*' || c == '?'; });
  if (lower.empty())
    return "";
  const size_t limit = std::max<size_t>(1, lower.size() / 3);
  std::vector<std::pair<size_t, std::string_view>> close;
  for (std::string_view candidate : candidates) {
    const std::string other = lowerCase(candidate);
    const size_t distance = editDistance(lower, other, limit);
    const bool isPart = other.find(lower) != std::string::npos ||
                        (other.size() > 1 && lower.find(other) != std::string::npos);
    if (distance <= limit || isPart)
      close.emplace_back(std::min(distance, limit + 1), candidate);
  }
  std::sort(close.begin(), close.end());
  constexpr size_t shown = 3;
  if (close.size() > shown)
    close.resize(shown);
  std::string result;
  for (const auto &[distance, candidate] : close)
    result.append(result.empty() ? "; did you mean '" : ", '").append(candidate).append("'");
  return result.empty() ? result : result + "?";
}

std::string listNames(const std::vector<std::string> &names) {
  constexpr size_t shown = 10;
  std::string result;
  for (size_t i = 0; i < std::min(shown, names.size()); ++i)
    result += (i ? ", " : "") + names[i];
  if (names.size() > shown)
    result += " and " + std::to_string(names.size() - shown) + " more";
  return result.empty() ? "none" : result;
}

} // namespace mtc::terminal
