//===- PlanText.cpp - A plan as a page and as JSON --------------------------------------------===//

#include "driver/PlanText.h"
#include "driver/Report.h"

#include "ir/NodeNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

std::string mtc::tool::peakNodes(const MemoryPlan &plan) {
  return plan.peakAt ? nodeNames(plan.peakAt) : "";
}

llvm::json::Object mtc::tool::toJson(const MemoryPlan &plan, std::optional<int64_t> budget) {
  const MemoryPlan::Categories &categories = plan.categories;
  llvm::json::Object object{
      {"peak_bytes", plan.peak},
      {"floor_bytes", plan.live},
      {"live_bytes", plan.live},
      {"categories", llvm::json::Object{{"parameters", categories.parameters},
                                        {"gradients", categories.gradients},
                                        {"optimizer", categories.optimizer},
                                        {"activations", categories.activations},
                                        {"workspace", categories.workspace},
                                        {"data", categories.data}}},
      {"techniques", llvm::json::Array{}},
      {"peak_at", peakNodes(plan)},
      {"fits", !budget || plan.peak <= *budget}};
  if (budget)
    object["budget_bytes"] = *budget;
  if (!plan.otherSpaces.empty()) {
    llvm::json::Object spaces{{stringifyEnum(MemorySpace::Device), plan.peak}};
    for (auto [space, bytes] : plan.otherSpaces)
      spaces[stringifyEnum(space)] = bytes;
    object["spaces"] = std::move(spaces);
  }
  if (plan.gradientsRun)
    object["gradients_run_bytes"] = plan.gradientsRun;
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

void mtc::tool::print(const MemoryPlan &plan, llvm::raw_ostream &stream) {
  const MemoryPlan::Categories &categories = plan.categories;
  auto row = [&](StringRef name, int64_t bytes) {
    stream << llvm::formatv("  {0,-12} {1,16}  {2,5:f1} %\n", name, bytes,
                            plan.peak ? 100.0 * bytes / plan.peak : 0.0);
  };
  stream << "peak          " << formatBytes(plan.peak) << "\n";
  row("parameters", categories.parameters);
  row("gradients", categories.gradients);
  row("optimizer", categories.optimizer);
  row("activations", categories.activations);
  row("workspace", categories.workspace);
  row("data", categories.data);
  stream << "peak live     " << formatBytes(plan.live)
         << ", the lower bound of any placement of these values\n";
  for (auto [space, bytes] : plan.otherSpaces)
    stream << llvm::formatv("{0,-13} {1}\n", stringifyEnum(space), formatBytes(bytes));
  if (plan.gradientsRun)
    stream << "--gradients   " << formatBytes(plan.gradientsRun)
           << " for that run: it keeps them all\n";
  if (std::string nodes = peakNodes(plan); !nodes.empty())
    stream << "reached at    " << nodes << "\n";
}

void mtc::tool::addJson(StepCost &cost, const TransferCost &transfers, llvm::json::Object &object) {
  TimedCost step = cost.ofStep();
  object["step_seconds"] = step.seconds() + transfers.exposed;
  if (transfers.bytes)
    object["transfers"] = llvm::json::Object{{"bytes", transfers.bytes},
                                             {"seconds", transfers.seconds},
                                             {"exposed_seconds", transfers.exposed}};
  object["flops"] = step.flops;
  object["bytes_moved"] = step.bytes;
  object["rates"] = cost.describeRates();
  llvm::json::Object kinds;
  for (const auto &[kind, sum] : cost.ofStepByKind())
    kinds[kind] = llvm::json::Object{
        {"seconds", sum.seconds()}, {"flops", sum.flops}, {"bytes_moved", sum.bytes}};
  object["step_kinds"] = std::move(kinds);
}

/// "1.05 s", "320 us": three digits.
static std::string formatSeconds(double seconds) {
  auto [value, unit] = seconds >= 1      ? std::pair(seconds, "s")
                       : seconds >= 1e-3 ? std::pair(1e3 * seconds, "ms")
                                         : std::pair(1e6 * seconds, "us");
  int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f %s", digits, value, unit);
  return text;
}

void mtc::tool::print(StepCost &cost, const TransferCost &transfers, llvm::raw_ostream &stream) {
  stream << "time a step   about " << formatSeconds(cost.ofStep().seconds() + transfers.exposed)
         << " (";
  llvm::ListSeparator separator;
  for (const auto &[kind, sum] : cost.ofStepByKind())
    stream << separator << kind << " " << formatSeconds(sum.seconds());
  stream << "), " << cost.describeRates() << "\n";
  if (transfers.bytes)
    stream << "copied        " << formatBytes(transfers.bytes) << " between spaces, about "
           << formatSeconds(transfers.seconds) << ", of which " << formatSeconds(transfers.exposed)
           << " are waited for\n";
}
