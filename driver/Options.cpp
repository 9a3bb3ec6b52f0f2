//===- Options.cpp - Options of a run of mtc --------------------------------------------------===//

#include "driver/Options.h"

#include "driver/Flags.h"
#include "driver/MachineMemory.h"
#include "driver/PlanText.h"
#include "driver/Recipe.h"
#include "driver/Report.h"
#include "driver/StageText.h"
#include "support/compiler/Errors.h"
#include "support/compiler/InputFile.h"
#include "support/compiler/Npy.h"
#include "support/compiler/Problems.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using llvm::StringRef;
using llvm::Twine;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// Maximum size of a schedule table or a network description.
constexpr uint64_t maxTableBytes = uint64_t(16) << 20;

/// Reads the points of a file of `--schedule-table`. Returns the problem, or "".
std::string readPointsOf(StringRef path, std::vector<std::string> &points) {
  llvm::Expected<InputFile> file = readInputFile(path, maxTableBytes, FileForm::Text);
  if (!file)
    return llvm::toString(file.takeError()) +
           "; expected a file, or points such as 1:1e-4,100:1e-3";
  return abi::readPoints(file->bytes(), points);
}

/// Expands all values of `--schedule-table` to one list of points. Returns false on an error.
bool expandScheduleTable(Options &options, Refuse refuse) {
  std::vector<std::string> points;
  bool isRead = true;
  for (StringRef text : options.plan.training.optimizer.schedule.points) {
    std::string problem;
    if (!llvm::sys::fs::exists(text) && abi::arePoints(text)) {
      problem = abi::splitPoints(text, points);
    } else {
      options.scheduleFiles.push_back(text.str());
      problem = readPointsOf(text, points);
    }
    if (problem.empty())
      continue;
    isRead = false;
    refuse("--schedule-table " + text + ": " + problem);
  }
  options.plan.training.optimizer.schedule.points = std::move(points);
  return isRead;
}

/// Splits lists of numbers, and replaces .npy files by their numbers. LossParameters reports
/// invalid numbers.
void expandNumbers(Options &options, StringRef flag, std::vector<std::string> &numbers,
                   Refuse refuse) {
  std::vector<std::string> expanded;
  for (StringRef text : numbers) {
    if (!text.ends_with(".npy")) {
      for (StringRef number : llvm::split(text, ','))
        expanded.push_back(number.trim().str());
      continue;
    }
    options.numberFiles.emplace_back(flag.str(), text.str());
    llvm::Expected<std::vector<double>> read = readNpyNumbers(text);
    if (!read)
      return refuse("--" + flag + ": " + llvm::toString(read.takeError()));
    if (read->empty())
      return refuse("--" + flag + " " + text + ": the file contains no numbers");
    for (double number : *read)
      llvm::raw_string_ostream(expanded.emplace_back()) << llvm::format("%.17g", number);
  }
  numbers = std::move(expanded);
}

/// Returns the first line of a file of `--network` that is no comment.
llvm::Expected<std::string> readNetworkFile(StringRef path) {
  llvm::Expected<InputFile> file = readInputFile(path, maxTableBytes, FileForm::Text);
  if (!file)
    return file.takeError();
  for (StringRef line : llvm::split(file->bytes(), '\n')) {
    line = line.split('#').first.trim();
    if (line.empty())
      continue;
    if (!Network::parse(line))
      return problem(quoted(line) + " is no network; expected " + Network::describeTexts());
    return line.str();
  }
  return problem("the file has no line; expected " + Network::describeTexts());
}

/// Replaces a file of `--network` by the network that it describes.
void readNetwork(Options &options, Refuse refuse) {
  std::string &network = options.plan.training.sharding.network;
  if (network.empty() || Network::parse(network) || !llvm::sys::fs::exists(network))
    return;
  llvm::Expected<std::string> read = readNetworkFile(network);
  if (!read)
    refuse("--network " + network + ": " + llvm::toString(read.takeError()));
  network = read ? *read : ""; // The other options are checked with it.
}

