// Compares the traffic of a step with the plan in the program.
#include "runtime/loop/disk_rate.h"

#include "runtime/support/failure.h"
#include "support/terminal/progress_bar.h"

#include <nlohmann/json.hpp>

namespace mtc::runtime {

static std::string rateText(double bytes, double seconds) {
  return terminal::bytesText(bytes / seconds) + "/s";
}

std::string describeSlowDisk(const MtcProgram &program, const DiskTraffic &traffic) {
  constexpr double muchLonger = 1.5, noticeableSeconds = 0.1;
  const nlohmann::json plan = nlohmann::json::parse(program.plan_json, nullptr, false);
  if (!plan.is_object() || !plan.contains("transfers") || !plan["transfers"].is_object())
    return "";
  const auto bytes = static_cast<double>(traffic.bytes),
             planned = plan["transfers"].value("seconds", 0.0),
             plannedBytes = plan["transfers"].value("bytes", 0.0);
  if (planned <= 0 || plannedBytes <= 0 ||
      traffic.seconds < muchLonger * planned + noticeableSeconds)
    return "";
  return text("the disk of --offload-dir copies ", rateText(bytes, traffic.seconds),
              " in each direction, and the plan assumes ", rateText(plannedBytes, planned),
              "; a step copies ", terminal::bytesText(bytes),
              ". Choose a folder on a faster disk, or several");
}

} // namespace mtc::runtime
