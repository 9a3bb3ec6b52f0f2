//===- ConstantBuilder.h - Constants with C layout in an LLVM module --------------------------===//

#ifndef MTC_CODEGEN_TARGET_CONSTANTBUILDER_H
#define MTC_CODEGEN_TARGET_CONSTANTBUILDER_H

#include "codegen/target/AbiFields.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace mtc {

/// Builds the tables of a program as LLVM constants with C's struct layout.
class ConstantBuilder {
public:
  explicit ConstantBuilder(llvm::Module &module) : module(module), context(module.getContext()) {}

  llvm::Constant *u32(uint32_t value) {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
  }
  llvm::Constant *i64(int64_t value) {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context), value);
  }
  llvm::Constant *f64(double value) {
    return llvm::ConstantFP::get(llvm::Type::getDoubleTy(context), value);
  }
  llvm::Constant *null() {
    return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(context));
  }
  llvm::Constant *structure(llvm::ArrayRef<llvm::Constant *> fields) {
    return llvm::ConstantStruct::getAnon(context, fields);
  }
  /// Returns a struct of the ABI from all its fields, in order. Values are numbers, strings or
  /// constants.
  template <auto... members, typename... Values>
  llvm::Constant *record(const Field<members, Values> &...fields) {
    static_assert(abi::areAllFields<members...>(), "not the struct's fields in their order");
    return structure({ofType<abi::FieldType<members>>(fields.value)...});
  }

  /// Returns a pointer to a null-terminated string. Equal strings are shared.
  llvm::Constant *string(llvm::StringRef text);
  /// Returns a pointer to bytes aligned to 64, or null if `data` is empty.
  llvm::Constant *bytes(llvm::StringRef data);
  /// Returns a pointer to an array of structs of one type, or null if it is empty.
  llvm::Constant *array(llvm::ArrayRef<llvm::Constant *> elements);
  llvm::Constant *i64Array(llvm::ArrayRef<int64_t> elements);

  /// Returns the address of a function of the program that is defined in another object.
  llvm::Constant *function(llvm::StringRef symbol);
  /// Returns the address of constant data of the program that is defined in another object.
  llvm::Constant *data(llvm::StringRef symbol);

  llvm::GlobalVariable *global(llvm::Constant *initializer, const llvm::Twine &name = "");

private:
  template <typename Type, typename Value> llvm::Constant *ofType(const Value &value) {
    if constexpr (std::is_convertible_v<Value, llvm::Constant *>) {
      static_assert(!std::is_arithmetic_v<Type>, "a number is given as such");
      return value;
    } else if constexpr (std::is_same_v<Type, const char *>) {
      return string(value);
    } else if constexpr (std::is_same_v<Type, double>) {
      return f64(value);
    } else {
      static_assert(std::is_integral_v<Type> &&
                    (std::is_integral_v<Value> || std::is_enum_v<Value>));
      auto number = static_cast<Type>(value);
      if constexpr (sizeof(Type) == 8)
        return i64(number);
      else
        return u32(static_cast<uint32_t>(number));
    }
  }

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::StringMap<llvm::Constant *> strings;
};

} // namespace mtc

#endif // MTC_CODEGEN_TARGET_CONSTANTBUILDER_H
