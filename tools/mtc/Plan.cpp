//===- Plan.cpp - `mtc plan` ------------------------------------------------------------------===//

#include "Commands.h"
#include "driver/Compilation.h"
#include "driver/PlanText.h"
#include "driver/Remedies.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mtc;
using namespace mtc::tool;

int mtc::tool::plan(const Options &options) {
  Compilation compilation(options);
  if (failed(compilation.import()) || failed(compilation.lower(Stage::Placed)))
    return 1;
  if (int code = compilation.writeRemarks())
    return code;
  MemoryPlan plan = MemoryPlan::ofPlaced(compilation.getModule());
  const bool fits = !options.memory || plan.peak <= *options.memory;
  std::vector<Remedy> remedies;
  if (!fits)
    remedies = findRemedies(options, compilation, plan.peak);
  StepCost cost(compilation.getModule());
  const TransferCost transfers = estimateTransfers(compilation.getModule(), cost);
  if (options.json) {
    llvm::json::Object json = toJson(plan, options.memory);
    addJson(cost, transfers, json);
    if (!fits)
      json["remedies"] = toJson(remedies);
    json["training"] = compilation.getParameters().training.toJson();
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(json)));
  } else {
    print(plan, llvm::outs());
    print(cost, transfers, llvm::outs());
  }
  if (fits)
    return 0;
  if (!options.json) {
    llvm::outs() << "does not fit  " << formatBytes(*options.memory) << "\n";
    for (const Remedy &remedy : remedies)
      llvm::outs() << "would need    " << formatBytes(remedy.peak) << " with " << remedy.flags
                   << "\n";
  }
  return 1;
}
