//===- GraphSignature.cpp - Names of graph inputs and outputs ---------------------------------===//

#include "passes/GraphSignature.h"

using namespace mlir;
using namespace mtc;

static StringRef text(StringAttr attribute) {
  return attribute ? attribute.getValue() : StringRef();
}

StringRef mtc::argumentName(func::FuncOp function, unsigned index) {
  return text(function.getArgAttrOfType<StringAttr>(index, nameAttribute));
}

StringRef mtc::resultName(func::FuncOp function, unsigned index) {
  return text(function.getResultAttrOfType<StringAttr>(index, nameAttribute));
}

std::optional<unsigned> mtc::findArgument(func::FuncOp function, StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (argumentName(function, i) == name)
      return i;
  return std::nullopt;
}

std::optional<unsigned> mtc::findResult(func::FuncOp function, StringRef name) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (resultName(function, i) == name)
      return i;
  return std::nullopt;
}

std::string mtc::print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string mtc::listResults(func::FuncOp function) {
  std::string list;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    list += (i ? ", '" : "'") + resultName(function, i).str() + "' " +
            print(function.getResultTypes()[i]);
  return list.empty() ? "none" : list;
}
