//===- TypeCode.cpp - Element types and their codes in the program's ABI ----------------------===//

#include "ir/TypeCode.h"

#include "ir/Mtc.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc;

#define FLOAT(name, code, bytes, exponent, fraction, infinity, nan, text, ir, numpy, safetensors)  \
  ir,
#define INTEGER(name, code, bytes, text, ir, numpy, safetensors) ir,
/// Indexed by MtcType.
static constexpr StringLiteral typeNames[] = {MTC_ELEMENT_TYPES(FLOAT, INTEGER)};
#undef FLOAT
#undef INTEGER

/// Returns the code of a type, or nullopt if there is none.
static std::optional<uint32_t> findCode(Type element) {
  // Printing the type would be slow, and memory analysis describes many calls.
  if (auto integer = dyn_cast<IntegerType>(element))
    return typeNamed((integer.isUnsigned() ? "ui" : "i") + std::to_string(integer.getWidth()));
  return TypeSwitch<Type, std::optional<uint32_t>>(element)
      .Case([](Float64Type) { return MTC_F64; })
      .Case([](Float32Type) { return MTC_F32; })
      .Case([](BFloat16Type) { return MTC_BF16; })
      .Case([](Float16Type) { return MTC_F16; })
      .Case([](Float8E4M3FNType) { return MTC_F8E4M3; })
      .Case([](Float8E5M2Type) { return MTC_F8E5M2; })
      .Default(std::nullopt);
}

bool mtc::hasTypeCode(Type element) { return findCode(element).has_value(); }

MtcType mtc::typeCode(Type element) {
  const std::optional<uint32_t> code = findCode(element);
  assert(code && "a type that no tensor of the dialect has");
  return static_cast<MtcType>(*code);
}

Type mtc::typeOfCode(uint32_t code, MLIRContext *context) {
  return parseType(typeName(code), context);
}

StringRef mtc::typeName(uint32_t code) {
  return code < std::size(typeNames) ? StringRef(typeNames[code]) : "";
}

std::optional<uint32_t> mtc::typeNamed(StringRef name) {
  const auto *found = llvm::find(typeNames, name);
  if (found == std::end(typeNames))
    return std::nullopt;
  return static_cast<uint32_t>(found - typeNames);
}

bool mtc::isNarrowFloat(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type && type.getWidth() >= 16 && type.getWidth() < 32;
}

bool mtc::hasSmallRange(Type element) {
  auto type = dyn_cast<FloatType>(element);
  return type && APFloat::semanticsMaxExponent(type.getFloatSemantics()) <
                     APFloat::semanticsMaxExponent(APFloat::IEEEsingle());
}

bool mtc::holdsSumsOf(Type operand, Type element) {
  return operand == element || (element.isF32() && isNarrowFloat(operand));
}

bool mtc::isFloat8(uint32_t code) { return mtc_float_format(code).bits == 8; }

bool mtc::holdsSumsOf(uint32_t operand, uint32_t element) {
  return element == operand || element == mtc_sum_type(operand) ||
         (isFloat8(operand) && mtc_is_narrow_float(element));
}
