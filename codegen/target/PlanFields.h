//===- PlanFields.h - Text format and hashing of kernel plans ---------------------------------===//
//
// A target's plan of a kernel is a struct stored in an attribute. It lists its fields once, in
//
//   template <typename Visitor> static constexpr void visitFields(Visitor &&field) {
//     field("grain", &LoopPlan::grain);
//     …
//   }
//
// from which its text format and its hash are derived. Fields with default values are omitted from
// the text.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_TARGET_PLANFIELDS_H
#define MTC_CODEGEN_TARGET_PLANFIELDS_H

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/Hashing.h"

#include <array>
#include <optional>
#include <variant>

namespace mtc {

template <typename T>
concept Plan = requires { T::visitFields([](auto...) {}); };

namespace detail {

template <typename> inline constexpr bool isOptional = false;
template <typename T> inline constexpr bool isOptional<std::optional<T>> = true;
template <typename> inline constexpr bool isVariant = false;
template <typename... Ts> inline constexpr bool isVariant<std::variant<Ts...>> = true;
template <typename> inline constexpr bool isArray = false;
template <typename T, size_t n> inline constexpr bool isArray<std::array<T, n>> = true;

/// Converts to any field type except optionals, which are constructed from their value.
struct AnyField {
  template <typename T>
    requires(!isOptional<T>)
  operator T() const;
};
template <typename T, typename... Fields> constexpr size_t countFields() {
  if constexpr (requires { T{Fields{}..., AnyField{}}; })
    return countFields<T, Fields..., AnyField>();
  else
    return sizeof...(Fields);
}

} // namespace detail

/// Returns whether `visitFields` visits every field of the plan.
template <Plan T> constexpr bool visitsAllFields() {
  size_t visited = 0;
  T::visitFields([&](const char *, auto) { ++visited; });
  return visited == detail::countFields<T>();
}

/// Prints a plan as a comma-separated list of `name = value`. A nested plan is printed in angle
/// brackets, a variant with the alternative's `keyword` before them.
class PlanPrinter {
public:
  explicit PlanPrinter(mlir::AsmPrinter &printer) : printer(printer) {}

  template <Plan T> void print(const T &plan) {
    static_assert(visitsAllFields<T>());
    const T unset;
    llvm::ListSeparator separator;
    T::visitFields([&](const char *name, auto member) {
      if (plan.*member == unset.*member)
        return;
      printer << llvm::StringRef(separator) << name << " = ";
      printField(plan.*member);
    });
  }

private:
  template <typename T> void printField(const T &field) {
    if constexpr (Plan<T>) {
      printer << '<';
      print(field);
      printer << '>';
    } else if constexpr (detail::isVariant<T>) {
      std::visit(
          [&](const auto &plan) {
            printer << plan.keyword;
            printField(plan);
          },
          field);
    } else if constexpr (std::is_same_v<T, bool>) {
      printer << (field ? "true" : "false");
    } else if constexpr (std::is_integral_v<T>) {
      printer << field;
    } else if constexpr (detail::isOptional<T>) {
      printField(*field);
    } else {
      printer << '[';
      llvm::interleaveComma(field, printer, [&](const auto &element) { printField(element); });
      printer << ']';
    }
  }

  mlir::AsmPrinter &printer;
};

/// Parses the output of PlanPrinter, with fields in any order.
class PlanParser {
public:
  explicit PlanParser(mlir::AsmParser &parser) : parser(parser) {}

