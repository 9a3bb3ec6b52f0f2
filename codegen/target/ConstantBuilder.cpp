//===- ConstantBuilder.cpp - Constants with C layout in an LLVM module ------------------------===//

#include "codegen/target/ConstantBuilder.h"

using namespace llvm;
using namespace mtc;

GlobalVariable *ConstantBuilder::global(Constant *initializer, const Twine &name) {
  return new GlobalVariable(module, initializer->getType(), /*isConstant=*/true,
                            GlobalValue::PrivateLinkage, initializer, name);
}

Constant *ConstantBuilder::string(StringRef text) {
  Constant *&known = strings[text];
  if (!known)
    known = global(ConstantDataArray::getString(context, text), "string");
  return known;
}

Constant *ConstantBuilder::bytes(StringRef data) {
  if (data.empty())
    return null();
  auto *result = global(ConstantDataArray::getString(context, data, /*AddNull=*/false), "bytes");
  result->setAlignment(Align(64));
  return result;
}

Constant *ConstantBuilder::array(ArrayRef<Constant *> elements) {
  if (elements.empty())
    return null();
  ArrayType *type = ArrayType::get(elements.front()->getType(), elements.size());
  return global(ConstantArray::get(type, elements), "table");
}

Constant *ConstantBuilder::i64Array(ArrayRef<int64_t> elements) {
  if (elements.empty())
    return null();
  SmallVector<uint64_t> bits(elements.begin(), elements.end());
  return global(ConstantDataArray::get(context, bits), "numbers");
}

Constant *ConstantBuilder::function(StringRef symbol) {
  if (Function *known = module.getFunction(symbol))
    return known;
  auto *type = FunctionType::get(Type::getVoidTy(context), {}, false);
  auto *result = Function::Create(type, GlobalValue::ExternalLinkage, symbol, module);
  result->setVisibility(GlobalValue::HiddenVisibility);
  return result;
}

Constant *ConstantBuilder::data(StringRef symbol) {
  auto *result = new GlobalVariable(module, Type::getInt8Ty(context), /*isConstant=*/true,
                                    GlobalValue::ExternalLinkage, nullptr, symbol);
  result->setVisibility(GlobalValue::HiddenVisibility);
  return result;
}
