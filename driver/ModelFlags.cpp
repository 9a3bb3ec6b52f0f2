//===- ModelFlags.cpp - Flags of the model ----------------------------------------------------===//

#include "driver/FlagScopes.h"
#include "driver/FlagValues.h"

using llvm::StringRef;
using namespace mtc;
using namespace mtc::tool;

static StringRef describe(SharedInitializerPolicy policy) {
  switch (policy) {
  case SharedInitializerPolicy::Auto:
    return "keep matrices tied that the module may tie, split the rest";
  case SharedInitializerPolicy::Split:
    return "train each use separately";
  case SharedInitializerPolicy::Keep:
    return "train them as one weight";
  }
  llvm_unreachable("all policies are handled");
}

static StringRef describe(BatchNormMode mode) {
  switch (mode) {
  case BatchNormMode::AsExported:
    return "the mode stored in the file";
  case BatchNormMode::Train:
    return "batch statistics, as PyTorch's train()";
  case BatchNormMode::Frozen:
    return "running statistics, which stay fixed";
  case BatchNormMode::Sync:
    return "statistics of the batches of all ranks, as PyTorch's SyncBatchNorm";
  }
  llvm_unreachable("all modes are handled");
}

void mtc::tool::addModelFlags(FlagTable &flags) {
  FlagScope scope{everyCommand, modelGroup, Stage::Imported};
  flags
      .addTexts({"dim", "NAME=N[,N...]",
                 "Set a symbolic dimension; a list compiles a program for several shapes"},
                scope, takeDim)
      .isPairs = true;
  flags.addText({.name = "batch-tokens",
                 .valueName = "N",
                 .help = "Set the batch to the samples that N tokens contain",
                 .detail = "With lists of --dim, each shape has the batch for its own length. A "
                           "batch has at least one sample.",
                 .defaultText = "none"},
                {planned, modelGroup, Stage::Imported}, takeBatchTokens);
  flags
      .add(&Options::binds,
           {"bind", "INPUT=VALUE|FILE", "Replace a graph input by a number or a .npy file"}, scope)
      .isPairs = true;
  flags.add(&Options::train,
            {.name = "train",
             .valueName = "PATTERN",
             .help = "Train only the parameters whose names match",
             .detail =
                 "Patterns (*, ?) match names of the file or of the user's module. A constant "
                 "matches if it is named in full or looks trainable."},
            scope);
  flags.add(&Options::freeze,
            {.name = "freeze",
             .valueName = "PATTERN",
             .help = "Freeze the parameters whose names match",
             .detail = "If --train matches too, the pattern with more literal characters wins, and "
                       "--freeze among equals."},
            scope);
  flags.add(&Options::sharedInitializers,
            {"shared-initializers", "HOW", "Treatment of equal parameters that the exporter merged",
             choicesOf<SharedInitializerPolicy>(describe)},
            scope);
  flags
      .add(&Options::tie,
           {.name = "tie",
            .valueName = "A=B|equal",
            .help = "Train two parameters, or all equal ones, as one weight",
            .detail = "One may be the transpose of the other. equal skips parameters of a single "
                      "value, such as zeros."},
           scope)
      .isPairs = true;
  flags.add(&Options::untie, {"untie", "NAME", "Train each use and copy of a parameter separately"},
            scope);
  flags.addText({.name = "batch-norm",
                 .valueName = "MODE",
                 .help = "Mode of BatchNormalization in training steps",
                 .choices = choicesOf<BatchNormMode>(describe),
                 .defaultText = "as-exported"},
                {everyCommand, modelGroup, Stage::Forward}, takeBatchNorm);
  flags.addText({.name = "dropout",
                 .valueName = "RATE",
                 .help = "Rate of every Dropout in training steps",
                 .detail = "The program accepts the flag, too, if the rate is not 0.",
                 .defaultText = "as exported"},
                {planned, modelGroup, Stage::Forward}, takeDropout);
  flags.addText(
      {.name = "unroll",
       .valueName = "N",
       .help = "Unroll loops of at most N iterations",
       .detail =
           "A longer Loop or Scan is compiled once if its iterations differ only in data: its "
           "compilation takes less time, its step less memory and more time. Other loops are "
           "always unrolled, and so are all loops with --lora or --frozen-bits.",
       .defaultText = spellOption(Options().unroll)},
      {described, modelGroup, Stage::Imported}, takeUnroll);
  flags.add(&Options::batchInputs,
            {.name = "batch-input",
             .valueName = "INPUT",
             .help = "Inputs whose first axis is the batch; none: no input",
             .detail = "Every other input is passed whole to each step.",
             .defaultText = "inferred"},
            {described, modelGroup, Stage::Training});
  flags.add(&Options::weights,
            {.name = "weights",
             .valueName = "FILE|DIR",
             .help = "Initial weights: .safetensors or a save_pretrained folder",
             .detail =
                 "The program reads them from there when it starts, and no copy is written. "
                 "They replace those of the model's file, which may lack them. Names, types and "
                 "shapes are checked when the program is compiled."},
            {compiled, modelGroup});
  flags.add(&Options::ignoreWeights,
            {.name = "ignore-weights",
             .valueName = "PATTERN",
             .help = "Tensors of --weights that the program may ignore",
             .detail = "Patterns (*, ?) match names in the file. Other tensors that the program "
                       "does not have are errors."},
            {compiled, modelGroup});
  addTrainingOptions(flags, &TrainingOptions::initialization,
                     {planned, modelGroup, Stage::Training});
}
