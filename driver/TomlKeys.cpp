//===- TomlKeys.cpp - Nesting depth of TOML keys ----------------------------------------------===//

#include "driver/TomlKeys.h"

using llvm::StringRef;

/// Returns the rest of the text after the string literal at its start. An unterminated string ends
/// at the end of its line, or of the text.
static StringRef skipString(StringRef text, int64_t &line) {
  char quote = text.front();
  bool hasEscapes = quote == '"';
  const char triple[] = {quote, quote, quote};
  StringRef end(triple, text.starts_with(StringRef(triple, 3)) ? 3 : 1);
  bool isMultiline = end.size() == 3;
  text = text.drop_front(end.size());
  while (!text.empty() && !text.starts_with(end)) {
    if (text.front() == '\n') {
      if (!isMultiline)
        return text;
      ++line;
    }
    // The next iteration counts a line break after a backslash.
    bool isEscape = hasEscapes && text.front() == '\\' && !text.drop_front().starts_with("\n");
    text = text.drop_front(isEscape && text.size() > 1 ? 2 : 1);
  }
  text = text.drop_front(std::min(end.size(), text.size()));
  // A multi-line string may end with up to two additional quotes.
  for (int i = 0; i < 2 && isMultiline && !text.empty() && text.front() == quote; ++i)
    text = text.drop_front();
  return text;
}

std::optional<int64_t> mtc::tool::findDeepKey(StringRef text, int64_t maxParts) {
  int64_t line = 1, parts = 1;
  while (!text.empty()) {
    char c = text.front();
    if (c == '"' || c == '\'') {
      text = skipString(text, line);
      continue;
    }
    if (c == '#') {
      text = text.drop_until([](char next) { return next == '\n'; });
      continue;
    }
    if (c == '.' && ++parts > maxParts)
      return line;
    if (StringRef("\n=[]{},").contains(c))
      parts = 1;
    line += c == '\n';
    text = text.drop_front();
  }
  return std::nullopt;
}
