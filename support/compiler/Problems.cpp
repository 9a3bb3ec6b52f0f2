//===- Problems.cpp - Collected errors about an input file ------------------------------------===//

#include "support/compiler/Problems.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace mtc {

SmallVector<std::string> Problems::get() const {
  SmallVector<std::string> result = messages;
  if (total > limit)
    result.push_back("and " + std::to_string(total - limit) + " more problems");
  return result;
}

std::string quoted(StringRef name) {
  constexpr size_t longest = 200;
  std::string result = "'";
  raw_string_ostream stream(result);
  StringRef shown = name.take_front(longest);
  const auto *begin = reinterpret_cast<const UTF8 *>(shown.begin());
  bool isText = isLegalUTF8String(&begin, reinterpret_cast<const UTF8 *>(shown.end()));
  for (char c : shown) {
    bool isControl = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (isControl || (!isText && !isPrint(c)))
      stream << "\\x" << hexdigit((c >> 4) & 15, true) << hexdigit(c & 15, true);
    else
      stream << c;
  }
  stream << (name.size() > longest ? "…'" : "'");
  return result;
}

Error problem(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

} // namespace mtc
