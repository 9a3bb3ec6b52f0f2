//===- Completion.cpp - Shell completion scripts ----------------------------------------------===//

#include "driver/Completion.h"

#include "driver/Flags.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;
using namespace mtc::tool;
namespace cli = mtc::command_line;

namespace {

/// Returns the choices of a flag, separated by spaces.
std::string choicesOf(const cli::Flag &flag) {
  return llvm::join(
      llvm::map_range(flag.choices, [](const cli::Choice &choice) { return choice.name; }), " ");
}

std::string bashScript() {
  std::string text =
      "# bash completion of mtc: source <(mtc completion bash)\n"
      "_mtc() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '";
  for (const CommandText &command : getCommands())
    text += command.name.str() + " ";
  for (const PrintCommandText &command : getPrintCommands())
    text += command.name.str() + " ";
  text.back() = '\'';
  text += " -- \"$current\"))\n    return\n  fi\n"
          "  case ${COMP_WORDS[1]}:$previous in\n";
  for (const CommandText &command : getCommands())
    for (const cli::Flag &flag : describeFlags(command.command)) {
      if (!flag.needsValue())
        continue;
      const std::string action = flag.choices.empty() ? "-f" : "-W '" + choicesOf(flag) + "'";
      text += "    " + command.name.str() + ":" + flag.spelling() + ") COMPREPLY=($(compgen " +
              action + " -- \"$current\")); return ;;\n";
    }
  text += "  esac\n  if [[ $current == -* ]]; then\n    case ${COMP_WORDS[1]} in\n";
  for (const CommandText &command : getCommands()) {
    text += "      " + command.name.str() + ") COMPREPLY=($(compgen -W '";
    for (const cli::Flag &flag : describeFlags(command.command))
      text += flag.spelling() + " ";
    text.back() = '\'';
    text += " -- \"$current\")) ;;\n";
  }
  return text + "    esac\n  else\n    COMPREPLY=($(compgen -f -- \"$current\"))\n  fi\n}\n"
                "complete -o filenames -F _mtc mtc\n";
}

/// Returns an argument of zsh's `_arguments`: '--name[summary]:value:action'.
std::string zshArgument(const cli::Flag &flag) {
  auto escape = [](StringRef text) {
    std::string escaped;
    for (char c : text)
      escaped += (StringRef("[]:\\").contains(c) ? "\\" : "") + std::string(1, c);
    return escaped;
  };
  std::string text =
      (flag.isRepeatable ? "*" : "") + flag.spelling() + "[" + escape(flag.summary) + "]";
  if (flag.needsValue())
    text += ":" + escape(flag.value) + ":" +
            (flag.choices.empty() ? "_files" : "(" + choicesOf(flag) + ")");
  return quoteForShell(text);
}

std::string zshScript() {
  std::string text = "#compdef mtc\n# zsh completion of mtc: mtc completion zsh > "
                     "\"${fpath[1]}/_mtc\"\n_mtc() {\n  if ((CURRENT == 2)); then\n"
                     "    local -a commands=(\n";
  for (const CommandText &command : getCommands())
    text += "      " + quoteForShell((command.name + ":" + command.summary).str()) + "\n";
  for (const PrintCommandText &command : getPrintCommands())
    text += "      " + quoteForShell((command.name + ":" + command.summary).str()) + "\n";
  text += "    )\n"
          "    _describe command commands\n    return\n  fi\n  local command=$words[2]\n"
          "  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (const CommandText &command : getCommands()) {
    text += "    " + command.name.str() + ")\n      _arguments";
    for (const cli::Flag &flag : describeFlags(command.command))
      text += " \\\n        " + zshArgument(flag);
    text += " \\\n        '*:model:_files' ;;\n";
  }
  return text + "    completion) _values shell bash zsh fish ;;\n  esac\n}\n"
                "compdef _mtc mtc\n";
}

std::string fishScript() {
  std::string text = "# fish completion of mtc: mtc completion fish | source\n";
  for (const PrintCommandText &command : getPrintCommands())
    text += "complete -c mtc -n __fish_use_subcommand -f -a " + command.name.str() + " -d " +
            quoteForShell(command.summary) + "\n";
  for (const CommandText &command : getCommands()) {
    text += "complete -c mtc -n __fish_use_subcommand -f -a " + command.name.str() + " -d " +
            quoteForShell(command.summary) + "\n";
    for (const cli::Flag &flag : describeFlags(command.command)) {
      text += "complete -c mtc -n '__fish_seen_subcommand_from " + command.name.str() + "' " +
              (flag.name.size() == 1 ? "-s " : "-l ") + flag.name;
      if (flag.needsValue())
        text += flag.choices.empty() ? " -r" : " -x -a " + quoteForShell(choicesOf(flag));
      text += " -d " + quoteForShell(flag.summary) + "\n";
    }
  }
  return text;
}

} // namespace

std::optional<std::string> mtc::tool::completionScript(StringRef shell) {
  if (shell == "bash")
    return bashScript();
  if (shell == "zsh")
    return zshScript();
  if (shell == "fish")
    return fishScript();
  return std::nullopt;
}
