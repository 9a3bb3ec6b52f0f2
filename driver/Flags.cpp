//===- Flags.cpp - Commands and flags of mtc --------------------------------------------------===//

#include "driver/Flags.h"

#include "codegen/target/Target.h"
#include "driver/FlagScopes.h"
#include "driver/FlagValues.h"
#include "passes/planning/Technique.h"

using llvm::StringRef;
using namespace mtc;
using namespace mtc::tool;

/// Flags shown by --help; the others are shown by --help-all.
static constexpr llvm::StringLiteral commonFlags[] = {"dim",          "bind",
                                                      "train",        "freeze",
                                                      "loss",         "output",
                                                      "labels",       "precision",
                                                      "optimizer",    "lr",
                                                      "weight-decay", "schedule",
                                                      "clip-norm",    "accumulate",
                                                      "ranks",        "recipe",
                                                      "lora",         "frozen-bits",
                                                      "memory",       "recompute",
                                                      "tile",         "offload",
                                                      "allow",        "target",
                                                      "threads",      "o",
                                                      "emit",         "json",
                                                      "force",        "html",
                                                      "techniques",   "curve",
                                                      "parameters",   "input-gradients",
                                                      "set",          "list",
                                                      "out",          "metric",
                                                      "weights"};

namespace {

StringRef describe(Precision precision) {
  switch (precision) {
  case Precision::F32:
    return "f32 everywhere";
  case Precision::TF32:
    return "TF32 contractions on GPUs that support them";
  case Precision::BF16:
    return "bf16 contractions and activations, f32 sums and weights";
  case Precision::F16:
    return "f16 contractions and activations, with loss scaling";
  }
  llvm_unreachable("all precisions are handled");
}

StringRef describe(Stage stage) {
  switch (stage) {
  case Stage::Imported:
    return "the imported model, with types";
  case Stage::Forward:
    return "the model in core operations";
  case Stage::Training:
    return "loss, gradients and update";
  case Stage::Kernels:
    return "kernels and library calls";
  case Stage::Allocated:
    return "kernels and calls with arena offsets";
  }
  llvm_unreachable("all stages are handled");
}

/// Returns the choices of `--emit`: stages, then outputs of an allocated module.
std::vector<OptionChoice> emitChoices() {
  std::vector<OptionChoice> choices = choicesOf<Stage>(describe);
  choices.push_back({"llvm", "kernels as LLVM IR"});
  choices.push_back({"object", "object file of the program"});
  choices.push_back({"library", "shared library (or archive: -o libNAME.a) with a C header"});
  return choices;
}

/// Adds the flags of the loss. Gradients that are written are those of one batch.
void addLossFlags(FlagTable &flags) {
  visitMember(&TrainingOptions::loss, [&](auto access, OptionText text, auto...) {
    const llvm::ArrayRef<Command> commands =
        text.isOfUpdate ? llvm::ArrayRef(planned) : llvm::ArrayRef(differentiated);
    flags.add([access](Options &all) -> auto & { return access(all.plan.training); },
              std::move(text), {commands, lossGroup, Stage::Training});
  });
}

void addGradientFlags(FlagTable &flags) {
  FlagScope scope{onlyGradient, gradientGroup};
  flags.addText({.name = "parameters",
                 .valueName = "HOW",
                 .help = "Form of the trained parameters",
                 .choices = {{"initializers", "as initializers, with their values"},
                             {"inputs", "as graph inputs, after the inputs of the model"}},
                 .defaultText = "initializers"},
                scope, takeParameters);
  flags.add(&Options::inputGradients,
            {.name = "input-gradients",
             .valueName = "INPUT",
             .help = "Also write the gradient of an input of the model",
             .detail = "The output is INPUT.gradient. Use it with --freeze '*' for the gradients "
                       "of inputs only."},
            scope);
}

void addTrainingFlags(FlagTable &flags) {
  FlagScope ofLoss{planned, lossGroup, Stage::Training};
  FlagScope ofOptimizer{planned, optimizerGroup, Stage::Training};
  addLossFlags(flags);
  flags.add([](Options &all) -> auto & { return all.plan.precision; },
            {"precision", "TYPE", "Precision of contractions and activations",
             choicesOf<Precision>(describe)},
            {planned, lossGroup, Stage::Imported});
  addTrainingOptions(flags, &TrainingOptions::precision, ofLoss);
  addTrainingOptions(flags, &TrainingOptions::lossScaling, ofLoss);
  addTrainingOptions(flags, &TrainingOptions::optimizer, ofOptimizer);
  addTrainingOptions(flags, &TrainingOptions::gradientStorage, ofOptimizer);
  flags
      .add(&Options::recipe,
           {.name = "recipe",
            .valueName = "FILE.toml",
            .help = "Read flags from a TOML file, with flag names as keys",
            .detail = "The command line overrides the recipe, for each dimension and bound input "
                      "separately. mtc grad ignores the keys of training."},
           {differentiated, optimizerGroup})
      .isInRecipe = false;
  flags.addTexts(
      {.name = "lora",
       .valueName = "PATTERN[:rank=8,alpha=8]",
       .help = "Train low-rank adapters of the matrices whose names match",
       .detail = "x W becomes x W + alpha / rank (x A) B. Further settings: dropout=P drops "
                 "elements of the x of A in training, and rslora scales by alpha / sqrt(rank). "
                 "PATTERN:8 is PATTERN:rank=8. A pattern matches the whole name of a matrix or the "
                 "path of its layer, such as *.q_proj. All other parameters "
                 "are frozen, unless --train names them. If several patterns match, the one "
                 "with the most literal characters wins."},
      {planned, adapterGroup, Stage::Imported}, takeLora);
  addTrainingOptions(flags, &TrainingOptions::frozenStorage,
                     {planned, adapterGroup, Stage::Training});
  addTrainingOptions(flags, &TrainingOptions::sharding, {planned, targetGroup, Stage::Training});
}

/// Adds flags for options of mtc-fit.
template <typename Values> void addFitOptions(FlagTable &flags, Values FitOptions::*options) {
  visitMember(options, [&](auto access, OptionText text, auto...) {
    flags.add([access](Options &all) -> auto & { return access(all.plan.fit); }, std::move(text),
              {planned, memoryGroup, Stage::Allocated});
  });
}

void addMemoryFlags(FlagTable &flags) {
  FlagScope scope{planned, memoryGroup, Stage::Allocated};
  flags.addText({.name = "memory",
                 .valueName = "SIZE|auto",
                 .help = "Memory budget, such as 12GiB; auto: the available memory",
                 .detail =
                     "If the budget cannot be met, mtc exits with the smallest reachable peak "
                     "and the flags that would lower it."},
                {planned, memoryGroup}, takeMemory);
  addFitOptions(flags, &FitOptions::recompute);
  addFitOptions(flags, &FitOptions::tile);
  OffloadOptions::visitOptions([&](auto access, const OptionText &text, auto...) {
    if constexpr (isOptionList<OptionValueType<decltype(access), OffloadOptions>>)
      if (!text.isOfPass)
        flags.add(
            [access](Options &all) -> auto & { return std::invoke(access, all.plan.fit.offload); },
            text, scope);
  });
  flags.addText({.name = "offload-window",
                 .valueName = "SIZE",
                 .help = "Size of one of four offload buffers, a multiple of 4 KiB",
                 .defaultText = "8MiB to 32MiB, by --memory"},
                scope, takeOffloadWindow);
  flags.addNames({"allow", "CHANGE,...", "Numerics that --memory may change to meet the budget",
                  allowChoices()},
                 {planned, memoryGroup, Stage::Imported}, takeAllow);
  flags.add(&Options::fitsBatch,
            {.name = "fit-batch",
             .valueName = "",
             .help = "Use the largest batch that fits --memory",
             .detail = "The size is found to 1/32 of it."},
            {planned, memoryGroup, Stage::Imported});
  flags.addText({.name = "search-seconds",
                 .valueName = "N",
                 .help = "Use the best plan found after this time",
                 .defaultText = "no limit"},
                {planned, memoryGroup}, takeSearchSeconds);
}

void addTargetFlags(FlagTable &flags) {
  FlagScope scope{planned, targetGroup, Stage::Imported};
  flags.add(&Options::target,
            {.name = "target",
             .valueName = "TARGET",
             .help = "Compile for cpu, or for cuda[:ARCHITECTURE,...]",
             .detail = Target::describeNames()},
            scope);
  flags.addText({.name = "threads",
                 .valueName = "N",
                 .help = "Maximum number of threads of the program",
                 .defaultText = "all cores"},
                scope, takeThreads);
  flags.add(&Options::cpu,
            {.name = "cpu",
             .valueName = "NAME",
             .help = "Processor to compile for, by its LLVM name, or aarch64",
             .detail = "x86-64-v2, x86-64-v3 and x86-64-v4 run on every processor of their level. "
                       "'mtc processors' lists all names.",
             .defaultText = "this machine's"},
            scope);
  flags.add(&Options::costModel,
            {.name = "cost-model",
             .valueName = "CLASS|GPU",
             .help = "Processor class or GPU of the cost model",
             .detail =
                 "avx512bf16, avx512, avx2, sse or neon; with --target cuda, a GPU: a100, a40, "
                 "l40s, h100, b200, rtx-3060, rtx-3090, rtx-4060, rtx-4070, rtx-4090 or "
                 "rtx-5090.",
             .defaultText = "this machine, or a GPU of the architecture"},
            scope);
  flags.add(&Options::tune,
            {.name = "tune",
             .valueName = "off|cached|full",
             .help = "Autotune large contractions and convolutions",
             .detail = "cached measures each shape once on this machine, for at most about 3 "
                       "seconds per run of mtc. full measures all of them again. off gives the "
                       "same program on every machine of a kind. Programs for other processors "
                       "are not measured.",
             .defaultText = "cached"},
            scope);
  flags.add(&Options::isStatic,
            {.name = "static",
             .valueName = "",
             .help = "Link a program that needs no libraries, as --no-onednn",
             .detail = "It runs on any Linux of its architecture, also without a C library."},
            scope);
  flags.add(&Options::noOnednn, {"no-onednn", "", "Compute library calls by mtc's own code"},
            scope);
  flags.add(&Options::noCudnn,
            {"no-cudnn", "", "Compute convolutions as contractions, without cuDNN"}, scope);
  flags.add(&Options::emulate, {"emulate", "", "Run device code on the CPU and check every access"},
            scope);
}

void addOutputFlags(FlagTable &flags) {
  FlagScope scope{planned, outputGroup}, ofCompile{compiled, outputGroup},
      ofPlan{onlyPlanned, outputGroup};
  flags.add(&Options::output,
            {.name = "o",
             .valueName = "FILE",
             .help = "Program to write",
             .detail = "Its initial weights are written to FILE.weights.safetensors.",
             .defaultText = "the model's name"},
            ofCompile);
  flags.add(&Options::output,
            {.name = "o",
             .valueName = "FILE",
             .help = "ONNX model to write",
             .detail = "Its shapes are static, with the sizes of --dim. The data of initializers "
                       "is written to FILE.data if the model's is in "
                       "other files, or if FILE would exceed 2 GiB.",
             .defaultText = "the model's name and .gradient.onnx"},
            {onlyGradient, outputGroup});
  flags.addText(
      {"emit", "STAGE", "Print a stage or write a library instead of a program", emitChoices()},
      ofCompile, takeEmit);
  flags.add(&Options::json, {"json", "", "Print JSON"}, {printsJson, outputGroup});
  flags.add(&Options::verbose, {"verbose", "", "Print details"}, {shown, outputGroup}).isInRecipe =
      false;
  flags
      .add(&Options::quiet, {"quiet", "", "Print warnings and errors only, no notes"},
           {everyRun, outputGroup})
      .isInRecipe = false;
  flags.add(&Options::html, {"html", "FILE", "Write a page that draws the memory plan"}, ofPlan)
      .isInRecipe = false;
  flags
      .add(&Options::techniques, {"techniques", "", "Show what each optimization saves and costs"},
           ofPlan)
      .isInRecipe = false;
  flags.add(&Options::curve, {"curve", "", "Show the step time for smaller memory budgets"}, ofPlan)
      .isInRecipe = false;
  flags
      .add(&Options::force, {"force", "", "Overwrite files that mtc did not write"},
           {differentiated, outputGroup})
      .isInRecipe = false;
  flags.add(&Options::remarks,
            {"remarks", "FILE", "Write applied and missed optimizations with their reasons"},
            scope);
}

void addDebugFlags(FlagTable &flags) {
  FlagScope scope{planned, debugGroup}, ofCompile{compiled, debugGroup},
      ofPasses{differentiated, debugGroup};
  visitMember(&PlanSettings::allocate, [&](auto access, OptionText text, auto...) {
    flags.add([access](Options &all) -> auto & { return access(all.plan); }, std::move(text),
              {planned, debugGroup, Stage::Allocated});
  });
  PassSelection::visitOptions([&](auto, OptionText text, auto...) {
    flags.addTexts(std::move(text), scope, takeSkippedPass);
  });
  flags.add(&Options::noCache,
            {.name = "no-cache",
             .valueName = "",
             .help = "Do not use the cache of compiled kernels",
             .detail = "The cache is in $MTC_CACHE_DIR (default: $XDG_CACHE_HOME/mtc or "
                       "~/.cache/mtc)."},
            ofCompile);
  flags.add(&Options::irFolder,
            {"print-ir-after-all", "DIR", "Write the IR after each pass to numbered files"},
            ofPasses);
  flags.add(&Options::reproducer,
            {"crash-reproducer", "FILE", "Write a reproducer for mtc-opt if a pass fails"},
            ofPasses);
}

} // namespace

FlagTable &mtc::tool::getFlags() {
  static FlagTable flags = [] {
    FlagTable all;
    addModelFlags(all);
    addTrainingFlags(all);
    addGradientFlags(all);
    addMemoryFlags(all);
    addTargetFlags(all);
    addOutputFlags(all);
    addDebugFlags(all);
    addSweepFlags(all);
    for (const auto &flag : all.getFlags())
      flag->isCommon = llvm::is_contained(commonFlags, flag->text.name);
    return all;
  }();
  return flags;
}

std::vector<command_line::Flag> mtc::tool::describeFlags(Command command) {
  std::vector<command_line::Flag> lines;
  for (const auto &flag : getFlags().getFlags())
    if (flag->isOf(command))
      lines.push_back(flag->describe());
  llvm::append_range(lines, command_line::helpFlags());
  return lines;
}
