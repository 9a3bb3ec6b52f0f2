//===- SweepFlags.cpp - Flags of `mtc sweep` --------------------------------------------------===//

#include "driver/FlagScopes.h"

using llvm::StringRef;
using namespace mtc;
using namespace mtc::tool;

static std::string takeJobs(Options &options, StringRef text) {
  int64_t jobs = 0;
  std::string problem = parseValue(text, jobs);
  if (problem.empty() && jobs < 1)
    problem = "expected 1 or more";
  if (problem.empty())
    options.sweep.jobs = jobs;
  return problem;
}

void mtc::tool::addSweepFlags(FlagTable &flags) {
  static constexpr Command swept[] = {Command::Sweep};
  const FlagScope scope{swept, "Sweep"};
  auto add = [&](auto access, OptionText text) {
    flags.add(access, std::move(text), scope).isInRecipe = false;
  };
  add([](auto &all) -> auto & { return all.sweep.settings; },
      {.name = "set",
       .valueName = "FLAG=V[,V...]",
       .help = "Values of a flag of the program",
       .detail = "Every combination of the values of all --set is run, with each line of --list. "
                 "The values of a switch are true and false."});
  add([](auto &all) -> auto & { return all.sweep.list; },
      {.name = "list",
       .valueName = "FILE",
       .help = "Settings, a line of flags of the program for each run",
       .defaultText = "none"});
  add([](auto &all) -> auto & { return all.sweep.folder; },
      {.name = "out",
       .valueName = "DIR",
       .help = "Folder of the table, the page and the runs",
       .detail = "A run's folder has its metrics and its log; {run} in a flag of the program is "
                 "replaced by it. Runs that are complete in the folder are not repeated.",
       .defaultText = "required"});
  add([](auto &all) -> auto & { return all.sweep.metric; },
      {.name = "metric",
       .valueName = "NAME",
       .help = "Metric that ranks the runs",
       .detail = "loss is the mean of the last tenth of the steps; metrics of --validate, such as "
                 "accuracy, are those of the best validation.",
       .defaultText = "validation_loss, or loss"});
  flags
      .addText({.name = "jobs",
                .valueName = "N",
                .help = "Number of runs at the same time",
                .detail = "They share the processors evenly unless --threads is given.",
                .defaultText = "1"},
               scope, takeJobs)
      .isInRecipe = false;
}