  template <Plan T> mlir::ParseResult parse(T &plan) {
    llvm::StringRef name;
    if (failed(parser.parseOptionalKeyword(&name)))
      return mlir::success(); // All fields are unset.
    while (true) {
      llvm::SMLoc at = parser.getCurrentLocation();
      std::optional<mlir::ParseResult> result;
      if (parser.parseEqual())
        return mlir::failure();
      T::visitFields([&](llvm::StringRef field, auto member) {
        if (field == name)
          result = parseField(plan.*member);
      });
      if (!result)
        return parser.emitError(at) << "a plan of this kind has no field '" << name << "'";
      if (failed(*result))
        return mlir::failure();
      if (failed(parser.parseOptionalComma()))
        return mlir::success();
      if (parser.parseKeyword(&name))
        return mlir::failure();
    }
  }

private:
  template <typename T> mlir::ParseResult parseField(T &field) {
    if constexpr (Plan<T>) {
      return mlir::failure(parser.parseLess() || parse(field) || parser.parseGreater());
    } else if constexpr (detail::isVariant<T>) {
      return parseVariant(field);
    } else if constexpr (std::is_same_v<T, bool>) {
      field = succeeded(parser.parseOptionalKeyword("true"));
      return field ? mlir::success() : parser.parseKeyword("false");
    } else if constexpr (std::is_integral_v<T>) {
      return parser.parseInteger(field);
    } else if constexpr (detail::isOptional<T>) {
      return parseField(field.emplace());
    } else {
      return parseList(field);
    }
  }

  template <typename T> mlir::ParseResult parseList(T &field) {
    llvm::SMLoc at = parser.getCurrentLocation();
    size_t count = 0;
    mlir::ParseResult result = parser.parseCommaSeparatedList(
        mlir::AsmParser::Delimiter::Square, [&]() -> mlir::ParseResult {
          ++count;
          if constexpr (!detail::isArray<T>)
            return parseField(field.emplace_back());
          else if (count <= field.size())
            return parseField(field[count - 1]);
          else
            return mlir::failure();
        });
    if constexpr (detail::isArray<T>)
      if (count != field.size())
        return parser.emitError(at) << "expected " << field.size() << " numbers";
    return result;
  }

  template <typename... Ts> mlir::ParseResult parseVariant(std::variant<Ts...> &field) {
    llvm::SMLoc at = parser.getCurrentLocation();
    llvm::StringRef keyword;
    if (parser.parseKeyword(&keyword))
      return mlir::failure();
    std::optional<mlir::ParseResult> result;
    auto parseOne = [&]<typename T>() {
      if (keyword == T::keyword)
        result = parseField(field.template emplace<T>());
    };
    (parseOne.template operator()<Ts>(), ...);
    return result ? *result : parser.emitError(at) << "unknown plan kind '" << keyword << "'";
  }

  mlir::AsmParser &parser;
};

/// Prints a plan in angle brackets, as the parameter of an attribute.
template <Plan T> void printPlan(mlir::AsmPrinter &printer, const T &plan) {
  printer << '<';
  PlanPrinter(printer).print(plan);
  printer << '>';
}
template <Plan T> mlir::FailureOr<T> parsePlan(mlir::AsmParser &parser) {
  T plan;
  if (parser.parseLess() || PlanParser(parser).parse(plan) || parser.parseGreater())
    return mlir::failure();
  return plan;
}

/// Returns whether no number is less than in a default-constructed plan, whose values are the
/// minimum valid ones.
template <Plan T> bool hasValidNumbers(const T &plan) {
  const T unset;
  bool valid = true;
  T::visitFields([&](const char *, auto member) {
    using Field = std::remove_cvref_t<decltype(plan.*member)>;
    if constexpr (Plan<Field>)
      valid &= hasValidNumbers(plan.*member);
    else if constexpr (std::is_integral_v<Field>)
      valid &= plan.*member >= unset.*member;
  });
  return valid;
}

template <typename T> llvm::hash_code hashPlan(const T &field) {
  if constexpr (Plan<T>) {
    llvm::hash_code hash = 0;
    T::visitFields([&](const char *, auto member) {
      hash = llvm::hash_combine(hash, hashPlan(field.*member));
    });
    return hash;
  } else if constexpr (detail::isVariant<T>) {
    return std::visit(
        [&](const auto &plan) { return llvm::hash_combine(field.index(), hashPlan(plan)); }, field);
  } else if constexpr (std::is_integral_v<T>) {
    return llvm::hash_value(field);
  } else if constexpr (detail::isOptional<T>) {
    return llvm::hash_combine(field.has_value(), field ? hashPlan(*field) : llvm::hash_code(0));
  } else {
    llvm::hash_code hash = field.size();
    for (const auto &element : field)
      hash = llvm::hash_combine(hash, hashPlan(element));
    return hash;
  }
}

} // namespace mtc

#endif // MTC_CODEGEN_TARGET_PLANFIELDS_H
