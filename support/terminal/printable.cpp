// Decodes UTF-8 (RFC 3629) only as far as needed to find control characters.
#include "support/terminal/printable.h"

#include <cstdio>

namespace mtc::terminal {

/// Returns the number of bytes of the printable character at `at`; 0 for a control character or
/// invalid UTF-8.
static size_t characterAt(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80)
    return lead == '\n' || (lead >= 0x20 && lead != 0x7f);
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() - at < bytes)
    return 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80)
      return 0;
  // U+0080 to U+009F are control characters too. UTF-8 excludes surrogates, numbers above U+10FFFF,
  // and encodings that are longer than necessary, which some terminals decode as control
  // characters.
  const auto second = static_cast<unsigned char>(text[at + 1]);
  const unsigned char minimum = lead == 0xc2 || lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned char maximum = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  return second < minimum || second > maximum ? 0 : bytes;
}

std::string printable(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (const size_t bytes = characterAt(text, at)) {
      result.append(text, at, bytes);
      at += bytes;
      continue;
    }
    char escaped[5];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(text[at++]));
    result += escaped;
  }
  return result;
}

} // namespace mtc::terminal
