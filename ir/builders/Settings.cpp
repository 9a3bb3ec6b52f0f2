//===- Settings.cpp - Numbers that flags of a program set -------------------------------------===//

#include "ir/builders/Settings.h"

#include "ir/attributes/DiscardableAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mtc;

bool mtc::hasSettings(ModuleOp module) { return module->hasAttr(settingsAttribute); }

SettingAttr mtc::initialValueOf(Builder &b, const SettingKind &kind, double value) {
  auto number = [&](double each) { return b.getF64FloatAttr(each); };
  return SettingAttr::get(b.getContext(), kind.name, kind.flag, number(value), number(kind.minimum),
                          number(kind.limit), kind.help);
}

Number mtc::readNumber(TensorBuilder &b, const SettingKind &kind, StringRef scope, double value) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!hasSettings(module))
    return value;
  SymbolTable symbols(module);
  auto functions = module.getOps<func::FuncOp>();
  const Block::iterator end =
      functions.empty() ? module.getBody()->end() : (*functions.begin())->getIterator();
  VariableOp variable =
      VariableOp::findOrAddSetting(symbols, scope, initialValueOf(b, kind, value), end);
  return Number(Value(b.create<ReadOp>(variable.getTensorType(), variable.getSymName())));
}

Number mtc::scale(TensorBuilder &b, const Number &number, double factor) {
  if (!number.setting)
    return factor * number.constant;
  return Number(b.mul(number.setting, b.splat(number.setting, factor)));
}

Number mtc::complement(TensorBuilder &b, const Number &number) {
  if (!number.setting)
    return 1.0 - number.constant;
  return Number(b.sub(b.splat(number.setting, 1.0), number.setting));
}

Value mtc::broadcastLike(TensorBuilder &b, Value scalar, Value like) {
  return b.broadcastTo(b.cast(scalar, typeOf(like).getElementType()), shapeOf(like));
}

Value mtc::broadcastLike(TensorBuilder &b, const Number &number, Value like) {
  return number.setting ? broadcastLike(b, number.setting, like) : b.splat(like, number.constant);
}
