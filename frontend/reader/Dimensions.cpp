//===- Dimensions.cpp - Symbolic dimensions
//-----------------------------------------------------===//

#include "frontend/reader/Dimensions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mtc::onnx;
using llvm::StringRef;

namespace {

using Number = std::optional<int64_t>;

/// Recursive descent over sum := product (("+" | "-") product)*, product := factor (("*" | "//")
/// factor)*.
class DimensionParser {
public:
  DimensionParser(StringRef text, const llvm::StringMap<int64_t> &sizes)
      : rest(text), sizes(sizes) {}

  Number parse() {
    Number value = parseSum();
    return take("") && rest.empty() ? value : std::nullopt;
  }

private:
  /// Skips blanks, then takes `token` if it comes next.
  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  Number parseSum() {
    Number value = parseProduct();
    while (value) {
      bool adds = take("+");
      if (!adds && !take("-"))
        break;
      Number other = parseProduct();
      int64_t result;
      if (!other || (adds ? llvm::AddOverflow(*value, *other, result)
                          : llvm::SubOverflow(*value, *other, result)))
        return std::nullopt;
      value = result;
    }
    return value;
  }

  Number parseProduct() {
    Number value = parseFactor();
    while (value) {
      if (take("//")) {
        Number other = parseFactor();
        if (!other || *other <= 0)
          return std::nullopt;
        value = llvm::divideFloorSigned(*value, *other);
      } else if (take("*")) {
        Number other = parseFactor();
        int64_t result;
        if (!other || llvm::MulOverflow(*value, *other, result))
          return std::nullopt;
        value = result;
      } else {
        break;
      }
    }
    return value;
  }

  Number parseFactor() {
    if (++depth > 100)
      return std::nullopt;
    if (take("(")) {
      Number value = parseSum();
      return take(")") ? value : std::nullopt;
    }
    for (bool isMinimum : {true, false})
      if (take(isMinimum ? "Min(" : "Max("))
        return parseExtremum(isMinimum);
    rest = rest.ltrim();
    StringRef word =
        rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    rest = rest.drop_front(word.size());
    int64_t number;
    if (!word.getAsInteger(10, number))
      return number;
    auto it = sizes.find(word);
    return it == sizes.end() ? std::nullopt : Number(it->second);
  }

  Number parseExtremum(bool isMinimum) {
    Number result = parseSum();
    while (result && take(",")) {
      Number other = parseSum();
      if (!other)
        return std::nullopt;
      result = isMinimum ? std::min(*result, *other) : std::max(*result, *other);
    }
    return take(")") ? result : std::nullopt;
  }

  StringRef rest;
  const llvm::StringMap<int64_t> &sizes;
  int depth = 0;
};

} // namespace

Number mtc::onnx::evaluateDimension(StringRef text, const llvm::StringMap<int64_t> &sizes) {
  if (auto it = sizes.find(text); it != sizes.end())
    return it->second;
  return DimensionParser(text, sizes).parse();
}

std::vector<std::string> mtc::onnx::dimensionNames(StringRef text) {
  if (isDimensionName(text))
    return {text.str()};
  std::vector<std::string> names;
  while (!text.empty()) {
    StringRef word =
        text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    text = text.drop_front(std::max<size_t>(word.size(), 1));
    if (!word.empty() && !llvm::isDigit(word.front()) && word != "Min" && word != "Max")
      names.push_back(word.str());
  }
  return names;
}

bool mtc::onnx::isDimensionName(StringRef text) {
  return text.find_first_of("+-*/() ,") == StringRef::npos;
}
