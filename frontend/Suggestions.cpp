//===- Suggestions.cpp - Spelling suggestions for names ---------------------------------------===//

#include "frontend/Suggestions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace mtc::onnx {

std::string suggestNames(StringRef name, ArrayRef<StringRef> candidates) {
  std::string text = name.str();
  llvm::erase_if(text, [](char c) { return c == '*' || c == '?'; });
  std::string lower = StringRef(text).lower();
  if (lower.empty())
    return {};
  auto furthest = static_cast<unsigned>(std::max<size_t>(1, lower.size() / 3));
  SmallVector<std::pair<unsigned, StringRef>> near;
  for (StringRef candidate : candidates) {
    std::string other = candidate.lower();
    unsigned distance = StringRef(lower).edit_distance(other, /*AllowReplacements=*/true, furthest);
    bool isPart =
        StringRef(other).contains(lower) || (other.size() > 1 && StringRef(lower).contains(other));
    if (distance <= furthest || isPart)
      near.push_back({std::min(distance, furthest + 1), candidate});
  }
  llvm::sort(near);
  constexpr size_t shown = 3;
  std::string result;
  for (auto [distance, candidate] : ArrayRef(near).take_front(shown))
    result += (result.empty() ? "; did you mean '" : ", '") + candidate.str() + "'";
  return result.empty() ? result : result + "?";
}

} // namespace mtc::onnx
