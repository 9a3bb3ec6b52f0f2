//===- ManPage.cpp - Manual page mtc(1) -------------------------------------------------------===//

#include "driver/ManPage.h"

#include "driver/Flags.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;
using namespace mtc::tool;
namespace cli = mtc::command_line;

namespace {

/// Escapes characters with a meaning in roff.
std::string escape(StringRef text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  // A period or quote at the start of a line would start a request.
  return (StringRef(".'").contains(escaped.empty() ? ' ' : escaped.front()) ? "\\&" : "") + escaped;
}

std::string describe(const Flag &flag) {
  const cli::Flag line = flag.describe();
  std::string text = ".TP\n\\fB" + escape(line.spelling()) + "\\fR";
  if (!line.value.empty())
    text += " \\fI" + escape(line.value) + "\\fR";
  text += "\n" + escape(line.summary);
  if (!line.defaultValue.empty())
    text += " (default: " + escape(line.defaultValue) + ")";
  text += ".\n";
  if (!line.detail.empty())
    text += escape(line.detail) + "\n";
  if (flag.commands.size() < getCommands().size()) {
    std::vector<std::string> names;
    for (const CommandText &command : getCommands())
      if (flag.isOf(command.command))
        names.push_back(command.name.str());
    text += "Commands: " + llvm::join(names, ", ") + ".\n";
  }
  for (const cli::Choice &choice : line.choices)
    text += ".RS\n.TP\n\\fB" + escape(choice.name) + "\\fR\n" +
            (choice.summary.empty() ? "\\&" : escape(choice.summary)) + "\n.RE\n";
  return text;
}

} // namespace

std::string mtc::tool::manualPage() {
  std::string text = ".TH MTC 1 \"\" \"mtc " MTC_VERSION "\" \"User Commands\"\n"
                     ".SH NAME\nmtc \\- compile an ONNX model into a native training program\n"
                     ".SH SYNOPSIS\n";
  for (const CommandText &command : getCommands())
    text += ".B mtc " + command.name.str() + "\n[\\fIFLAGS\\fR] \\fI" + escape(command.operand) +
            "\\fR\n.br\n";
  for (const PrintCommandText &command : getPrintCommands())
    text += ".B mtc " + command.name.str() + "\n\\fI" + escape(command.operand) + "\\fR\n.br\n";
  text += ".SH COMMANDS\n";
  for (const CommandText &command : getCommands())
    text += ".TP\n.B " + command.name.str() + "\n" + escape(command.summary) + ".\n";
  for (const PrintCommandText &command : getPrintCommands())
    text += ".TP\n.B " + command.name.str() + "\n" + escape(command.summary) + ".\n";
  std::vector<StringRef> groups;
  for (const auto &flag : getFlags().getFlags())
    if (!llvm::is_contained(groups, flag->group))
      groups.push_back(flag->group);
  text += ".SH FLAGS\n";
  for (StringRef group : groups) {
    text += ".SS " + escape(group) + "\n";
    for (const auto &flag : getFlags().getFlags())
      if (flag->group == group)
        text += describe(*flag);
  }
  return text + ".SH EXIT STATUS\n.TP\n.B 0\nSuccess.\n.TP\n.B 1\nInvalid input, or a model that "
                "exceeds \\fB\\-\\-memory\\fR.\n.TP\n.B 2\nA fault of the system.\n";
}
