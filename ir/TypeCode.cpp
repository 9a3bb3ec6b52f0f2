//===- TypeCode.cpp - Element types and their codes in the program's ABI ----------------------===//

#include "ir/TypeCode.h"

#include "ir/Mtc.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Names and sizes of the types, in the order of MtcType.
struct TypeRow {
  StringLiteral name;
  int64_t bytes;
};
constexpr TypeRow types[] = {{"f64", 8},  {"f32", 4}, {"bf16", 2}, {"f16", 2},      {"i64", 8},
                             {"i32", 4},  {"i16", 2}, {"i8", 1},   {"ui64", 8},     {"ui32", 4},
                             {"ui16", 2}, {"ui8", 1}, {"i1", 1},   {"f8E4M3FN", 1}, {"f8E5M2", 1}};
static_assert(std::size(types) == MTC_F8E5M2 + 1);

} // namespace

MtcType mtc::typeCode(Type element) {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  std::optional<uint32_t> code = typeNamed(name);
  assert(code && "an element type that no tensor of the dialect has");
  return static_cast<MtcType>(*code);
}

StringRef mtc::typeName(uint32_t code) {
  return code < std::size(types) ? StringRef(types[code].name) : "";
}

std::optional<uint32_t> mtc::typeNamed(StringRef name) {
  const auto *row = llvm::find_if(types, [&](const TypeRow &row) { return row.name == name; });
  if (row == std::end(types))
    return std::nullopt;
  return static_cast<uint32_t>(row - types);
}

bool mtc::holdsSumsOf(Type operand, Type element) {
  return operand == element || (element.isF32() && (operand.isBF16() || operand.isF16()));
}

int64_t mtc::bytesOfType(uint32_t code) { return types[code].bytes; }
