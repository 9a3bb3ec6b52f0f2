//===- CommandText.cpp - Commands of mtc, and given flags as text -----------------------------===//

#include "driver/Flags.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;
using namespace mtc;
using namespace mtc::tool;

static constexpr CommandText commands[] = {
    {Command::Inspect, "inspect", "MODEL.onnx",
     "Show a model's inputs, parameters and unsupported operators"},
    {Command::Plan, "plan", "MODEL.onnx|STAGE.mlir",
     "Show the peak memory and step time of training a model"},
    {Command::Compile, "compile", "MODEL.onnx|STAGE.mlir",
     "Compile a model into a native training program"},
    {Command::Gradient, "grad", "MODEL.onnx",
     "Write the gradient of a model's loss as an ONNX model"},
    {Command::Sweep, "sweep", "PROGRAM -- FLAGS",
     "Run a compiled program with several settings, and compare the runs"},
};

static constexpr PrintCommandText printCommands[] = {
    {"completion", "bash|zsh|fish", "Print a completion script for bash, zsh or fish"},
    {"man", "", "Print the manual page"},
    {"operators", "[NAME...]", "List the ONNX operators and how mtc supports them"},
    {"processors", "", "List the processors that --cpu accepts"},
    {"techniques", "", "List the techniques that save memory, and what they change"},
};

llvm::ArrayRef<CommandText> mtc::tool::getCommands() { return commands; }

llvm::ArrayRef<PrintCommandText> mtc::tool::getPrintCommands() { return printCommands; }

const CommandText &mtc::tool::textOf(Command command) {
  return *llvm::find_if(commands, [&](const CommandText &each) { return each.command == command; });
}

std::string mtc::tool::quoteForShell(StringRef word) {
  if (!word.empty() && llvm::all_of(word, [](char c) {
        return llvm::isAlnum(c) || StringRef("-_=./:,+@%").contains(c);
      }))
    return word.str();
  std::string quoted = "'";
  for (char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string mtc::tool::spellGivenFlags(Command command) {
  std::string text;
  for (const auto &flag : getFlags().getFlags()) {
    if (!flag->isOf(command) || flag->text.name == "json" || flag->text.name == "quiet")
      continue;
    const std::string name = " " + flag->describe().spelling();
    for (const std::string &value : flag->values) {
      text += name;
      if (!flag->isSwitch)
        text += " " + quoteForShell(value);
      else if (value == "false")
        text += "=false";
    }
  }
  return text;
}
