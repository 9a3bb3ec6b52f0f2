//===- TypeCode.cpp - Element types and their codes in the program's ABI ----------------------===//

#include "ir/TypeCode.h"

#include "ir/Mtc.h"

#include "llvm/ADT/TypeSwitch.h"

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
  // Printing the type would be slow, and memory analysis describes many calls.
  if (auto integer = dyn_cast<IntegerType>(element)) {
    const std::optional<uint32_t> code =
        typeNamed((integer.isUnsigned() ? "ui" : "i") + std::to_string(integer.getWidth()));
    assert(code && "an integer type that no tensor of the dialect has");
    return static_cast<MtcType>(*code);
  }
  return TypeSwitch<Type, MtcType>(element)
      .Case([](Float64Type) { return MTC_F64; })
      .Case([](Float32Type) { return MTC_F32; })
      .Case([](BFloat16Type) { return MTC_BF16; })
      .Case([](Float16Type) { return MTC_F16; })
      .Case([](Float8E4M3FNType) { return MTC_F8E4M3; })
      .Case([](Float8E5M2Type) { return MTC_F8E5M2; });
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
