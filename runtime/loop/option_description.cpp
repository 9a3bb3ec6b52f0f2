// The flags and metrics of a program as JSON.
#include "runtime/loop/evaluation_metrics.h"
#include "runtime/loop/option_flags.h"

#include <nlohmann/json.hpp>

namespace mtc::runtime {

std::string describeProgramAsJson(const MtcProgram &program) {
  nlohmann::ordered_json flags = nlohmann::ordered_json::array(), metrics = flags;
  for (const OptionFlag &flag : optionFlags(program))
    flags.push_back(
        {{"name", flag.line.name}, {"value", flag.line.value}, {"writes_files", flag.writesFiles}});
  for (const MetricKind &metric : allMetrics())
    if (metric.isComputed(program))
      metrics.push_back({{"name", metric.name}, {"is_higher_better", metric.isHigherBetter}});
  return nlohmann::ordered_json{{"flags", std::move(flags)}, {"metrics", std::move(metrics)}}.dump(
      1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace mtc::runtime