/// Freezes the parameters of frozen groups, since freezing is decided when the model is read.
void freezeGroups(Options &options) {
  std::vector<std::string> &groups = options.plan.training.optimizer.groups;
  llvm::erase_if(groups, [&](const std::string &text) {
    llvm::Expected<ParameterGroup> group = ParameterGroup::parse(text);
    if (!group)
      llvm::consumeError(group.takeError()); // Reported together with problems of other options.
    else if (group->isFrozen)
      llvm::append_range(options.freeze, group->patterns);
    bool isFrozen = group && group->isFrozen;
    if (isFrozen)
      options.given.push_back({"--group " + text, Stage::Imported});
    return isFrozen;
  });
}

/// Resolves `--memory auto` and reports the budget.
void takeAvailableMemory(Options &options, Refuse refuse) {
  if (!options.isForCpu())
    return refuse("--memory auto: not supported for --target " + options.target +
                  "; use the size of the device's memory, such as --memory 24GiB");
  std::optional<int64_t> available = findAvailableMemory();
  if (!available)
    return refuse(
        "--memory auto: the available memory is unknown; use a size, such as --memory 12GiB");
  options.plan.fit.memory = budgetOfAvailable(*available);
  if (!options.plan.fit.memory)
    return refuse("--memory auto: " + formatBytes(*available) +
                  " available, too little for any program");
  note("--memory auto: " + formatBytes(*options.plan.fit.memory) + ", of " +
       formatBytes(*available) + " available");
}

/// Lets the search divide variables: --shard auto.
void allowShards(Options &options, Refuse refuse) {
  options.plan.training.sharding.shard = "none";
  if (!options.hasBudget())
    return refuse("--shard auto: no memory budget; use it with --memory");
  for (StringRef name : {"shard-state", "shard-parameters"})
    if (!llvm::is_contained(options.allow, name))
      options.allow.push_back(name.str());
}

/// Replaces files by their contents, and expands options that stand for others. Returns false if a
/// schedule table could not be read, which other checks would report as missing, too.
bool expandOptions(Options &options, Refuse refuse) {
  LossParameters &loss = options.plan.training.loss.parameters;
  expandNumbers(options, "class-weights", loss.classWeights, refuse);
  expandNumbers(options, "pos-weight", loss.positiveWeight, refuse);
  readNetwork(options, refuse);
  if (!expandScheduleTable(options, refuse))
    return false;
  freezeGroups(options);
  return true;
}

/// Resolves options that depend on the budget or on the target.
void resolveOptions(Options &options, Refuse refuse) {
  ShardingOptions &sharding = options.plan.training.sharding;
  if (sharding.hasRanks() && sharding.network.empty() && !options.isForCpu())
    sharding.network = "nvlink-ib";
  if (options.takesAvailableMemory)
    takeAvailableMemory(options, refuse);
  if (sharding.shard == "auto")
    allowShards(options, refuse);
  if (!options.allow.empty() && !options.hasBudget())
    refuse("--allow: no memory budget; use it with --memory");
  if (options.fitsBatch && !options.plan.fit.memory)
    refuse("--fit-batch: no memory budget; use it with --memory");
}

/// Sets the options from the flags that were given on the command line or by the recipe, which is
/// applied first. Returns the names of those on the command line.
llvm::StringSet<> collectFlags(Options &options, Command command, Refuse refuse) {
  FlagTable &flags = getFlags();
  llvm::StringSet<> onCommandLine;
  for (const auto &flag : flags.getFlags())
    if (flag->isGiven())
      onCommandLine.insert(flag->text.name);
  const Flag *recipe = flags.find("recipe", command);
  if (recipe && recipe->isGiven()) {
    recipe->collect(options, [](const Twine &problem) { fail(problem); });
    applyRecipe(options.recipe, flags, command);
  }
  for (const auto &flag : flags.getFlags())
    if (flag->isGiven() && flag.get() != recipe)
      flag->collect(options, refuse);
  return onCommandLine;
}

