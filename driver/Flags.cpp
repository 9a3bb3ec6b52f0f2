//===- Flags.cpp - Every flag of mtc ----------------------------------------------------------===//

#include "driver/Flags.h"

#include "driver/Changes.h"

#include "codegen/target/Target.h"
#include "passes/adapters/LowRank.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace cl = llvm::cl;
using llvm::StringRef;
using llvm::Twine;
using namespace mtc;
using namespace mtc::tool;

cl::SubCommand mtc::tool::compileCommand("compile",
                                         "compile an ONNX model into a program that trains it");
cl::SubCommand mtc::tool::planCommand("plan",
                                      "say what memory the program would need, without compiling");
cl::SubCommand
    mtc::tool::inspectCommand("inspect",
                              "say what a model holds, and everything that would not compile");

static cl::SubCommandGroup everyCommand = {&compileCommand, &planCommand, &inspectCommand};
static cl::SubCommandGroup planned = {&compileCommand, &planCommand};
static cl::SubCommandGroup compiled = {&compileCommand};
static cl::SubCommandGroup onlyPlanned = {&planCommand};

static cl::OptionCategory modelHeading("The model");
static cl::OptionCategory trainingHeading("Training");
static cl::OptionCategory machineHeading("Memory and machine");
static cl::OptionCategory outputHeading("Output");

// A list, so that the message for too many is ours.
static cl::list<std::string> models(cl::Positional, cl::desc("MODEL.onnx|STAGE.mlir"),
                                    cl::ZeroOrMore, cl::sub(everyCommand), cl::cat(modelHeading));

llvm::ArrayRef<std::string> mtc::tool::getModelFiles() { return models; }

