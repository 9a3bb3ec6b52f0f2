//===- ConstantBuilder.h - Constants of C's layout in an LLVM module --------------------------===//

#ifndef MTC_CODEGEN_TARGET_CONSTANTBUILDER_H
#define MTC_CODEGEN_TARGET_CONSTANTBUILDER_H

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace mtc {

/// Builds the tables of a program. Structs are laid out as C does.
class ConstantBuilder {
public:
  explicit ConstantBuilder(llvm::Module &module) : module(module), context(module.getContext()) {}

  llvm::Constant *u32(uint32_t value) {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
  }
  llvm::Constant *i32(int32_t value) {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt32Ty(context), value);
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

  /// A pointer to a string that ends with a zero byte; equal strings are one.
  llvm::Constant *string(llvm::StringRef text);
  /// A pointer to bytes, aligned to 64; null if there are none.
  llvm::Constant *bytes(llvm::StringRef data);
  /// A pointer to an array of structs of one type; null if it is empty.
  llvm::Constant *array(llvm::ArrayRef<llvm::Constant *> elements);
  llvm::Constant *i64Array(llvm::ArrayRef<int64_t> elements);

  /// The address of a function of the program, defined elsewhere.
  llvm::Constant *function(llvm::StringRef symbol);

  llvm::GlobalVariable *global(llvm::Constant *initializer, const llvm::Twine &name = "");

private:
  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::StringMap<llvm::Constant *> strings;
};

} // namespace mtc

#endif // MTC_CODEGEN_TARGET_CONSTANTBUILDER_H
