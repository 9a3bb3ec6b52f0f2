//===- Lists.h - Abbreviated lists in messages ------------------------------------------------===//

#ifndef MTC_SUPPORT_COMPILER_LISTS_H
#define MTC_SUPPORT_COMPILER_LISTS_H

#include <cstddef>
#include <string>

namespace mtc {

/// The number of list entries that a message shows.
inline constexpr size_t shownEntries = 4;

/// Returns `a, b, c, d and 3 more`: the first `shownEntries` entries, each formatted by `text`, and
/// the number of the others.
template <typename Range, typename Text> std::string listed(const Range &range, Text text) {
  std::string result;
  size_t count = 0;
  for (const auto &entry : range) {
    if (count == shownEntries)
      return result + " and " + std::to_string(range.size() - shownEntries) + " more";
    result += (count++ == 0 ? "" : ", ") + text(entry);
  }
  return result;
}

} // namespace mtc

#endif // MTC_SUPPORT_COMPILER_LISTS_H