namespace {

StringRef describe(MergedPolicy policy) {
  switch (policy) {
  case MergedPolicy::Auto:
    return "keep only matrices of different values, which the module may tie";
  case MergedPolicy::Split:
    return "train each apart";
  case MergedPolicy::Keep:
    return "train them as one";
  }
  llvm_unreachable("all policies are handled");
}

StringRef describe(BatchNormMode mode) {
  switch (mode) {
  case BatchNormMode::AsExported:
    return "the form that the file holds each node in";
  case BatchNormMode::Train:
    return "normalize by the batch and update running statistics, as PyTorch";
  case BatchNormMode::Frozen:
    return "normalize by the running statistics, which stay fixed";
  }
  llvm_unreachable("all modes are handled");
}

StringRef describe(Precision precision) {
  switch (precision) {
  case Precision::F32:
    return "32 bits everywhere";
  case Precision::TF32:
    return "products may round their operands to 11 bits, where the target has them";
  case Precision::BF16:
    return "products read bfloat16, and what passes between kernels is stored so";
  case Precision::F16:
    return "the same in IEEE half precision";
  }
  llvm_unreachable("all precisions are handled");
}

StringRef describe(Stage stage) {
  switch (stage) {
  case Stage::Onnx:
    return "the model as it was read, with its types";
  case Stage::Forward:
    return "the model in core operations";
  case Stage::Training:
    return "the loss, its gradients and the update";
  case Stage::Kernels:
    return "kernels and library calls";
  case Stage::Placed:
    return "the same at addresses in one arena";
  }
  llvm_unreachable("all stages are handled");
}

/// What `--emit` prints: texts of stages, then what is made of a placed module.
std::vector<OptionChoice> emitChoices() {
  std::vector<OptionChoice> choices = choicesOf<Stage>(describe);
  choices.push_back({"llvm", "the kernels, as LLVM's text"});
  choices.push_back({"object", "the kernels and the program's tables"});
  return choices;
}

std::string takeEmit(Options &options, StringRef text) {
  if (std::optional<Stage> stage = symbolizeStage(text))
    options.stage = *stage;
  options.result = text == "llvm" ? Result::Llvm : text == "object" ? Result::Object : Result::Text;
  return "";
}

/// The size stands after the last `=`: names of dimensions may hold others.
std::string takeDim(Options &options, StringRef text) {
  auto [name, value] = text.rsplit('=');
  if (name.empty() || value.empty())
    return "expected NAME=N";
  int64_t size;
  if (value.getAsInteger(10, size) || size <= 0)
    return ("expected a positive size, such as " + name + "=8").str();
  auto [known, isNew] = options.dims.try_emplace(name, size);
  if (!isNew)
    return ("'" + name + "' is given twice, first as " + Twine(known->second)).str();
  return "";
}

std::string takeLora(Options &options, StringRef text) {
  if (llvm::Error error = LowRankSpec::parse(text).takeError())
    return llvm::toString(std::move(error));
  options.lora.push_back(text.str());
  return "";
}

std::string takeBatchNorm(Options &options, StringRef text) {
  options.batchNorm = symbolizeEnum<BatchNormMode>(text);
  return "";
}

std::string takeThreads(Options &options, StringRef text) {
  if (text.getAsInteger(10, options.threads) || options.threads < 1 || options.threads > 1024)
    return "expected 1 to 1024";
  return "";
}

/// Bytes; nothing where the text is no size.
std::optional<int64_t> parseSize(StringRef text) {
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
  if (factor == 0 || text.take_front(digits).getAsDouble(number) || number * factor < 1 ||
      number * factor > 9e18)
    return std::nullopt;
  return static_cast<int64_t>(number * factor);
}

std::string takeMemory(Options &options, StringRef text) {
  options.takesAvailableMemory = text == "auto";
  if (options.takesAvailableMemory)
    return "";
  options.memory = parseSize(text);
  return options.memory ? ""
                        : "expected a size such as 12GiB, 800MiB or a number of bytes, or auto";
}

std::string takeOffloadWindow(Options &options, StringRef text) {
  std::optional<int64_t> size = parseSize(text);
  if (!size || *size < 4096 || *size % 4096 != 0)
    return "expected a size such as 8MiB, a multiple of 4 KiB";
  options.offload.window = *size;
  return "";
}

std::string takeAllow(Options &options, StringRef name) {
  options.allow.push_back(name.str());
  return "";
}

/// Each pass is decided at a stage of its own.
std::string takeSkippedPass(Options &options, StringRef name) {
  options.passes.skipped.push_back(name.str());
  for (const OptionalPass &pass : getOptionalPasses())
    if (pass.name == name)
      options.given.push_back({("--skip-pass " + name).str(), pass.stage});
  return "";
}

/// A flag for each option of a pass of the training pipeline.
template <typename Values>
void addTrainingOptions(FlagTable &flags, Values TrainingOptions::*options,
                        const FlagPlace &place) {
  visitMember(options, [&](auto access, OptionText text, auto...) {
    flags.add([access](Options &all) -> auto & { return access(all.training); }, std::move(text),
              place);
  });
}

void addModelFlags(FlagTable &flags) {
  FlagPlace place{everyCommand, modelHeading, Stage::Onnx};
  flags.addTexts({"dim", "name=n", "size of a symbolic dimension: batch=8"}, place, takeDim)
      .isPairs = true;
  flags
      .add(&Options::binds,
           {"bind", "INPUT=VALUE|FILE", "make a graph input a constant: a number or a .npy file"},
           place)
      .isPairs = true;
  flags.add(&Options::train,
            {"train", "PATTERN",
             "train only the parameters whose name matches (*, ?), here or in the module; a "
             "constant must be named in full or look trainable"},
            place);
  flags.add(&Options::freeze,
            {"freeze", "PATTERN",
             "do not train those whose name matches; where --train matches too, the pattern with "
             "more literal characters decides, --freeze among equals"},
            place);
  flags.add(&Options::merged,
            {"merged", "how", "parameters that the exporter stored as one since they were equal",
             choicesOf<MergedPolicy>(describe)},
            place);
  flags
      .add(&Options::tie,
           {"tie", "A=B",
            "train two parameters as one weight: equal matrices, one perhaps transposed"},
           place)
      .isPairs = true;
  flags.add(&Options::untie,
            {"untie", "NAME", "train a parameter apart from its copies, and at each of its uses"},
            place);
  flags.addText({"batch-norm", "mode",
                 "form of BatchNormalization in training steps (default: as-exported)",
                 choicesOf<BatchNormMode>(describe)},
                {everyCommand, modelHeading, Stage::Forward}, takeBatchNorm);
  flags.add(&Options::rowsOf,
            {"rows-of", "INPUT",
             "inputs whose first axis counts rows of the data; others are taken whole, one a step, "
             "and with `none` all are (by the names and sizes of first axes)"},
            {everyCommand, modelHeading, Stage::Training});
  addTrainingOptions(flags, &TrainingOptions::initialization,
                     {planned, modelHeading, Stage::Training});
}

void addTrainingFlags(FlagTable &flags) {
  FlagPlace place{planned, trainingHeading, Stage::Training};
  addTrainingOptions(flags, &TrainingOptions::loss, place);
  addTrainingOptions(flags, &TrainingOptions::lossScaling, place);
  addTrainingOptions(flags, &TrainingOptions::optimizer, place);
  addTrainingOptions(flags, &TrainingOptions::frozenStorage, place);
  flags.addTexts(
      {"lora", "PATTERN[:rank=8,alpha=8]",
       "freeze all but what --train names, and train low-rank adapters of the matrices whose name "
       "matches: x W + alpha / rank (x A) B; where several match, the pattern with more literal "
       "characters decides"},
      {planned, trainingHeading, Stage::Onnx}, takeLora);
  flags.add(&Options::precision,
            {"precision", "type", "precision of the computation", choicesOf<Precision>(describe)},
            {planned, trainingHeading, Stage::Onnx});
  addTrainingOptions(flags, &TrainingOptions::precision, place);
  flags
      .add(&Options::recipe,
           {"recipe", "FILE.toml",
            "TOML file with these flags as keys; what is given here wins, each dimension and bound "
            "input by itself"},
           {planned, trainingHeading})
      .isInRecipe = false;
}

void addMachineFlags(FlagTable &flags) {
  FlagPlace place{planned, machineHeading, Stage::Onnx};
  flags.add(&Options::target, {"target", "target", Target::describeNames()}, place);
  flags.add(&Options::emulate,
            {"emulate", "", "run device code on the CPU, with every access checked: for tests"},
            place);
  flags.add(&Options::without,
            {"without",
             "library",
             "compile a program that does without a library of the target",
             {{"cudnn", "convolutions are contractions of windows"}}},
            place);
  flags.add(&Options::cpu, {"cpu", "name", "processor to compile for, as LLVM names it (this one)"},
            place);
  flags.add(
      &Options::rates,
      {"rates", "class",
       "estimate times at rates of a class of processors: avx512bf16, avx512, avx2, sse (those "
       "measured on this machine)"},
      place);
  flags.addText({"threads", "n", "most threads that the program may use (all cores)"}, place,
                takeThreads);
  flags.addText(
      {"memory", "size",
       "make the program fit, or refuse it: 12GiB, 800MiB, bytes; auto: what this machine has left "
       "(what it needs)"},
      {planned, machineHeading}, takeMemory);
  flags.addNames({"allow", "change,…", "what --memory may change where that is faster or needed",
                  allowChoices()},
                 place, takeAllow);
  RecomputeOptions::visitOptions([&](auto access, const OptionText &text, auto...) {
    flags.add([access](Options &all) -> auto & { return std::invoke(access, all.recompute); }, text,
              {planned, machineHeading, Stage::Placed});
  });
  PiecesOptions::visitOptions([&](auto access, const OptionText &text, auto...) {
    flags.add([access](Options &all) -> auto & { return std::invoke(access, all.pieces); }, text,
              {planned, machineHeading, Stage::Placed});
  });
  AllocateOptions::visitOptions([&](auto access, OptionText text, auto...) {
    flags.add([access](Options &all) -> auto & { return std::invoke(access, all.allocate); },
              std::move(text), {planned, machineHeading, Stage::Placed});
  });
  OffloadOptions::visitOptions([&](auto access, const OptionText &text, auto...) {
    if constexpr (isOptionList<OptionValueType<decltype(access), OffloadOptions>>)
      flags.add([access](Options &all) -> auto & { return std::invoke(access, all.offload); }, text,
                {planned, machineHeading, Stage::Placed});
  });
  flags.addText({"offload-window", "size",
                 "memory that a part of offloaded variables passes through, a multiple of 4 KiB; "
                 "four of them are planned (8MiB)"},
                {planned, machineHeading, Stage::Placed}, takeOffloadWindow);
}

void addOutputFlags(FlagTable &flags) {
  FlagPlace place{planned, outputHeading}, ofCompile{compiled, outputHeading};
  flags.add(&Options::noCache,
            {"no-cache", "",
             "compile every kernel again: neither take nor keep them in $MTC_CACHE_DIR "
             "($XDG_CACHE_HOME/mtc, ~/.cache/mtc)"},
            ofCompile);
  flags.add(&Options::output,
            {"o", "FILE",
             "the program (named after the model); its initial weights lie beside it in "
             "FILE.weights.safetensors"},
            ofCompile);
  flags.addText(
      {"emit", "stage",
       "stop after a stage and print it; mtc compile continues from all but llvm and object",
       emitChoices()},
      ofCompile, takeEmit);
  flags.add(&Options::force, {"force", "", "replace files that mtc did not write"}, place)
      .isInRecipe = false;
  flags.add(&Options::json, {"json", "", "print JSON"}, {everyCommand, outputHeading});
  FlagPlace ofPlan{onlyPlanned, outputHeading};
  flags
      .add(&Options::html,
           {"html", "FILE", "draw what lies where in memory, and when, as a page for a browser"},
           ofPlan)
      .isInRecipe = false;
  flags
      .add(&Options::techniques,
           {"techniques", "", "plan without each optimization, to say what it saves and costs"},
           ofPlan)
      .isInRecipe = false;
  flags
      .add(&Options::curve,
           {"curve", "", "plan for smaller budgets too, to say what time a step takes in them"},
           ofPlan)
      .isInRecipe = false;
  flags.add(&Options::irFolder,
            {"print-ir-after-all", "DIR", "write the IR after each pass into a folder, numbered"},
            place);
  PassSelection::visitOptions([&](auto, OptionText text, auto...) {
    flags.addTexts(std::move(text), place, takeSkippedPass);
  });
  flags.add(&Options::remarks,
            {"remarks", "FILE", "write what was optimized, and what was not and why, a line each"},
            place);
  flags.add(&Options::reproducer,
            {"crash-reproducer", "FILE",
             "if a pass fails, write its input and the pipeline here, for mtc-opt "
             "--run-reproducer"},
            place);
}

} // namespace

const FlagTable &mtc::tool::getFlags() {
  static const FlagTable flags = [] {
    FlagTable all;
    addModelFlags(all);
    addTrainingFlags(all);
    addMachineFlags(all);
    addOutputFlags(all);
    for (cl::SubCommand *command : everyCommand.getSubCommands())
      cl::HideUnrelatedOptions({&modelHeading, &trainingHeading, &machineHeading, &outputHeading},
                               *command);
    return all;
  }();
  return flags;
}
