// Names in messages: lists, and suggestions for mistyped ones.
#ifndef MTC_SUPPORT_TERMINAL_SUGGESTIONS_H
#define MTC_SUPPORT_TERMINAL_SUGGESTIONS_H

#include <string>
#include <string_view>
#include <vector>

namespace mtc::terminal {

/// Returns `; did you mean 'a', 'b'?` with the up to three candidates closest to `name`, closest
/// first, or an empty string if none is close. A candidate is close if its edit distance is at most
/// a third of the length of `name` (at least 1), or if one of the two names contains the other. The
/// comparison ignores case and the wildcards `*` and `?` in `name`.
std::string suggestNames(std::string_view name, const std::vector<std::string_view> &candidates);

/// Accepts candidates of any string type.
template <typename Strings>
std::string suggestNames(std::string_view name, const Strings &candidates) {
  return suggestNames(name, std::vector<std::string_view>(candidates.begin(), candidates.end()));
}

/// Returns the first ten names, separated by commas, with the number of further ones; "none" if
/// there are none.
std::string listNames(const std::vector<std::string> &names);

} // namespace mtc::terminal

#endif // MTC_SUPPORT_TERMINAL_SUGGESTIONS_H
