//===- Dimensions.cpp - Symbolic dimensions and their extents ---------------------------------===//

#include "frontend/Dimensions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <numeric>

using namespace llvm;

namespace mtc {

namespace {

/// A fraction in lowest terms with a positive denominator. Fractions are exact, as `floor(n/2)`
/// divides before it rounds.
struct Rational {
  int64_t numerator, denominator = 1;
};
using Value = std::optional<Rational>; // nullopt if a name is unbound or the value overflows.

Value normalized(__int128 numerator, __int128 denominator) {
  if (denominator == 0)
    return std::nullopt;
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  __int128 a = numerator < 0 ? -numerator : numerator, b = denominator;
  while (b != 0)
    std::tie(a, b) = std::pair(b, a % b);
  numerator /= a;
  denominator /= a;
  if (numerator > INT64_MAX || numerator < INT64_MIN || denominator > INT64_MAX)
    return std::nullopt;
  return Rational{static_cast<int64_t>(numerator), static_cast<int64_t>(denominator)};
}

using Wide = __int128;

Value add(Value a, Value b, int sign = 1) {
  // Each term is at most 2^126 in magnitude, so the sum cannot overflow.
  return a && b ? normalized(Wide(a->numerator) * b->denominator +
                                 sign * (Wide(b->numerator) * a->denominator),
                             Wide(a->denominator) * b->denominator)
                : Value();
}
Value multiply(Value a, Value b) {
  return a && b
             ? normalized(Wide(a->numerator) * b->numerator, Wide(a->denominator) * b->denominator)
             : Value();
}
Value divide(Value a, Value b) {
  return a && b
             ? normalized(Wide(a->numerator) * b->denominator, Wide(a->denominator) * b->numerator)
             : Value();
}
Value floorOf(Value a) {
  if (!a)
    return a;
  int64_t quotient = a->numerator / a->denominator;
  return Rational{quotient - (a->numerator % a->denominator < 0)};
}
Value ceilingOf(Value a) {
  Value floored = floorOf(a);
  return a && a->denominator != 1 ? add(floored, Rational{1}) : floored;
}
Value modulo(Value a, Value b) { return add(a, multiply(floorOf(divide(a, b)), b), -1); }
bool less(const Rational &a, const Rational &b) {
  return Wide(a.numerator) * b.denominator < Wide(b.numerator) * a.denominator;
}

/// Recursive-descent parser for sympy's notation:
///   sum = product {("+" | "-") product}
///   product = unary {("*" | "/" | "//" | "%") unary}
///   unary = "-" unary | atom ["**" atom]
///   atom = number | name | name "(" sum {"," sum} ")" | "(" sum ")"
class Parser {
public:
  Parser(StringRef text, const StringMap<int64_t> &bindings) : rest(text), bindings(bindings) {}

  Value parse() {
    Value value = sum();
    return ok && rest.trim().empty() ? value : fail();
  }
  bool isExpression() const { return ok; }
  SmallVector<std::string> names;

private:
  static constexpr int maxDepth = 50;

  Value fail() {
    ok = false;
    rest = "";
    return std::nullopt;
  }
  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  Value sum() {
    if (++depth > maxDepth)
      return fail();
    Value value = product();
    while (ok) {
      if (consume("+"))
        value = add(value, product());
      else if (consume("-"))
        value = add(value, product(), -1);
      else
        break;
    }
    --depth;
    return value;
  }

  Value product() {
    Value value = unary();
    while (ok) {
      if (consume("//"))
        value = floorOf(divide(value, unary()));
      else if (consume("*"))
        value = multiply(value, unary());
      else if (consume("/"))
        value = divide(value, unary());
      else if (consume("%"))
        value = modulo(value, unary());
      else
        break;
    }
    return value;
  }

