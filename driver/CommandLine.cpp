//===- CommandLine.cpp - Command-line parser --------------------------------------------------===//

#include "driver/CommandLine.h"

#include "driver/Completion.h"
#include "driver/Flags.h"
#include "driver/Frontends.h"
#include "driver/ManPage.h"
#include "driver/Report.h"
#include "passes/planning/Technique.h"

#include "codegen/target/Target.h"
#include "support/command_line/help.h"
#include "support/command_line/parser.h"
#include "support/compiler/Errors.h"
#include "support/terminal/suggestions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using llvm::StringRef;
using llvm::Twine;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// Flags of similar tools and their equivalents in `mtc`; N is replaced by the value.
struct NearMiss {
  llvm::StringLiteral word, instead;
};
constexpr NearMiss nearMisses[] = {
    {"batch", "--dim batch=N"},
    {"batch-size", "--dim batch=N"},
    {"bs", "--dim batch=N"},
    {"learning-rate", "--lr N"},
    {"wd", "--weight-decay N"},
    {"dtype", "--precision N"},
    {"fp16", "--precision f16"},
    {"bf16", "--precision bf16"},
    {"amp", "--precision bf16"},
    {"grad-accum", "--accumulate N"},
    {"gradient-accumulation-steps", "--accumulate N"},
    {"max-grad-norm", "--clip-norm N"},
    {"gradient-checkpointing", "--recompute auto"},
    {"checkpoint", "--recompute auto"},
    {"device", "--target N"},
    {"gpu", "--target cuda"},
    {"cuda", "--target cuda"},
    {"max-memory", "--memory N"},
};

/// Renamed flags, kept for one release.
constexpr NearMiss renamedFlags[] = {{"pieces", "--tile"},
                                     {"rows-of", "--batch-input"},
                                     {"merged", "--shared-initializers"},
                                     {"rates", "--cost-model"},
                                     {"without", "--no-cudnn"}};

/// Flags of the programs that `mtc compile` generates.
constexpr llvm::StringLiteral programFlags[] = {
    "data",   "steps",   "epochs", "epoch",     "shuffle",  "no-shuffle", "seed",   "save",
    "resume", "weights", "export", "gradients", "evaluate", "outputs",    "metrics"};

[[noreturn]] void print(const std::string &text) {
  llvm::outs() << text;
  exit(0);
}

std::string describeCommands() {
  std::string text;
  auto add = [&](StringRef name, StringRef summary) {
    text += ("  " + name + std::string(14 - name.size(), ' ') + summary + "\n").str();
  };
  for (const CommandText &each : getCommands())
    add(each.name, each.summary);
  for (const PrintCommandText &each : getPrintCommands())
    add(each.name, each.summary);
  return text;
}

std::string mainHelp() {
  return "Usage: mtc COMMAND [FLAGS] MODEL.onnx\n\n"
         "Compile an ONNX model into a native training program.\n\n"
         "Commands:\n" +
         describeCommands() +
         "\nExample:\n"
         "  mtc inspect model.onnx\n"
         "  mtc compile model.onnx --dim batch=8 --loss cross-entropy --memory 12GiB -o train\n"
         "  ./train --data x=x.npy --data labels=labels.npy --epochs 3 --export trained.onnx\n"
         "\nRun 'mtc COMMAND --help' for the flags of a command, 'mtc --version' for the "
         "version.\n";
}

std::string commandHelp(const CommandText &command, bool showsAll) {
  std::string text = ("Usage: mtc " + command.name + " [FLAGS] " + command.operand + "\n\n" +
                      command.summary + ".\n")
                         .str();
  text += command_line::describeFlags(describeFlags(command.command), showsAll);
  if (!showsAll)
    text += ("\nRun 'mtc " + command.name + " --help-all' for every flag.\n").str();
  return text;
}

/// Returns the value of a flag on the command line, or "N" if there is none.
std::string valueOf(llvm::ArrayRef<std::string> words, StringRef spelling) {
  for (size_t i = 0; i < words.size(); ++i) {
    auto [name, value] = StringRef(words[i]).split('=');
    if (name != spelling)
      continue;
    if (!value.empty())
      return value.str();
    if (i + 1 < words.size() && !StringRef(words[i + 1]).starts_with("-"))
      return words[i + 1];
  }
  return "N";
}

/// Returns the message for an unknown flag: another command's, another tool's or a program's flag,
/// or a misspelled one.
std::string describeUnknown(StringRef spelling, const CommandText &command,
                            llvm::ArrayRef<std::string> words) {
  const StringRef name = spelling.ltrim('-');
  const std::string start = (spelling + ": unknown flag of mtc " + command.name).str();
  for (const CommandText &other : getCommands())
    if (getFlags().find(name, other.command))
      return start + "; it is a flag of mtc " + other.name.str();
  for (const NearMiss &renamed : renamedFlags)
    if (renamed.word == name)
      return (spelling + ": renamed to " + renamed.instead).str();
  for (const NearMiss &miss : nearMisses)
    if (miss.word == name) {
      std::string instead = miss.instead.str();
      if (instead.back() == 'N')
        instead.replace(instead.size() - 1, 1, valueOf(words, spelling));
      return start + "; did you mean " + instead + "?";
    }
  if (llvm::is_contained(programFlags, name))
    return start + "; it is a flag of the compiled program: ./train --help";
  std::vector<StringRef> names;
  for (const auto &flag : getFlags().getFlags())
    if (flag->isOf(command.command))
      names.push_back(flag->text.name);
  std::string near = terminal::suggestNames(name, names);
  return start + (near.empty() ? ("; see mtc " + command.name + " --help").str() : near);
}

