// The report as JSON.
#include "runtime/memory_report.h"

#include "runtime/durable_file.h"
#include "runtime/process_memory.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mtc::runtime {

void writeMemoryReport(const MtcProgram &program, int64_t arenaBytes, const std::string &path) {
  using Json = nlohmann::ordered_json;
  Json plan = Json::parse(program.plan_json, nullptr, false);
  ProcessMemory memory = processMemory();
  Json planned =
      arenaBytes == program.arena_bytes && plan.is_object() && plan.contains("peak_bytes")
          ? plan["peak_bytes"]
          : Json(arenaBytes);
  Json outside = Json::array();
  outside.push_back({{"name", "code and libraries"},
                     {"bytes", memory.fileBacked},
                     {"why", "pages of the program, oneDNN, OpenMP and the C and C++ libraries; "
                             "shared and reclaimable"}});
  outside.push_back(
      {{"name", "heap and stacks"},
       {"bytes", std::max<int64_t>(0, memory.anonymous - arenaBytes)},
       {"why",
        "oneDNN's generated code and packing buffers, stacks of threads, buffers of files"}});
  Json report = {{"planned_bytes", planned},
                 {"arena_bytes", arenaBytes},
                 {"process_peak_bytes", memory.peak},
                 {"outside_arena", outside}};
  if (plan.is_object())
    report["plan"] = plan;
  DurableFile file(path);
  file.append(report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  file.commit();
}

} // namespace mtc::runtime
