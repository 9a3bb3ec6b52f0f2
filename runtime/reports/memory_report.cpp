// Writes the memory report as JSON.
#include "runtime/reports/memory_report.h"

#include "runtime/abi/file_marks.h"
#include "runtime/io/durable_file.h"
#include "runtime/support/failure.h"
#include "runtime/support/process.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace mtc::runtime {

std::vector<RankMemory> gatherMemory(Ranks &ranks, int64_t arenaBytes) {
  std::vector<RankMemory> all;
  if (ranks.count() == 1)
    return all;
  const std::vector<std::string> texts =
      ranks.gather(text(arenaBytes, ' ', processMemory().peak, ' ', ranks.sentBytes(MTC_ALL_TO_ALL),
                        ' ', ranks.sentBytes(MTC_ALL_GATHER), ' ', ranks.sentToStages()));
  for (size_t r = 0; r < texts.size(); ++r) {
    RankMemory &each = all.emplace_back();
    each.rank = ranks.describe(static_cast<int>(r));
    std::istringstream(texts[r]) >> each.arenaBytes >> each.processPeak >> each.allToAllBytes >>
        each.allGatherBytes >> each.messageBytes;
  }
  return all;
}

void writeMemoryReport(const MtcProgram &program, Device &device, int64_t arenaBytes,
                       const std::vector<RankMemory> &ranks, const std::string &path) {
  using OrderedJson = nlohmann::ordered_json;
  OrderedJson plan = OrderedJson::parse(program.plan_json, nullptr, false);
  OrderedJson planned =
      arenaBytes == program.arena_bytes && plan.is_object() && plan.contains("peak_bytes")
          ? plan["peak_bytes"]
          : OrderedJson(arenaBytes);
  OrderedJson outside = OrderedJson::array();
  for (const MemoryUse &use : device.memoryOutsideArena())
    outside.push_back({{"name", use.name}, {"bytes", use.bytes}, {"why", use.why}});
  OrderedJson report = {{MTC_WRITER_KEY, MTC_WRITER},
                        {"planned_bytes", planned},
                        {"arena_bytes", arenaBytes},
                        {"process_peak_bytes", processMemory().peak},
                        {"outside_arena", outside}};
  for (const RankMemory &each : ranks) {
    OrderedJson sent = {{mtc_collective_name(MTC_ALL_TO_ALL), each.allToAllBytes},
                        {mtc_collective_name(MTC_ALL_GATHER), each.allGatherBytes}};
    if (program.stages > 1)
      sent["messages"] = each.messageBytes;
    report["ranks"].push_back({{"rank", each.rank},
                               {"arena_bytes", each.arenaBytes},
                               {"process_peak_bytes", each.processPeak},
                               {"sent_bytes", sent}});
  }
  if (plan.is_object())
    report["plan"] = plan;
  DurableFile file(path);
  file.append(report.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n");
  file.commit();
}

} // namespace mtc::runtime