/// Records the given flags that a stage's text may already have decided.
void recordDecidedFlags(Options &options, const llvm::StringSet<> &onCommandLine) {
  for (const auto &flag : getFlags().getFlags())
    if (flag->isGiven() && flag->decidedBy) {
      StringRef name = flag->text.name;
      options.given.push_back({onCommandLine.contains(name)
                                   ? ("--" + name).str()
                                   : ("--recipe " + options.recipe + ": key '" + name + "'").str(),
                               *flag->decidedBy});
    }
  llvm::sort(options.given, [](const GivenFlag &a, const GivenFlag &b) { return a.text < b.text; });
}

} // namespace

/// Returns why a path cannot be that of weights; "" if it can. checkWeights checks the contents.
static std::string checkWeightsPath(StringRef path) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return error.message();
  const std::string folder = (path + "/model.safetensors").str();
  if (llvm::sys::fs::is_directory(status) && !llvm::sys::fs::exists(folder) &&
      !llvm::sys::fs::exists(folder + ".index.json"))
    return "the folder has neither model.safetensors nor model.safetensors.index.json; "
           "save_pretrained writes one of them";
  return "";
}

void Options::check(RefuseOption refuse) const {
  if (!weights.empty())
    if (std::string problem = checkWeightsPath(weights); !problem.empty())
      refuse("weights", problem);
  for (const std::string &pattern : ignoreWeights) {
    if (weights.empty())
      refuse("ignore-weights", "needs --weights FILE|DIR");
    else if (llvm::Error error = llvm::GlobPattern::create(pattern).takeError())
      refuse("ignore-weights", llvm::toString(std::move(error)));
  }
  plan.checkOffload(getOffloadSpace(), hasBudget(), refuse);
  if (!isStageText(model)) // Its text has the precision.
    plan.checkLossScaling(refuse);
  const ShardingOptions &sharding = plan.training.sharding;
  if (sharding.ranks > 1) {
    if (isStatic)
      refuse("ranks", "the program needs the shared library of MPI; use it without --static");
    if (cpu == "aarch64")
      refuse("ranks",
             "MPI is linked for this machine's architecture; use it without --cpu aarch64");
    if (result == Result::Library)
      refuse("ranks", "mpirun starts programs, not libraries; use it without --emit library");
  }
  if (sharding.pipeline.value_or(1) > 1) {
    if (!isForCpu())
      refuse("pipeline",
             "programs for GPUs have no stages yet; use --tensor or --shard parameters");
    if (!plan.shapes.empty())
      refuse("pipeline", "the sizes of --dim are lists, but stages have one shape; give each "
                         "dimension one size");
  }
  if (batchTokens && fitsBatch)
    refuse("batch-tokens", "--fit-batch chooses the batch; give one of them");
  if (!plan.shapes.empty() && fitsBatch)
    refuse("fit-batch",
           "the sizes of --dim are lists, which --fit-batch does not change; give each "
           "dimension one size");
  if (batchNorm == BatchNormMode::Sync && !sharding.hasRanks())
    refuse("batch-norm", "needs --ranks; without ranks, use --batch-norm train");
}

void mtc::tool::collectOptions(Options &options, Command command) {
  llvm::Error problems = llvm::Error::success();
  auto refuse = [&](const Twine &text) {
    problems = llvm::joinErrors(std::move(problems), makeUserError(text));
  };
  auto spell = [&](StringRef name) -> std::string {
    const Flag *flag = getFlags().find(name, command);
    return flag && flag->isGiven() ? flag->spell() : "";
  };
  const llvm::StringSet<> onCommandLine = collectFlags(options, command, refuse);
  if (expandOptions(options, refuse))
    checkOptions(options.plan.training, refuse, spell);
  options.check([&](StringRef flag, const Twine &problem) {
    const Flag *given = getFlags().find(flag, command);
    const std::string value = given && given->isSwitch ? "" : " " + spell(flag);
    refuse("--" + flag + value + ": " + problem);
  });
  if (command == Command::Gradient && !options.plan.shapes.empty())
    refuse("--dim with a list of sizes: a gradient model has one shape; give each dimension one "
           "size");
  resolveOptions(options, refuse);
  if (problems)
    fail(std::move(problems));
  recordDecidedFlags(options, onCommandLine);
}