/// Returns the only model. Several files, for instance from an unquoted shell pattern, are an
/// error.
std::string findModel(llvm::ArrayRef<std::string> files, const CommandText &command) {
  const std::string start = ("mtc " + command.name).str();
  if (files.empty())
    fail(start + ": expected a model, such as " + start + " model.onnx");
  if (files.size() == 1 && files.front().empty())
    fail(start + " '': expected a model file");
  if (files.size() == 1)
    return files.front();
  constexpr size_t shown = 3;
  fail("expected one model, got " + Twine(files.size()) + ": '" +
       llvm::join(files.take_front(shown), "', '") + (files.size() > shown ? "', …" : "'") +
       "; quote patterns such as '*', which the shell expands to file names");
}

/// Takes the program of `mtc sweep` and the flags of all runs, which follow it.
void takeProgram(llvm::ArrayRef<std::string> words, Options &options) {
  if (words.empty())
    fail("mtc sweep: expected a program, such as mtc sweep ./train --set lr=1e-3,3e-4 --out sweep "
         "-- --data x=x.npy --epochs 3");
  options.model = words.front();
  options.sweep.arguments = words.drop_front().vec();
}

/// Implements `mtc completion SHELL`.
[[noreturn]] void printCompletion(llvm::ArrayRef<std::string> words) {
  std::optional<std::string> script;
  if (words.size() == 1)
    script = completionScript(words.front());
  if (!script)
    fail("mtc completion" + (words.empty() ? "" : " " + llvm::join(words, " ")) +
         ": expected a shell: bash, zsh or fish");
  print(*script);
}

/// Implements `mtc operators [NAME...]`.
[[noreturn]] void printOperators(llvm::ArrayRef<std::string> words) {
  llvm::Expected<std::string> table = getFrontend().describeOperators(words);
  if (!table)
    fail(table.takeError());
  print(*table);
}

/// Prints the help of a command that only prints, if `words` request it.
void printHelpIfRequested(const PrintCommandText &command, llvm::ArrayRef<std::string> words) {
  const bool isRequested = llvm::any_of(words, [](const std::string &word) {
    return word == "--help" || word == "-h" || word == "--help-all";
  });
  if (isRequested)
    print(("Usage: mtc " + command.name + (command.operand.empty() ? "" : " ") + command.operand +
           "\n\n" + command.summary + ".\n")
              .str());
}

/// Returns the command for the first argument. Exits after commands that only print.
const CommandText &findCommand(llvm::ArrayRef<std::string> words) {
  if (words.empty()) {
    llvm::errs() << mainHelp();
    exit(1);
  }
  const StringRef first = words.front();
  if (first == "--help" || first == "-h" || first == "--help-all" || first == "help")
    print(mainHelp());
  if (first == "--version")
    print("mtc " MTC_VERSION "\n");
  for (const PrintCommandText &command : getPrintCommands())
    if (command.name == first)
      printHelpIfRequested(command, words.drop_front());
  if (first == "completion")
    printCompletion(words.drop_front());
  if (first == "man")
    print(manualPage());
  if (first == "operators")
    printOperators(words.drop_front());
  if (first == "processors")
    print(Target::describeProcessors());
  if (first == "techniques")
    print(describeTechniques());
  for (const CommandText &command : getCommands())
    if (command.name == first)
      return command;
  std::vector<StringRef> names;
  for (const PrintCommandText &command : getPrintCommands())
    names.push_back(command.name);
  for (const CommandText &command : getCommands())
    names.push_back(command.name);
  if (first.starts_with("-"))
    fail("mtc " + first + ": expected a command before flags: inspect, plan, compile or grad");
  const std::string near = terminal::suggestNames(first, names);
  fail("mtc " + first + ": unknown command" +
       (near.empty() ? std::string("; expected one of: inspect, plan, compile, grad") : near));
}

} // namespace

Command mtc::tool::parseCommandLine(int argc, char **argv, Options &options) {
  const std::vector<std::string> all(argv + 1, argv + argc);
  const CommandText &command = findCommand(all);
  const auto words = llvm::ArrayRef(all).drop_front().vec();
  const std::vector<command_line::Flag> flags = describeFlags(command.command);
  const command_line::ParsedLine line =
      command_line::parse(flags, words, [&](const std::string &spelling) {
        return describeUnknown(spelling, command, words);
      });
  if (line.has("help") || line.has("help-all"))
    print(commandHelp(command, line.has("help-all")));
  llvm::Error problems = llvm::Error::success();
  for (const std::string &problem : line.problems)
    problems = llvm::joinErrors(std::move(problems), makeUserError(problem));
  if (problems)
    fail(std::move(problems));
  if (command.command == Command::Sweep)
    takeProgram(line.operands, options);
  else
    options.model = findModel(line.operands, command);
  for (const auto &flag : getFlags().getFlags())
    flag->values.clear();
  for (const command_line::GivenFlag &given : line.given)
    if (Flag *flag = getFlags().find(given.flag->name, command.command))
      flag->values.push_back(given.value);
  collectOptions(options, command.command);
  if (options.quiet)
    setQuiet();
  return command.command;
}
