//===- Plan.cpp - `mtc plan` ------------------------------------------------------------------===//

#include "Commands.h"
#include "driver/Compilation.h"
#include "driver/Flags.h"
#include "driver/PipelineText.h"
#include "driver/PlanChoice.h"
#include "driver/PlanPage.h"
#include "driver/PlanText.h"
#include "driver/ShapeText.h"

#include "passes/memory/MemoryTimeline.h"
#include "passes/pipeline/Stages.h"
#include "support/compiler/OutputFile.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mtc;
using namespace mtc::tool;

namespace {

/// Writes the page of `--html` and the remarks atomically.
int writeFiles(Compilation &compilation, const std::optional<OutputTarget> &page,
               const PlanFacts &facts) {
  std::vector<OutputFile> files;
  if (page)
    if (llvm::Error error =
            addOutput(files, *page, [&](llvm::raw_ostream &os) { writePlanPage(facts, os); }))
      return report(std::move(error));
  if (llvm::Error error = compilation.addRemarks(files))
    return report(std::move(error));
  return report(commit(files));
}

void printVerdict(const Options &options, bool fits, const Suggestions &suggestions,
                  llvm::raw_ostream &os) {
  const std::string command =
      "mtc compile " + quoteForShell(options.model) + spellGivenFlags(Command::Compile);
  if (!fits) {
    os << "\nDoes not fit in " << formatBytes(*options.plan.fit.memory) << "\n";
    if (suggestions.isHopeless)
      os << "  No flags that lower memory can make it fit: a lower bound with all of them is "
            "larger.\n";
    for (const Suggestion &suggestion : suggestions.known)
      os << "  needs " << formatBytes(suggestion.peak) << " with " << suggestion.flags << " ("
         << describeEffect(suggestion.effect) << ")\n";
    return;
  }
  if (options.plan.fit.memory)
    os << "\nFits in " << formatBytes(*options.plan.fit.memory);
  os << "\nCompile with: " << command << "\n";
}

} // namespace

int mtc::tool::plan(const Options &options, Compilation &compilation) {
  if (failed(compilation.import()))
    return 1;
  std::optional<OutputTarget> page;
  if (!options.html.empty()) {
    auto target = compilation.getOutputs().add("--html " + options.html, options.html,
                                               /*isStream=*/true);
    if (!target)
      return report(target.takeError());
    page = std::move(*target);
  }
  if (failed(compilation.lower(Stage::Allocated)))
    return 1;
  mlir::ModuleOp largest = largestStageOf(compilation.getModule());
  MemoryPlan plan = MemoryPlan::ofAllocated(largest);
  MemoryTimeline timeline(largest);
  const bool fits = !options.plan.fit.memory || plan.counted <= *options.plan.fit.memory;
  CompilationQueries queries(options, compilation);
  Suggestions suggestions;
  if (!fits || (page && options.plan.fit.memory))
    suggestions = queries.findSuggestions(plan);
  plan.setCategories(timeline); // The suggestions need those of variables.
  if (int code = writeFiles(compilation, page,
                            {plan, timeline, compilation.getProgram().getModelName().str(),
                             compilation.getTarget().getName(), describeUsedTechniques(largest),
                             options.plan.fit.memory, suggestions}))
    return code;
  StepCost cost(largest);
  const TransferCost transfers = estimateTransfers(largest, cost);
  std::vector<Benefit> techniques;
  if (options.techniques)
    techniques = queries.measureBenefits();
  std::vector<CurvePoint> curve;
  if (options.curve)
    curve = queries.findCurve();
  if (options.json) {
    llvm::json::Object json = toJson(plan, options.plan.fit.memory);
    addJson(cost, transfers, json);
    addStages(compilation.getModule(), json);
    addRanks(largest, json);
    addShapes(largest, json);
    json["alive_at_peak"] = aliveAtPeak(timeline);
    if (options.techniques)
      json["techniques"] = toJson(techniques);
    if (options.curve)
      addJson(curve, json);
    if (!fits)
      json["suggestions"] = toJson(suggestions.known);
    json["lowered_by"] = usedTechniques(largest);
    json["training"] = compilation.getParameters().training.toJson();
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(json)));
  } else {
    std::string text;
    llvm::raw_string_ostream os(text);
    print(plan, options.verbose, os);
    if (std::string used = describeUsedTechniques(largest); !used.empty())
      os << "Lowered by    " << used << "\n";
    print(cost, transfers, os);
    printShapes(largest, os);
    printStages(compilation.getModule(), os);
    printRanks(largest, transfers, os);
    if (!options.quiet)
      print(timeline, options.verbose, os);
    if (options.techniques)
      print(techniques, os);
    if (options.curve)
      print(curve, os);
    printVerdict(options, fits, suggestions, os);
    show(text);
  }
  return fits ? 0 : 1;
}
