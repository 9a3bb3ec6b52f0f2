//===- Options.cpp - What the user asks of mtc ------------------------------------------------===//

#include "driver/Options.h"

#include "driver/Flags.h"
#include "driver/MachineMemory.h"
#include "driver/PlanText.h"
#include "driver/Recipe.h"
#include "driver/Report.h"
#include "tools/support/Errors.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

namespace cl = llvm::cl;
using llvm::StringRef;
using llvm::Twine;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// Points STEP:RATE, with commas between them.
bool arePoints(StringRef text) {
  return llvm::all_of(llvm::split(text, ','), [](StringRef part) {
    return !part.trim().empty() && llvm::isDigit(part.trim().front()) && part.contains(':');
  });
}

/// The points of a file, a step and a rate a line, with spaces or a comma between them.
void readPoints(StringRef path, std::vector<std::string> &points,
                llvm::function_ref<void(const Twine &)> refuse) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return refuse(
        "--schedule-table " + path +
        ": expected points such as 1:1e-4,100:1e-3, or a file: " + file.getError().message());
  for (llvm::line_iterator line(**file, /*SkipBlanks=*/true, '#'); !line.is_at_end(); ++line) {
    llvm::SmallVector<StringRef> words;
    llvm::SplitString(*line, words, " \t\r,");
    int64_t step;
    double rate;
    if (words.size() != 2 || words[0].getAsInteger(10, step) || words[1].getAsDouble(rate))
      return refuse("--schedule-table " + path + ": line " + Twine(line.line_number()) +
                    ": expected a step and a rate, such as 100 1e-3");
    points.push_back((words[0] + ":" + words[1]).str());
  }
  if (points.empty())
    refuse("--schedule-table " + path + ": holds no points");
}

/// Makes what was given of `--schedule-table` one list of points.
void expandScheduleTable(Options &options, llvm::function_ref<void(const Twine &)> refuse) {
  std::vector<std::string> points;
  for (StringRef text : options.training.optimizer.schedule.points) {
    if (arePoints(text)) {
      for (StringRef point : llvm::split(text, ','))
        points.push_back(point.trim().str());
    } else {
      options.scheduleFiles.push_back(text.str());
      readPoints(text, points, refuse);
    }
  }
  options.training.optimizer.schedule.points = std::move(points);
}

/// Freezes what frozen groups match, which is decided when the model is read.
void freezeGroups(Options &options) {
  std::vector<std::string> &groups = options.training.optimizer.groups;
  llvm::erase_if(groups, [&](const std::string &text) {
    llvm::Expected<ParameterGroup> group = ParameterGroup::parse(text);
    if (!group)
      llvm::consumeError(group.takeError()); // Said with what is wrong with other options.
    else if (group->isFrozen)
      llvm::append_range(options.freeze, group->patterns);
    bool isFrozen = group && group->isFrozen;
    if (isFrozen)
      options.given.push_back({"--group " + text, Stage::Onnx});
    return isFrozen;
  });
}

/// `--memory auto`: says what that is now.
void takeAvailableMemory(Options &options, llvm::function_ref<void(const Twine &)> refuse) {
  if (options.target != "cpu")
    return refuse("--memory auto takes what this machine has left; for --target " + options.target +
                  " give the size of the device's memory, such as --memory 24GiB");
  std::optional<int64_t> available = findAvailableMemory();
  if (!available)
    return refuse("--memory auto: this system does not say what memory is available; give a size, "
                  "such as --memory 12GiB");
  options.memory = budgetOfAvailable(*available);
  if (!options.memory)
    return refuse("--memory auto: " + formatBytes(*available) +
                  " are available, too little for any program");
  note("--memory auto: " + formatBytes(*options.memory) + ", of " + formatBytes(*available) +
       " that are available now");
}

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
  expandScheduleTable(options, refuse);
  freezeGroups(options);
  checkOptions(options.training, refuse);
  if (options.takesAvailableMemory)
    takeAvailableMemory(options, refuse);
  if (!options.allow.empty() && !options.memory && !options.takesAvailableMemory)
    refuse("--allow says what --memory may change; give --memory, too");
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
