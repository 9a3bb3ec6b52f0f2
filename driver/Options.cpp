//===- Options.cpp - What the user asks of mtc ------------------------------------------------===//

#include "driver/Options.h"

#include "driver/Flags.h"
#include "driver/Recipe.h"
#include "driver/Report.h"
#include "tools/support/Errors.h"

#include "llvm/ADT/StringSet.h"

namespace cl = llvm::cl;
using llvm::StringRef;
using llvm::Twine;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// Fills the options from the command line and, where `before` did not give a flag, the recipe.
/// Everything that is wrong with them is said at once.
void collect(Options &options, cl::SubCommand &command, const llvm::StringSet<> &before) {
  llvm::Error problems = llvm::Error::success();
  auto refuse = [&](const Twine &text) {
    problems = llvm::joinErrors(std::move(problems), makeUserError(text));
  };
  options.model = getModelFile().str();
  for (const auto &flag : getFlags().getFlags())
    if (flag->isGiven())
      flag->collect(options, refuse);
  checkOptions(options.training, refuse);
  if (problems)
    fail(std::move(problems));
  for (const auto &flag : getFlags().getFlags())
    if (flag->isGiven() && flag->decidedBy) {
      StringRef name = flag->text.name;
      options.given.push_back({before.contains(name)
                                   ? ("--" + name).str()
                                   : ("--recipe " + options.recipe + ": key '" + name + "'").str(),
                               *flag->decidedBy});
    }
  llvm::sort(options.given, [](const GivenFlag &a, const GivenFlag &b) { return a.text < b.text; });
}

/// Which of two values is meant nobody knows.
void refuseRepeated() {
  for (const auto &flag : getFlags().getFlags())
    if (!flag->texts && flag->option->getNumOccurrences() > 1)
      fail("--" + flag->text.name + " is given " + Twine(flag->option->getNumOccurrences()) +
           " times; give it once");
}

} // namespace

Command mtc::tool::parseCommandLine(int argc, char **argv, Options &options) {
  getFlags();
  cl::SetVersionPrinter([](llvm::raw_ostream &stream) { stream << "mtc " MTC_VERSION "\n"; });
  cl::ParseCommandLineOptions(
      argc, argv, "compiles an ONNX model into a native program that trains it\n", /*Errs=*/nullptr,
      /*VFS=*/nullptr, /*EnvVar=*/nullptr);
  if (!compileCommand && !planCommand && !inspectCommand) {
    cl::PrintHelpMessage(/*Hidden=*/false, /*Categorized=*/true);
    exit(1);
  }
  cl::SubCommand &command = compileCommand ? compileCommand
                            : planCommand  ? planCommand
                                           : inspectCommand;
  refuseRepeated();
  llvm::StringSet<> before;
  for (const auto &flag : getFlags().getFlags())
    if (flag->isGiven())
      before.insert(flag->text.name);
  if (const Flag *recipe = getFlags().find("recipe", command); recipe && recipe->isGiven()) {
    recipe->collect(options, [](const Twine &problem) { fail(problem); });
    applyRecipe(options.recipe, getFlags(), command);
  }
  collect(options, command, before);
  if (compileCommand)
    return Command::Compile;
  return planCommand ? Command::Plan : Command::Inspect;
}
