//===- Nesting.cpp - Nesting depth of brackets in text ----------------------------------------===//

#include "support/compiler/Nesting.h"

#include <algorithm>

using llvm::StringRef;

bool mtc::tool::nestsWithin(StringRef text, int maxDepth) {
  int depth = 0;
  bool isString = false;
  char before = '\n';
  for (size_t i = 0; i < text.size(); before = text[i++]) {
    char c = text[i];
    if (c == '\n') {
      isString = false; // Neither language has multi-line strings.
    } else if (isString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        isString = false;
      if (i == text.size())
        break;
    } else if (c == '"') {
      isString = true;
    } else if (c == '/' && before == '/') {
      i = std::min(text.find('\n', i), text.size() - 1);
    } else if (StringRef("([{<").contains(c)) {
      if (++depth > maxDepth)
        return false;
    } else if (StringRef(")]}").contains(c) || (c == '>' && before != '-')) {
      depth = std::max(depth - 1, 0);
    }
  }
  return true;
}
