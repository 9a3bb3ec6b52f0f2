//===- PlanChoiceText.cpp - Techniques and budget curve as text and JSON ----------------------===//

#include "driver/PlanChoice.h"
#include "driver/PlanText.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mtc;
using namespace mtc::tool;

llvm::json::Array mtc::tool::toJson(llvm::ArrayRef<Benefit> techniques) {
  llvm::json::Array array;
  for (const Benefit &technique : techniques)
    array.push_back(llvm::json::Object{{"name", technique.name},
                                       {"saves_bytes", technique.savesBytes},
                                       {"costs_flops", technique.costsFlops},
                                       {"costs_seconds", technique.costsSeconds}});
  return array;
}

void mtc::tool::addJson(llvm::ArrayRef<CurvePoint> curve, llvm::json::Object &object) {
  llvm::json::Array array;
  for (const CurvePoint &point : curve)
    array.push_back(
        llvm::json::Object{{"peak_bytes", point.peak}, {"step_seconds", point.seconds}});
  object["curve"] = std::move(array);
  if (std::optional<size_t> knee = findKnee(curve))
    object["knee_bytes"] = curve[*knee].peak;
}

/// Returns a signed time: "+1.20 ms", "-35.0 us", "0 s".
static std::string formatAdded(double seconds) {
  if (seconds == 0)
    return "0 s";
  return (seconds < 0 ? "-" : "+") + formatSeconds(std::abs(seconds));
}

void mtc::tool::print(llvm::ArrayRef<Benefit> techniques, llvm::raw_ostream &stream) {
  stream << "\nTechniques                        saves bytes        adds time\n";
  for (const Benefit &technique : techniques)
    stream << llvm::formatv("  {0,-26} {1,16} {2,16}\n", technique.name, technique.savesBytes,
                            formatAdded(technique.costsSeconds));
}

void mtc::tool::print(llvm::ArrayRef<CurvePoint> curve, llvm::raw_ostream &stream) {
  if (curve.empty())
    return;
  constexpr double width = 40; // Columns of the longest bar.
  const std::optional<size_t> knee = findKnee(curve);
  const CurvePoint &first = curve.front();
  const double maximum = static_cast<double>(first.peak);
  stream << "\n--memory                    step time\n";
  for (auto [i, point] : llvm::enumerate(curve)) {
    const double added = first.seconds > 0 ? 100 * (point.seconds / first.seconds - 1) : 0;
    const auto bar = std::lround(width * static_cast<double>(point.peak) / maximum);
    stream << llvm::formatv("  {0,16} {1,11} {2,7:f1} %  {3}{4}\n", point.peak,
                            formatSeconds(point.seconds), added, std::string(bar, '#'),
                            knee == i ? "  <- knee: smaller budgets cost more time per byte" : "");
  }
}

llvm::json::Array mtc::tool::usedTechniques(mlir::ModuleOp allocated) {
  llvm::json::Array array;
  for (const Technique *technique : getUsedTechniques(allocated))
    array.push_back(llvm::json::Object{{"name", technique->name},
                                       {"results", describeEffect(technique->effect)}});
  return array;
}

std::string mtc::tool::describeUsedTechniques(mlir::ModuleOp allocated) {
  const std::vector<const Technique *> used = getUsedTechniques(allocated);
  std::string text;
  for (Effect effect : {Effect::None, Effect::Order, Effect::Numerics}) {
    std::string names;
    for (const Technique *technique : used)
      if (technique->effect == effect)
        names += (names.empty() ? "" : ", ") + technique->name;
    if (!names.empty())
      text +=
          llvm::formatv("{0}{1} ({2})", text.empty() ? "" : "; ", names, describeEffect(effect));
  }
  return text;
}
