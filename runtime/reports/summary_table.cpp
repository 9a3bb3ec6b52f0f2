// Formats the summary of a profile as a text table.
#include "runtime/reports/profile_summary.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

namespace mtc::runtime {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Formats a number times `scale`, right-aligned to `width`; `-` if it is missing.
std::string cell(const OrderedJson &object, const char *key, double scale, int width, int digits) {
  auto found = object.find(key);
  char buffer[64];
  if (found == object.end() || !found->is_number())
    std::snprintf(buffer, sizeof buffer, " %*s", width, "-");
  else
    std::snprintf(buffer, sizeof buffer, " %*.*f", width, digits, found->get<double>() * scale);
  return buffer;
}

std::string percent(const OrderedJson &object, const char *key) {
  return cell(object, key, 100, 5, 1);
}

/// Returns the nodes of the first call, truncated to `maxBytes`, and the number of other node
/// names.
std::string shortened(const OrderedJson &nodes, size_t maxBytes) {
  std::set<std::string> different;
  for (const OrderedJson &each : nodes)
    different.insert(each.get<std::string>());
  std::string result = nodes.empty() ? "" : nodes[0].get<std::string>();
  if (result.size() > maxBytes) {
    while (maxBytes > 0 && (static_cast<unsigned char>(result[maxBytes]) & 0xc0) == 0x80)
      --maxBytes; // Do not split a UTF-8 character.
    result.resize(maxBytes);
    result += "...";
  }
  if (different.size() > 1)
    result += text(" (and ", different.size() - 1, " like it)");
  return result;
}

std::string line(const OrderedJson &row) {
  double calls = row["calls"].get<double>();
  std::string what = row.contains("shape") ? text(row["implementation"].get<std::string>(), " ",
                                                  row["shape"].get<std::string>())
                                           : row["name"].get<std::string>();
  return text(cell(row, "seconds", 1e3, 9, 3), percent(row, "share"), cell(row, "calls", 1, 5, 0),
              cell(row, "bytes", 1e-6 / calls, 9, 3), cell(row, "bytes_per_second", 1e-9, 7, 1),
              percent(row, "share_of_copy"), cell(row, "flops_per_second", 1e-9, 8, 1),
              percent(row, "share_of_rate"), percent(row, "share_of_alone"), "  ", what, "  ",
              shortened(row["nodes"], 64), "\n");
}

std::string total(const char *name, const OrderedJson &part, const char *key, const char *of) {
  std::string result = text(cell(part, "seconds", 1e3, 9, 3), percent(part, "share"), "%  ", name);
  if (key && part[key].is_number())
    result += text(",", percent(part, key), "% of ", of);
  return result + "\n";
}

} // namespace

std::string summaryTable(const OrderedJson &summary) {
  const OrderedJson &machine = summary["machine"], &totals = summary["totals"];
  std::string throughputs;
  for (const auto &[type, throughput] : machine["contraction_flops_per_second"].items())
    if (throughput.is_number())
      throughputs += text(",", cell({{"throughput", throughput}}, "throughput", 1e-9, 1, 0),
                          " GFLOP/s of ", type, " multiplication");
  std::string result =
      text("Fastest of ", summary["steps"].get<int64_t>(),
           " steps:", cell(summary, "step_seconds", 1e3, 1, 3), " ms (mean",
           cell(summary, "mean_step_seconds", 1e3, 1, 3), "), ", summary["threads"].get<int>(),
           " threads. This machine:", cell(machine, "copy_bytes_per_second", 1e-9, 1, 1),
           " GB/s of copying", throughputs, ".\n");
  result += "   ms/step     % calls   MB/call    GB/s %copy  GFLOP/s %rate %alone  what, nodes\n";
  for (const OrderedJson &row : summary["rows"])
    result += line(row);
  const std::string waits = totals.contains("wait") ? total("waiting for other pipeline stages",
                                                            totals["wait"], nullptr, nullptr)
                                                    : "";
  return result + "in all\n" +
         total("contractions", totals["contractions"], "share_of_alone",
               "the fastest algorithm on the same shapes, alone") +
         total("other library calls", totals["other_calls"], nullptr, nullptr) +
         total("kernels", totals["kernels"], "share_of_copy", "the bandwidth of copying") +
         total("  those that move over 1 MB", totals["large_kernels"], "share_of_copy",
               "the bandwidth of copying") +
         total("copies", totals["copies"], "share_of_copy", "the bandwidth of copying") +
         total("reading data", totals["load"], nullptr, nullptr) + waits +
         total("between kernels", totals["between"], nullptr, nullptr) +
         "%copy: of the bandwidth of copying, above 100 where operands lie in caches or are "
         "updated "
         "in place;\n%rate: of the machine's rate of multiplications and additions in registers; "
         "%alone: of the fastest algorithm to\ncompute the same shape, plain tensors and nothing "
         "else "
         "running.\n";
}

} // namespace mtc::runtime
