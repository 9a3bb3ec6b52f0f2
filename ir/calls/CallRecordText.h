//===- CallRecordText.h - Textual form of library call records --------------------------------===//
//
// Visitors of the fields of a record. A visitor is called with each field's name and value and, for
// an enumeration, its keywords: visit("m", record.m), visit("type", record.type, typeWords). A
// field that usually equals another one is printed where it differs: visit("out_type",
// record.out_type, typeWords, record.type).
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_CALLS_CALLRECORDTEXT_H
#define MTC_IR_CALLS_CALLRECORDTEXT_H

#include "ir/Mtc.h"
#include "ir/TypeCode.h"

#include <type_traits>

namespace mtc {

/// The keywords for the values of an enumeration field.
struct FieldWords {
  llvm::StringRef (*word)(uint32_t);
  std::optional<uint32_t> (*number)(llvm::StringRef);
};
inline constexpr FieldWords typeWords = {typeName, typeNamed};
/// The keywords of an enumeration of the dialect.
template <typename Enum>
inline constexpr FieldWords enumWords = {
    [](uint32_t number) { return stringifyEnum(static_cast<Enum>(number)); },
    [](llvm::StringRef word) -> std::optional<uint32_t> {
      std::optional<Enum> value = symbolizeEnum<Enum>(word);
      return value ? std::optional(static_cast<uint32_t>(*value)) : std::nullopt;
    }};

/// A visitor that sums the sizes of the fields in bytes.
struct FieldBytes {
  size_t bytes = 0;
  template <typename Field, typename... Words>
  constexpr void operator()(const char *, Field &, const Words &...) {
    bytes += sizeof(Field);
  }
};

/// Returns whether `visit` visits every byte of a record, that is, no field is missing and there is
/// no padding.
template <typename Record, typename Visit> constexpr bool visitsAll(Visit visit) {
  Record record = {};
  FieldBytes visited;
  visit(record, visited);
  return visited.bytes == sizeof(Record);
}

class FieldPrinter {
public:
  explicit FieldPrinter(mlir::AsmPrinter &printer) : printer(printer) {}

  template <typename Field> void operator()(const char *name, const Field &field) {
    if (!isZero(field)) {
      begin(name);
      print(field);
    }
  }
  void operator()(const char *name, uint32_t field, const FieldWords &words) {
    if (field == 0 && words.word(0).empty())
      return;
    begin(name);
    printer << words.word(field);
  }
  /// Prints a type that differs from `usual`, or an array with one that does.
  template <typename Field>
  void operator()(const char *name, const Field &field, const FieldWords &words, uint32_t usual) {
    const auto all = llvm::ArrayRef<uint32_t>(field);
    if (llvm::all_of(all, [&](uint32_t each) { return each == usual; }))
      return;
    begin(name);
    if constexpr (std::is_array_v<Field>)
      printer << '[';
    llvm::interleaveComma(all, printer, [&](uint32_t each) { printer << words.word(each); });
    if constexpr (std::is_array_v<Field>)
      printer << ']';
  }

private:
  template <typename Field> static bool isZero(const Field &field) {
    if constexpr (std::is_array_v<Field>)
      return llvm::all_of(field, [](const auto &each) { return isZero(each); });
    else
      return field == 0 && !std::signbit(static_cast<double>(field));
  }
  void begin(const char *name) {
    printer << (isFirst ? "" : ", ") << name << " = ";
    isFirst = false;
  }
  /// Prints an array without trailing zeros.
  template <typename Field> void print(const Field &field) {
    if constexpr (std::is_array_v<Field>) {
      size_t count = std::size(field);
      while (count > 0 && isZero(field[count - 1]))
        --count;
      printer << '[';
      for (size_t i = 0; i < count; ++i) {
        printer << (i ? ", " : "");
        print(field[i]);
      }
      printer << ']';
    } else if constexpr (std::is_floating_point_v<Field>) {
      printer.printFloat(llvm::APFloat(field));
    } else {
      printer << field;
    }
  }

  mlir::AsmPrinter &printer;
  bool isFirst = true;
};

/// A visitor that parses the field with a given name.
class FieldParserOf {
public:
  FieldParserOf(mlir::AsmParser &parser, llvm::StringRef name) : parser(parser), name(name) {}
  /// The result of parsing; nullopt if the record has no such field.
  std::optional<mlir::ParseResult> result;

  template <typename Field> void operator()(llvm::StringRef field, Field &value) {
    if (field == name)
      result = parse(value);
  }
  void operator()(llvm::StringRef field, uint32_t &value, const FieldWords &words) {
    if (field == name)
      result = parse(value, words);
  }
  template <typename Field>
  void operator()(llvm::StringRef field, Field &value, const FieldWords &words, uint32_t) {
    if (field == name)
      result = parse(value, words);
  }
  bool is(llvm::StringRef field) const { return field == name; }

private:
  template <typename Field> mlir::ParseResult parse(Field &value, const FieldWords &words) {
    if constexpr (std::is_array_v<Field>) {
      return parseArray(value, [&](auto &each) { return parse(each, words); });
    } else {
      llvm::StringRef word;
      llvm::SMLoc at = parser.getCurrentLocation();
      if (parser.parseKeyword(&word))
        return mlir::failure();
      std::optional<uint32_t> number = words.number(word);
      if (!number)
        return parser.emitError(at) << "'" << word << "' is no " << name;
      value = *number;
      return mlir::success();
    }
  }

  template <typename Field> mlir::ParseResult parse(Field &value) {
    if constexpr (std::is_array_v<Field>) {
      return parseArray(value, [&](auto &each) { return parse(each); });
    } else if constexpr (std::is_floating_point_v<Field>) {
      return parser.parseFloat(value);
    } else {
      return parser.parseInteger(value);
    }
  }

  template <typename Field, typename ParseElement>
  mlir::ParseResult parseArray(Field &value, const ParseElement &parseElement) {
    size_t next = 0;
    return parser.parseCommaSeparatedList(
        mlir::AsmParser::Delimiter::Square, [&]() -> mlir::ParseResult {
          if (next == std::size(value))
            return parser.emitError(parser.getCurrentLocation())
                   << name << " has at most " << std::size(value) << " elements";
          return parseElement(value[next++]);
        });
  }

  mlir::AsmParser &parser;
  llvm::StringRef name;
};

/// Parses a comma-separated list of `name = value` up to the end of the attribute. `visit` calls a
/// visitor with the record's fields.
template <typename Visit> mlir::ParseResult parseFields(mlir::AsmParser &parser, Visit visit) {
  do {
    llvm::SMLoc at = parser.getCurrentLocation();
    llvm::StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return mlir::failure();
    FieldParserOf field(parser, name);
    visit(field);
    if (!field.result)
      return parser.emitError(at) << "a call of this kind has no '" << name << "'";
    if (failed(*field.result))
      return mlir::failure();
  } while (succeeded(parser.parseOptionalComma()));
  return mlir::success();
}

} // namespace mtc

#endif // MTC_IR_CALLS_CALLRECORDTEXT_H
