//===- OptionTable.cpp - Options shared by passes, pipelines and flags ------------------------===//

#include "passes/OptionTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mtc;

std::string mtc::joinNames(llvm::ArrayRef<OptionChoice> choices) {
  return llvm::join(llvm::map_range(choices, [](const OptionChoice &each) { return each.name; }),
                    ", ");
}

std::string OptionText::checkChoice(llvm::StringRef value) const {
  if (value.empty() || choices.empty() ||
      llvm::any_of(choices, [&](const OptionChoice &each) { return each.name == value; }))
    return "";
  return "invalid value; expected one of: " + joinNames(choices);
}

std::string mtc::spellNumber(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}