  Value unary() {
    bool isNegative = false;
    while (consume("-"))
      isNegative = !isNegative;
    Value value = atom();
    if (ok && consume("**")) {
      Value exponent = atom();
      if (!exponent || exponent->denominator != 1 || exponent->numerator < 0 ||
          exponent->numerator > 64)
        value = std::nullopt;
      else
        for (Value base = std::exchange(value, Rational{1}); exponent->numerator > 0;
             --exponent->numerator)
          value = multiply(value, base);
    }
    return isNegative ? multiply(value, Rational{-1}) : value;
  }

  Value atom() {
    if (consume("(")) {
      Value value = sum();
      return consume(")") ? value : fail();
    }
    if (rest.empty())
      return fail();
    if (isDigit(rest.front())) {
      int64_t number;
      return rest.consumeInteger(10, number) ? fail() : Value(Rational{number});
    }
    StringRef name = takeName();
    if (name.empty())
      return fail();
    if (consume("("))
      return call(name);
    if (!llvm::is_contained(names, name))
      names.push_back(name.str());
    auto found = bindings.find(name);
    return found == bindings.end() ? Value() : Value(Rational{found->second});
  }

  /// Consumes a name: letters, digits, `_`, `.`, `:` and non-ASCII bytes. A `-` between two such
  /// characters belongs to the name, as in `batch-size`, because sympy writes spaces around its
  /// operators.
  StringRef takeName() {
    auto inName = [](char c) {
      return isAlnum(c) || c == '_' || c == '.' || c == ':' || static_cast<signed char>(c) < 0;
    };
    size_t end = 0;
    while (end < rest.size() &&
           (inName(rest[end]) ||
            (rest[end] == '-' && end > 0 && end + 1 < rest.size() && inName(rest[end + 1]))))
      ++end;
    StringRef name = rest.take_front(end);
    rest = rest.drop_front(end);
    return name;
  }

  Value call(StringRef function) {
    SmallVector<Value> arguments;
    do
      arguments.push_back(sum());
    while (ok && consume(","));
    if (!ok || !consume(")"))
      return fail();
    enum Kind { minimum, maximum, floor, ceiling, mod, floorDivide, unknown };
    Kind kind = StringSwitch<Kind>(function)
                    .CasesLower({"min"}, minimum)
                    .CasesLower({"max"}, maximum)
                    .CasesLower({"floor"}, floor)
                    .CasesLower({"ceiling", "ceil"}, ceiling)
                    .CasesLower({"mod", "pythonmod"}, mod)
                    .CasesLower({"floordiv", "cleandiv"}, floorDivide)
                    .Default(unknown);
    if (kind == minimum || kind == maximum) {
      Value best = arguments[0];
      for (Value argument : ArrayRef(arguments).drop_front()) {
        if (!best || !argument)
          return std::nullopt;
        if (kind == minimum ? less(*argument, *best) : less(*best, *argument))
          best = argument;
      }
      return best;
    }
    if (kind == floor && arguments.size() == 1)
      return floorOf(arguments[0]);
    if (kind == ceiling && arguments.size() == 1)
      return ceilingOf(arguments[0]);
    if (kind == mod && arguments.size() == 2)
      return modulo(arguments[0], arguments[1]);
    if (kind == floorDivide && arguments.size() == 2)
      return floorOf(divide(arguments[0], arguments[1]));
    return fail();
  }

  StringRef rest;
  const StringMap<int64_t> &bindings;
  int depth = 0;
  bool ok = true;
};

} // namespace

std::optional<int64_t> evaluateDimension(StringRef text, const StringMap<int64_t> &bindings) {
  if (auto found = bindings.find(text); found != bindings.end())
    return found->second;
  Value value = Parser(text, bindings).parse();
  if (!value || value->denominator != 1 || value->numerator < 0)
    return std::nullopt;
  return value->numerator;
}

SmallVector<std::string> dimensionNames(StringRef text) {
  StringMap<int64_t> none;
  Parser parser(text, none);
  parser.parse();
  if (parser.isExpression() && !parser.names.empty())
    return parser.names;
  return {text.str()};
}

bool isDimensionName(StringRef text) {
  SmallVector<std::string> names = dimensionNames(text);
  return names.size() == 1 && names[0] == text;
}

} // namespace mtc
