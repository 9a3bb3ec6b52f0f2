//===- ScheduleOptions.cpp - Options of the learning-rate schedule ----------------------------===//

#include "passes/optimizer/ScheduleOptions.h"

#include "passes/OptionValues.h"
#include "runtime/abi/schedule.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mtc;

std::vector<OptionChoice> mtc::scheduleChoices() {
  std::vector<OptionChoice> choices;
  for (const abi::Schedule &schedule : abi::schedules)
    choices.push_back({schedule.name, schedule.help});
  return choices;
}

/// Returns the names of the schedules with a property, for instance "linear, cosine".
static std::string namesOf(bool abi::Schedule::*has) {
  SmallVector<StringRef> names;
  for (const abi::Schedule &schedule : abi::schedules)
    if (schedule.*has)
      names.push_back(schedule.name);
  return llvm::join(names, ", ");
}

namespace {

struct Points {
  SmallVector<int64_t> steps;
  SmallVector<double> rates;
};

} // namespace

/// Returns nothing if an entry is malformed or steps are not strictly increasing.
static std::optional<Points> parsePoints(ArrayRef<std::string> texts) {
  Points points;
  for (StringRef text : texts) {
    auto [step, rate] = text.split(':');
    int64_t number = 0;
    std::optional<double> value = parseNumber(rate.trim());
    if (!parseValue(step.trim(), number).empty() || !value || number < 1 || *value < 0.0 ||
        (!points.steps.empty() && number <= points.steps.back()))
      return std::nullopt;
    points.steps.push_back(number);
    points.rates.push_back(*value);
  }
  return points;
}

std::optional<double> ScheduleOptions::getHighest() const {
  std::optional<Points> parsed = parsePoints(points);
  if (!parsed || parsed->rates.empty())
    return std::nullopt;
  return *llvm::max_element(parsed->rates);
}

ScheduleAttr ScheduleOptions::make(MLIRContext *context, double rate) const {
  Builder b(context);
  double share = abi::findSchedule(kind.c_str())->least;
  FloatAttr falls;
  if (least || share != 0.0)
    falls = b.getF64FloatAttr(least.value_or(share * rate));
  Points parsed = *parsePoints(points);
  bool hasPoints = !parsed.steps.empty();
  return ScheduleAttr::get(context, kind, b.getF64FloatAttr(rate), falls, warmup, decay,
                           hasPoints ? b.getDenseI64ArrayAttr(parsed.steps) : nullptr,
                           hasPoints ? b.getDenseF64ArrayAttr(parsed.rates) : nullptr);
}

std::string ScheduleOptions::checkKind() const {
  const abi::Schedule *schedule = abi::findSchedule(kind.c_str());
  return schedule && schedule->hasPoints && points.empty() ? "requires --schedule-table" : "";
}

/// Returns "" for an unknown schedule, which is reported elsewhere.
static std::string checkHas(StringRef kind, bool abi::Schedule::*has, StringRef what) {
  const abi::Schedule *schedule = abi::findSchedule(kind.str().c_str());
  if (!schedule || schedule->*has)
    return "";
  return ("schedule '" + kind + "' has no " + what + "; expected " + namesOf(has)).str();
}

std::string ScheduleOptions::checkLeast(double rate) const {
  if (!least)
    return "";
  if (!(*least >= 0.0 && *least <= rate))
    return "expected a rate from 0 to --lr, which is " + spellNumber(rate);
  return checkHas(kind, &abi::Schedule::hasLeast, "final learning rate");
}

std::string ScheduleOptions::checkWarmup() const {
  if (warmup < 0)
    return "expected a non-negative number of steps";
  return warmup ? checkHas(kind, &abi::Schedule::hasWarmup, "warm-up") : "";
}

std::string ScheduleOptions::checkDecay() const {
  if (decay < 0)
    return "expected a non-negative number of steps";
  return decay ? checkHas(kind, &abi::Schedule::hasDecay, "decay steps") : "";
}

std::string ScheduleOptions::checkPoints() const {
  if (points.empty())
    return "";
  if (!parsePoints(points))
    return "expected points STEP:RATE with increasing steps from 1 on, such as 1:1e-4, 100:1e-3";
  return checkHas(kind, &abi::Schedule::hasPoints, "table");
}
