// Writes the memory report as JSON.
#include "runtime/reports/memory_report.h"

#include "runtime/abi/file_marks.h"
#include "runtime/io/durable_file.h"
#include "runtime/support/process.h"

#include <nlohmann/json.hpp>

namespace mtc::runtime {

void writeMemoryReport(const MtcProgram &program, Device &device, int64_t arenaBytes,
                       const std::string &path) {
  using Json = nlohmann::ordered_json;
  Json plan = Json::parse(program.plan_json, nullptr, false);
  Json planned =
      arenaBytes == program.arena_bytes && plan.is_object() && plan.contains("peak_bytes")
          ? plan["peak_bytes"]
          : Json(arenaBytes);
  Json outside = Json::array();
  for (const MemoryUse &use : device.memoryBesideArena())
    outside.push_back({{"name", use.name}, {"bytes", use.bytes}, {"why", use.why}});
  Json report = {{MTC_WRITER_KEY, MTC_WRITER},
                 {"planned_bytes", planned},
                 {"arena_bytes", arenaBytes},
                 {"process_peak_bytes", processMemory().peak},
                 {"outside_arena", outside}};
  if (plan.is_object())
    report["plan"] = plan;
  DurableFile file(path);
  file.append(report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  file.commit();
}

} // namespace mtc::runtime
