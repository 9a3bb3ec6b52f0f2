//===- Options.cpp - What the user asks of mtc ------------------------------------------------===//

#include "driver/Options.h"
#include "driver/Recipe.h"
#include "driver/Report.h"

#include "codegen/target/Target.h"
#include "passes/OptionalNumber.h"
#include "passes/Pipelines.h"
#include "passes/losses/Loss.h"
#include "passes/optimizer/Optimizer.h"
#include "tools/support/Errors.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

namespace cl = llvm::cl;
using llvm::StringRef;
using llvm::Twine;
using namespace mtc;
using namespace mtc::tool;

namespace {

cl::SubCommand compileCommand("compile", "compile an ONNX model into a program that trains it");
cl::SubCommand planCommand("plan", "say what memory the program would need, without compiling");
cl::SubCommand inspectCommand("inspect",
                              "say what a model holds, and everything that would not compile");

cl::OptionCategory modelFlags("The model");
cl::OptionCategory trainingFlags("Training");
cl::OptionCategory machineFlags("Memory and machine");
cl::OptionCategory outputFlags("Output");

/// A flag's modifier: the stage by which it is decided.
struct DecidedBy {
  Stage stage;

  void apply(cl::Option &flag) const { stages()[&flag] = stage; }
  static llvm::DenseMap<const cl::Option *, Stage> &stages() {
    static llvm::DenseMap<const cl::Option *, Stage> stages;
    return stages;
  }
};
constexpr DecidedBy decidedByImport{Stage::Onnx}, decidedByTraining{Stage::Training};

#define EVERYWHERE cl::sub(compileCommand), cl::sub(planCommand), cl::sub(inspectCommand)
#define BOTH cl::sub(compileCommand), cl::sub(planCommand)

cl::opt<std::string> model(cl::Positional, cl::desc("MODEL.onnx|STAGE.mlir"), cl::Required,
                           EVERYWHERE, cl::cat(modelFlags));
cl::list<std::string> dims("dim", cl::desc("size of a symbolic dimension: batch=8"),
                           cl::value_desc("name=n"), EVERYWHERE, cl::cat(modelFlags),
                           decidedByImport);
cl::list<std::string> binds("bind",
                            cl::desc("make a graph input a constant: a number or a .npy file"),
                            cl::value_desc("INPUT=VALUE|FILE"), EVERYWHERE, cl::cat(modelFlags),
                            decidedByImport);
cl::list<std::string>
    rowsOf("rows-of",
           cl::desc("inputs whose first axis counts rows of the data; others are taken whole, one "
                    "a step, and with `none` all are (by the names and sizes of first axes)"),
           cl::value_desc("INPUT"), EVERYWHERE, cl::cat(modelFlags), decidedByTraining);
cl::list<std::string> trainPatterns("train",
                                    cl::desc("train only the parameters whose name matches (*, ?), "
                                             "here or in the module; a constant must be named in "
                                             "full or look trainable"),
                                    cl::value_desc("PATTERN"), EVERYWHERE, cl::cat(modelFlags),
                                    decidedByImport);
cl::list<std::string> freezePatterns("freeze",
                                     cl::desc("do not train those whose name matches; where "
                                              "--train matches too, the pattern with more literal "
                                              "characters decides, --freeze among equals"),
                                     cl::value_desc("PATTERN"), EVERYWHERE, cl::cat(modelFlags),
                                     decidedByImport);
cl::opt<std::string>
    merged("merged",
           cl::desc("parameters that the exporter stored as one since they were equal: split "
                    "(train each apart), keep (train them as one), auto (keep only matrices of "
                    "different values, which the module may tie) (auto)"),
           cl::value_desc("how"), EVERYWHERE, cl::cat(modelFlags), decidedByImport);
cl::opt<std::string> init("init",
                          cl::desc("draw parameters instead of reading them: normal:0.02 "
                                   "(for files without their weights)"),
                          cl::value_desc("normal:S"), BOTH, cl::cat(modelFlags), decidedByTraining);

cl::opt<std::string> loss("loss", cl::value_desc("name"), BOTH, cl::cat(trainingFlags),
                          decidedByTraining);
cl::opt<std::string>
    outputName("output", cl::desc("graph output that the loss reads (first floating-point one)"),
               cl::value_desc("NAME"), BOTH, cl::cat(trainingFlags), decidedByTraining);
cl::opt<std::string> labels("labels", cl::desc("name of the labels (labels)"),
                            cl::value_desc("NAME"), BOTH, cl::cat(trainingFlags),
                            decidedByTraining);
cl::opt<std::string> optimizer("optimizer", cl::value_desc("name"), BOTH, cl::cat(trainingFlags),
                               decidedByTraining);
cl::opt<std::optional<double>> learningRate("lr", cl::desc("learning rate (1e-3)"),
                                            cl::value_desc("rate"), BOTH, cl::cat(trainingFlags),
                                            decidedByTraining);
cl::opt<std::string>
    schedule("schedule",
             cl::desc("after the warm-up: constant, linear or cosine down to 0 at the "
                      "end of the run (constant)"),
             cl::value_desc("name"), BOTH, cl::cat(trainingFlags), decidedByTraining);
cl::opt<int64_t> warmup("warmup", cl::desc("steps in which the rate rises (0)"),
                        cl::value_desc("steps"), BOTH, cl::cat(trainingFlags), decidedByTraining);
cl::opt<std::optional<double>> weightDecay("weight-decay",
                                           cl::desc("weight decay (adamw 0.01, others 0)"),
                                           cl::value_desc("rate"), BOTH, cl::cat(trainingFlags),
                                           decidedByTraining);
cl::opt<bool> noDecay1d("no-decay-1d",
                        cl::desc("no weight decay for one-dimensional parameters (biases, norms)"),
                        BOTH, cl::cat(trainingFlags), decidedByTraining);
cl::opt<std::string> betas("betas", cl::desc("decay of adamw's moments (0.9,0.999)"),
                           cl::value_desc("b1,b2"), BOTH, cl::cat(trainingFlags),
                           decidedByTraining);
cl::opt<std::optional<double>> epsilon("eps", cl::desc("added to adamw's denominator (1e-8)"),
                                       cl::value_desc("e"), BOTH, cl::cat(trainingFlags),
                                       decidedByTraining);
cl::opt<std::optional<double>> momentum("momentum", cl::desc("decay of momentum's velocity (0.9)"),
                                        cl::value_desc("m"), BOTH, cl::cat(trainingFlags),
                                        decidedByTraining);
cl::opt<std::optional<double>>
    clipNorm("clip-norm",
             cl::desc("scale gradients down to this norm over all parameters (no limit)"),
             cl::value_desc("norm"), BOTH, cl::cat(trainingFlags), decidedByTraining);
cl::opt<std::string>
    precision("precision",
              cl::desc("precision of the computation: f32; tf32 (f32 whose products may round "
                       "their operands to 11 bits, where the target has them) (f32)"),
              cl::value_desc("type"), BOTH, cl::cat(trainingFlags), decidedByImport);
cl::opt<std::string>
    recipe("recipe",
           cl::desc("TOML file with these flags as keys; what is given here wins, each "
                    "dimension and bound input by itself"),
           cl::value_desc("FILE.toml"), BOTH, cl::cat(trainingFlags));

cl::opt<std::string> target("target", cl::desc(Target::describeNames()), cl::value_desc("target"),
                            BOTH, cl::cat(machineFlags), decidedByImport);
cl::opt<bool> emulate("emulate",
                      cl::desc("run device code on the CPU, with every access checked: for tests"),
                      BOTH, cl::cat(machineFlags), decidedByImport);
cl::opt<std::string> cpu("cpu", cl::desc("processor to compile for, as LLVM names it (this one)"),
                         cl::value_desc("name"), BOTH, cl::cat(machineFlags), decidedByImport);
cl::opt<unsigned> threads("threads", cl::desc("most threads that the program may use (all cores)"),
                          cl::value_desc("n"), cl::init(0), BOTH, cl::cat(machineFlags),
                          decidedByImport);
cl::opt<std::string> memory("memory",
                            cl::desc("refuse a program that needs more: 12GiB, 800MiB, bytes"),
                            cl::value_desc("size"), BOTH, cl::cat(machineFlags));

cl::opt<bool> noCache("no-cache",
                      cl::desc("compile every kernel again: neither take nor keep them in "
                               "$MTC_CACHE_DIR ($XDG_CACHE_HOME/mtc, ~/.cache/mtc)"),
                      cl::sub(compileCommand), cl::cat(outputFlags));
cl::opt<std::string> output("o",
                            cl::desc("the program (named after the model); its initial weights lie "
                                     "beside it in FILE.weights.safetensors"),
                            cl::value_desc("FILE"), cl::sub(compileCommand), cl::cat(outputFlags));
cl::opt<std::string> emit("emit", cl::value_desc("stage"), cl::sub(compileCommand),
                          cl::cat(outputFlags));
cl::opt<bool> force("force", cl::desc("replace files that mtc did not write"), BOTH,
                    cl::cat(outputFlags));
cl::opt<bool> json("json", cl::desc("print JSON"), EVERYWHERE, cl::cat(outputFlags));
cl::opt<std::string> irFolder("print-ir-after-all",
                              cl::desc("write the IR after each pass into a folder, numbered"),
                              cl::value_desc("DIR"), BOTH, cl::cat(outputFlags));
std::string listOptionalPasses() {
  return llvm::join(llvm::make_first_range(getOptionalPasses()), ", ");
}

const std::string skipText =
    "do without an optimisation, to find a fault or to see what it is worth: " +
    listOptionalPasses();
cl::list<std::string> skippedPasses("skip-pass", cl::desc(skipText), cl::value_desc("pass"), BOTH,
                                    cl::cat(outputFlags));
cl::opt<std::string>
    remarks("remarks", cl::desc("write what was optimised, and what was not and why, a line each"),
            cl::value_desc("FILE"), BOTH, cl::cat(outputFlags));
cl::opt<std::string>
    reproducer("crash-reproducer",
               cl::desc("if a pass fails, write its input and the pipeline here, for "
                        "mtc-opt --run-reproducer"),
               cl::value_desc("FILE"), BOTH, cl::cat(outputFlags));

void checkOneOf(StringRef flag, StringRef value, llvm::ArrayRef<StringRef> allowed) {
  if (!llvm::is_contained(allowed, value))
    fail("--" + flag + " " + value + ": there is no such choice; expected " +
         llvm::join(allowed, ", "));
}

int64_t parseBytes(StringRef text) {
  size_t digits = text.find_if_not([](char c) { return llvm::isDigit(c) || c == '.'; });
  StringRef unit = text.substr(digits == StringRef::npos ? text.size() : digits).trim();
  double factor = llvm::StringSwitch<double>(unit.lower())
                      .Cases({"", "b"}, 1)
                      .Case("kib", 1024.0)
                      .Case("mib", 1024.0 * 1024)
                      .Case("gib", 1024.0 * 1024 * 1024)
                      .Case("tib", 1024.0 * 1024 * 1024 * 1024)
                      .Case("kb", 1e3)
                      .Case("mb", 1e6)
                      .Case("gb", 1e9)
                      .Case("tb", 1e12)
                      .Default(0);
  double number = 0;
  if (factor == 0 || text.take_front(digits).getAsDouble(number) || number <= 0 ||
      number * factor > 9e18)
    fail("--memory " + text + ": expected a size such as 12GiB, 800MiB or a number of bytes");
  return static_cast<int64_t>(number * factor);
}

/// The choices of an enumeration, as its attribute spells them.
template <typename Enum> std::vector<StringRef> choicesOf(unsigned last) {
  std::vector<StringRef> choices;
  for (unsigned i = 0; i <= last; ++i)
    choices.push_back(stringifyEnum(static_cast<Enum>(i)));
  return choices;
}

template <typename Enum>
void parseChoice(const cl::opt<std::string> &flag, unsigned last, Enum &choice) {
  if (flag.empty())
    return;
  std::vector<StringRef> choices = choicesOf<Enum>(last);
  checkOneOf(flag.ArgStr, flag, choices);
  choice = static_cast<Enum>(llvm::find(choices, StringRef(flag)) - choices.begin());
}

std::string listStages() { return llvm::join(choicesOf<Stage>(getMaxEnumValForStage()), ", "); }

void parseEmit(StringRef text, Options &options) {
  if (std::optional<Stage> stage = symbolizeStage(text)) {
    options.stage = *stage;
    options.result = Result::Text;
    return;
  }
  if (text != "llvm" && text != "object")
    fail("--emit " + text + ": there is no such stage; expected " + listStages() +
         ", llvm or object");
  options.result = text == "llvm" ? Result::Llvm : Result::Object;
}

/// Help texts of the choices that others register.
void describeChoices() {
  static const std::string losses =
      listLosses() + "; chosen from the outputs and said if left open";
  static const std::string optimizers =
      listOptimizers() + " (" + OptimizerOptions().optimizer + ")";
  static const std::string stages = "stop after a stage and print it: " + listStages() +
                                    ", which mtc compile continues from, llvm or object";
  loss.setDescription(losses);
  optimizer.setDescription(optimizers);
  emit.setDescription(stages);
}

/// The value of a flag that is a number, if it was given.
std::optional<double> numberOf(const cl::opt<std::optional<double>> &flag) {
  const std::optional<double> &value = flag.getValue();
  if (flag.getNumOccurrences() && !value)
    fail("--" + flag.ArgStr + ": expected a number");
  return value;
}

/// A flag and its number as one types them; "" where it is not given.
std::string spell(StringRef flag, const std::optional<double> &value) {
  std::string text;
  if (value)
    llvm::raw_string_ostream(text) << "--" << flag << ' ' << llvm::format("%g", *value);
  return text;
}

/// The numbers of the optimizer; everything that is wrong with them is said at once, but for those
/// that it does not have: the pass that knows what they are for says so.
void collectNumbers(OptimizerOptions &numbers) {
  numbers.lr = numberOf(learningRate);
  numbers.weightDecay = numberOf(weightDecay);
  numbers.eps = numberOf(epsilon);
  numbers.momentum = numberOf(momentum);
  numbers.clipNorm = numberOf(clipNorm);
  if (betas.getNumOccurrences()) {
    auto [first, second] = StringRef(betas).split(',');
    double beta1, beta2;
    if (first.trim().getAsDouble(beta1) || second.trim().getAsDouble(beta2))
      fail("--betas " + betas + ": expected two numbers, such as 0.9,0.999");
    numbers.beta1 = beta1;
    numbers.beta2 = beta2;
  }
  const OptimizerKind &kind = *findOptimizer(numbers.optimizer);
  llvm::Error problems = llvm::Error::success();
  auto refuse = [&](const Twine &text) {
    problems = llvm::joinErrors(std::move(problems), makeUserError(text));
  };
  auto check = [&](StringRef name, const std::optional<double> &value, const Twine &flag) {
    const Hyperparameter *known = kind.findHyperparameter(name);
    if (value && known && !known->accepts(*value))
      refuse(flag + ": " + name + " of " + kind.name + " must be " + known->describeRange());
  };
  for (const auto &[flag, value] : {std::pair(&learningRate, numbers.lr),
                                    {&weightDecay, numbers.weightDecay},
                                    {&epsilon, numbers.eps},
                                    {&momentum, numbers.momentum}})
    check(flag->ArgStr, value, spell(flag->ArgStr, value));
  check("beta1", numbers.beta1, "--betas " + betas);
  check("beta2", numbers.beta2, "--betas " + betas);
  if (numbers.clipNorm && *numbers.clipNorm <= 0)
    refuse(spell("clip-norm", numbers.clipNorm) + ": expected a norm greater than 0");
  if (problems)
    fail(std::move(problems));
}

/// The size stands after the last `=`: names of dimensions may hold others.
void collectDims(Options &options) {
  for (const std::string &text : dims) {
    auto [name, value] = StringRef(text).rsplit('=');
    if (name.empty() || value.empty())
      fail("--dim " + text + ": expected NAME=N");
    int64_t size;
    if (value.getAsInteger(10, size) || size <= 0)
      fail("--dim " + text + ": expected a positive size, such as " + name + "=8");
    auto [known, isNew] = options.dims.try_emplace(name, size);
    if (!isNew)
      fail("--dim " + text + ": '" + name + "' is given twice, first as " + Twine(known->second));
  }
}

void collectSkippedPasses(Options &options) {
  for (StringRef name : skippedPasses) {
    const auto *pass =
        llvm::find_if(getOptionalPasses(), [&](const auto &each) { return each.first == name; });
    if (pass == getOptionalPasses().end())
      fail("--skip-pass " + name + ": there is no such optional pass; expected " +
           listOptionalPasses());
    options.given.push_back({("--skip-pass " + name).str(), pass->second});
  }
  options.skippedPasses.assign(skippedPasses.begin(), skippedPasses.end());
}

/// Keeps which flags were given, on the command line or, if they were not there before, in the
/// recipe.
void collectGiven(Options &options, cl::SubCommand &command, const llvm::StringSet<> &before) {
  for (const auto &[name, flag] : cl::getRegisteredOptions(command)) {
    auto stage = DecidedBy::stages().find(flag);
    if (stage == DecidedBy::stages().end() || !flag->getNumOccurrences())
      continue;
    std::string text = ("--" + name).str();
    if (!before.contains(name))
      text = ("--recipe " + recipe + ": key '" + name + "'").str();
    options.given.push_back({std::move(text), stage->second});
  }
  llvm::sort(options.given, [](const GivenFlag &a, const GivenFlag &b) { return a.text < b.text; });
}

void collect(Options &options) {
  options.model = model;
  collectDims(options);
  options.binds.assign(binds.begin(), binds.end());
  options.rowsOf.assign(rowsOf.begin(), rowsOf.end());
  options.train.assign(trainPatterns.begin(), trainPatterns.end());
  options.freeze.assign(freezePatterns.begin(), freezePatterns.end());
  parseChoice(merged, getMaxEnumValForMergedPolicy(), options.merged);
  if (!init.empty()) {
    StringRef text = init;
    double deviation;
    if (!text.consume_front("normal:") || text.getAsDouble(deviation) ||
        !(deviation > 0 && deviation < unlimited))
      fail("--init " + init + ": expected normal:S with a positive, finite standard deviation S");
    options.initNormal = deviation;
  }
  options.training.loss = {loss, outputName, labels};
  if (!loss.empty() && loss != "output" && !findLoss(loss))
    fail("--loss " + loss + ": there is no such choice; expected " + listLosses());
  OptimizerOptions &update = options.training.optimizer;
  if (!optimizer.empty())
    update.optimizer = optimizer;
  if (!findOptimizer(update.optimizer))
    fail("--optimizer " + update.optimizer + ": there is no such choice; expected " +
         listOptimizers());
  collectNumbers(update);
  update.noDecay1d = noDecay1d;
  parseChoice(schedule, getMaxEnumValForScheduleKind(), update.schedule);
  if (warmup < 0)
    fail("--warmup " + Twine(warmup) + ": expected a number of steps that is not negative");
  update.warmup = warmup;
  parseChoice(precision, getMaxEnumValForContractionPrecision(), options.precision);
  if (!target.empty())
    options.target = target;
  options.emulate = emulate;
  options.cpu = cpu;
  options.noCache = noCache;
  options.threads = threads;
  if (threads > 1024 || (threads == 0 && threads.getNumOccurrences()))
    fail("--threads " + Twine(threads) + ": expected 1 to 1024");
  if (!memory.empty())
    options.memory = parseBytes(memory);
  options.json = json;
  options.force = force;
  options.recipe = recipe;
  if (!emit.empty())
    parseEmit(emit, options);
  collectSkippedPasses(options);
  options.remarks = remarks;
  options.irFolder = irFolder;
  options.reproducer = reproducer;
  options.output = output;
}

/// Which of two values is meant nobody knows.
void refuseRepeated(cl::SubCommand &command) {
  for (const auto &[name, option] : cl::getRegisteredOptions(command))
    if (option->getNumOccurrencesFlag() == cl::Optional && option->getNumOccurrences() > 1)
      fail("--" + name + " is given " + Twine(option->getNumOccurrences()) +
           " times; give it once");
}

} // namespace

Command mtc::tool::parseCommandLine(int argc, char **argv, Options &options) {
  llvm::SmallVector<const cl::OptionCategory *> categories = {&modelFlags, &trainingFlags,
                                                              &machineFlags, &outputFlags};
  for (cl::SubCommand *command : {&compileCommand, &planCommand, &inspectCommand})
    cl::HideUnrelatedOptions(categories, *command);
  describeChoices();
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
  refuseRepeated(command);
  llvm::StringSet<> given;
  for (const auto &[name, flag] : cl::getRegisteredOptions(command))
    if (flag->getNumOccurrences())
      given.insert(name);
  if (!recipe.empty())
    applyRecipe(recipe, command, [](const cl::Option &flag) -> const std::vector<std::string> * {
      return flag.ArgStr == dims.ArgStr ? &dims : flag.ArgStr == binds.ArgStr ? &binds : nullptr;
    });
  collect(options);
  collectGiven(options, command, given);
  if (compileCommand)
    return Command::Compile;
  return planCommand ? Command::Plan : Command::Inspect;
}
