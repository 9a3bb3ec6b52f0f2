//===- MemoryPlan.cpp - What a placed program needs -------------------------------------------===//

#include "driver/MemoryPlan.h"
#include "driver/Report.h"

#include "ir/Mtc.h"
#include "ir/NodeNames.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

MemoryPlan MemoryPlan::of(ModuleOp placed) {
  MemoryPlan plan;
  for (auto variable : placed.getOps<VariableOp>()) {
    if (variable.getTransient())
      continue; // It has no place while the program trains.
    int64_t bytes = paddedBytes(byteSize(variable.getTensorType()));
    switch (variable.getRole()) {
    case Role::Gradient:
      plan.gradients += bytes;
      break;
    case Role::Optimizer:
      plan.optimizer += bytes;
      break;
    default:
      plan.parameters += bytes;
    }
  }
  ArenaOp arena = *placed.getOps<ArenaOp>().begin();
  plan.peak = arena.getSize();
  plan.live = arena.getLive();
  plan.gradientsRun = arena.getAside();
  plan.data = arena.getDataBytes();
  plan.workspace = arena.getWorkspaceBytes();
  plan.activations =
      plan.peak - plan.parameters - plan.gradients - plan.optimizer - plan.data - plan.workspace;
  if (LocationAttr loc = arena.getPeakAtAttr())
    plan.peakAt = nodeNames(loc);
  return plan;
}

llvm::json::Object MemoryPlan::toJson(std::optional<int64_t> budget) const {
  llvm::json::Object object{{"peak_bytes", peak},
                            {"floor_bytes", live},
                            {"live_bytes", live},
                            {"categories", llvm::json::Object{{"parameters", parameters},
                                                              {"gradients", gradients},
                                                              {"optimizer", optimizer},
                                                              {"activations", activations},
                                                              {"workspace", workspace},
                                                              {"data", data}}},
                            {"techniques", llvm::json::Array{}},
                            {"peak_at", peakAt},
                            {"fits", !budget || peak <= *budget}};
  if (budget)
    object["budget_bytes"] = *budget;
  if (gradientsRun)
    object["gradients_run_bytes"] = gradientsRun;
  return object;
}

std::string mtc::tool::formatBytes(int64_t bytes) {
  static constexpr const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = bytes;
  unsigned unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  if (unit == 0)
    return llvm::formatv("{0} bytes", bytes);
  return llvm::formatv("{0:f2} {1} ({2} bytes)", value, units[unit], bytes);
}

void MemoryPlan::print(llvm::raw_ostream &stream) const {
  auto row = [&](StringRef name, int64_t bytes) {
    stream << llvm::formatv("  {0,-12} {1,16}  {2,5:f1} %\n", name, bytes,
                            peak ? 100.0 * bytes / peak : 0.0);
  };
  stream << "peak          " << formatBytes(peak) << "\n";
  row("parameters", parameters);
  row("gradients", gradients);
  row("optimizer", optimizer);
  row("activations", activations);
  row("workspace", workspace);
  row("data", data);
  stream << "peak live     " << formatBytes(live)
         << ", the lower bound of any placement of these values\n";
  if (gradientsRun)
    stream << "--gradients   " << formatBytes(gradientsRun) << " for that run: it keeps them all\n";
  if (!peakAt.empty())
    stream << "reached at    " << peakAt << "\n";
}
