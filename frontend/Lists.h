//===- Lists.h - Lists in messages ------------------------------------------------------------===//

#ifndef MTC_FRONTEND_LISTS_H
#define MTC_FRONTEND_LISTS_H

#include <cstddef>
#include <string>

namespace mtc::onnx {

/// How many entries of a list messages show.
inline constexpr size_t shownEntries = 4;

/// `a, b, c, d and 3 more`: the first entries as `text` writes them, and how many more there are.
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

} // namespace mtc::onnx

#endif // MTC_FRONTEND_LISTS_H
