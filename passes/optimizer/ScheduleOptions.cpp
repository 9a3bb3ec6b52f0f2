//===- ScheduleOptions.cpp - Options of the learning-rate schedule ----------------------------===//

#include "passes/optimizer/ScheduleOptions.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mtc;

std::vector<OptionChoice> mtc::scheduleChoices() {
  std::vector<OptionChoice> choices;
  for (const abi::Schedule &schedule : abi::schedules)
    choices.push_back({schedule.name, schedule.help});
  return choices;
}

std::optional<double> ScheduleOptions::getHighest() const {
  std::optional<abi::SchedulePoints> parsed = abi::parsePoints(points);
  if (!parsed || parsed->rates.empty())
    return std::nullopt;
  return *llvm::max_element(parsed->rates);
}

ScheduleAttr ScheduleOptions::make(MLIRContext *context, double rate) const {
  Builder b(context);
  FloatAttr minimum;
  if (double floor = minRateOf(rate); minRate || floor != 0.0)
    minimum = b.getF64FloatAttr(floor);
  abi::SchedulePoints parsed = *abi::parsePoints(points);
  bool hasPoints = !parsed.steps.empty();
  return ScheduleAttr::get(context, kind, b.getF64FloatAttr(rate), minimum, warmup, decay,
                           hasPoints ? b.getDenseI64ArrayAttr(parsed.steps) : nullptr,
                           hasPoints ? b.getDenseF64ArrayAttr(parsed.rates) : nullptr);
}
