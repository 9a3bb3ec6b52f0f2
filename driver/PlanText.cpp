//===- PlanText.cpp - Memory plan as text and JSON --------------------------------------------===//

#include "driver/PlanText.h"
#include "driver/Report.h"

#include "ir/NodeNames.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

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
      {"floor_bytes", plan.floor},
      {"live_bytes", plan.live},
      {"categories", llvm::json::Object{{"parameters", categories.parameters},
                                        {"gradients", categories.gradients},
                                        {"optimizer", categories.optimizer},
                                        {"activations", categories.activations},
                                        {"activation_gradients", categories.activationGradients},
                                        {"workspace", categories.workspace},
                                        {"data", categories.data}}},
      {"peak_at", peakNodes(plan)},
      {"fits", !budget || plan.counted <= *budget}};
  if (budget)
    object["budget_bytes"] = *budget;
  if (!plan.otherSpaces.empty()) {
    llvm::json::Object spaces{{stringifyEnum(MemorySpace::Device), plan.peak}};
    for (auto [space, bytes] : plan.otherSpaces)
      spaces[stringifyEnum(space)] = bytes;
    object["spaces"] = std::move(spaces);
  }
  if (plan.separateRun)
    object["separate_run_bytes"] = plan.separateRun;
  if (plan.outputsRun)
    object["outputs_run_bytes"] = plan.outputsRun;
  return object;
}

/// "11.52 MiB".
static std::string roundBytes(int64_t bytes) {
  static constexpr const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  unsigned unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  if (unit == 0)
    return llvm::formatv("{0} bytes", bytes);
  return llvm::formatv("{0:f2} {1}", value, units[unit]);
}

std::string mtc::tool::formatBytes(int64_t bytes) {
  std::string rounded = roundBytes(bytes);
  return bytes < 1024 ? rounded : llvm::formatv("{0} ({1} bytes)", rounded, bytes).str();
}

static StringRef nameOf(MemorySpace space) {
  switch (space) {
  case MemorySpace::Device:
    return "Device memory";
  case MemorySpace::Host:
    return "Host memory";
  case MemorySpace::PinnedHost:
    return "Pinned memory";
  case MemorySpace::Disk:
    return "Disk";
  }
  llvm_unreachable("all memory spaces are handled");
}

void mtc::tool::print(const MemoryPlan &plan, bool isVerbose, llvm::raw_ostream &stream) {
  const MemoryPlan::Categories &categories = plan.categories;
  auto row = [&](StringRef name, int64_t bytes) {
    if (bytes || isVerbose)
      stream << llvm::formatv("  {0,-16} {1,12}  {2,5:f1} %\n", name, roundBytes(bytes),
                              plan.peak ? 100.0 * bytes / plan.peak : 0.0);
  };
  stream << "Peak memory   " << formatBytes(plan.peak) << "\n";
  row("parameters", categories.parameters);
  row("gradients", categories.gradients);
  row("optimizer state", categories.optimizer);
  row("activations", categories.activations);
  row("their gradients", categories.activationGradients);
  row("workspace", categories.workspace);
  row("data", categories.data);
  for (auto [space, bytes] : plan.otherSpaces)
    stream << llvm::formatv("{0,-13} {1}\n", nameOf(space), formatBytes(bytes));
  if (plan.outputsRun)
    stream << "Predictions   " << formatBytes(plan.outputsRun) << " with --outputs\n";
  if (!isVerbose)
    return;
  stream << "Live values   " << formatBytes(plan.live)
         << " at the peak: a lower bound of every allocation in this order\n"
         << "Lower bound   " << formatBytes(plan.floor)
         << " for every order and recomputation of these operations\n";
  if (plan.separateRun)
    stream << "Other runs    " << formatBytes(plan.separateRun)
           << " with --gradients, which keep every result\n";
  if (std::string nodes = peakNodes(plan); !nodes.empty())
    stream << "Peak at       " << nodes << "\n";
}

llvm::json::Array mtc::tool::aliveAtPeak(const MemoryTimeline &timeline) {
  llvm::json::Array array;
  for (const MemoryTimeline::Lifetime *each : timeline.getAliveAtPeak()) {
    llvm::json::Object object{{"node", each->name},
                              {"bytes", each->bytes},
                              {"offset", each->offset},
                              {"type", each->type},
                              {"category", MemoryTimeline::nameOf(each->category)},
                              {"why", each->reason},
                              {"from_operation", each->first},
                              {"to_operation", each->last}};
    if (!each->user.empty())
      object["last_read_by"] = each->user;
    array.push_back(std::move(object));
  }
  return array;
}

/// Shortens a text to at most `columns` by eliding its middle.
static std::string shorten(StringRef text, size_t columns) {
  if (text.size() <= columns)
    return text.str();
  const size_t half = (columns - 3) / 2;
  return (text.take_front(columns - 3 - half) + "..." + text.take_back(half)).str();
}

std::string mtc::tool::withoutNumbers(StringRef text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i)
    if (!llvm::isDigit(text[i]))
      result += text[i];
    else if (i == 0 || !llvm::isDigit(text[i - 1]))
      result += '*';
  return result;
}

namespace {

/// Corresponding values of different layers.
struct AliveRow {
  std::string name, reason;
  int64_t bytes = 0; ///< sum over all values
  int64_t count = 0;
};

} // namespace

static std::vector<AliveRow> groupAlive(llvm::ArrayRef<const MemoryTimeline::Lifetime *> alive) {
  std::map<std::tuple<int64_t, std::string, std::string>, AliveRow> rows;
  for (const MemoryTimeline::Lifetime *each : alive) {
    std::string name = withoutNumbers(each->name), reason = withoutNumbers(each->reason);
    AliveRow &row = rows[{each->bytes, name, reason}];
    row = row.count ? AliveRow{std::move(name), std::move(reason), row.bytes, row.count}
                    : AliveRow{each->name.str(), each->reason.str()};
    row.bytes += each->bytes;
    ++row.count;
  }
  std::vector<AliveRow> sorted;
  sorted.reserve(rows.size());
  for (auto &[key, row] : rows)
    sorted.push_back(std::move(row));
  llvm::sort(sorted, [](const AliveRow &a, const AliveRow &b) {
    return std::tie(b.bytes, a.name, a.reason) < std::tie(a.bytes, b.name, b.reason);
  });
  return sorted;
}

void mtc::tool::print(const MemoryTimeline &timeline, bool isVerbose, llvm::raw_ostream &stream) {
  constexpr size_t nameColumns = 44, reasonColumns = 60;
  const size_t maximum = isVerbose ? 64 : 12;
  std::vector<const MemoryTimeline::Lifetime *> alive = timeline.getAliveAtPeak();
  if (alive.empty())
    return;
  std::vector<AliveRow> rows = groupAlive(alive);
  stream << llvm::formatv("\nLargest of the {0} tensors that are live at the peak\n", alive.size());
  int64_t others = 0, bytes = 0;
  for (auto [i, row] : llvm::enumerate(rows)) {
    if (i < maximum) {
      stream << llvm::formatv("  {0,12} {1,6}  {2,-44}  {3}\n", roundBytes(row.bytes),
                              row.count > 1 ? llvm::formatv("{0} x", row.count).str() : "",
                              shorten(row.name, nameColumns), shorten(row.reason, reasonColumns));
    } else {
      others += row.count;
      bytes += row.bytes;
    }
  }
  if (others)
    stream << llvm::formatv("  {0,12} {1,6}  others: see {2}--json or --html\n", roundBytes(bytes),
                            llvm::formatv("{0} x", others).str(), isVerbose ? "" : "--verbose, ");
}

void mtc::tool::addJson(StepCost &cost, const TransferCost &transfers, llvm::json::Object &object) {
  TimedCost step = cost.ofStep();
  object["step_seconds"] = step.seconds() + transfers.exposed;
  if (transfers.bytes)
    object["transfers"] = llvm::json::Object{{"bytes", transfers.bytes},
                                             {"seconds", transfers.seconds},
                                             {"exposed_seconds", transfers.exposed}};
  object["exposed_seconds"] = transfers.exposed;
  llvm::json::Object exposed;
  for (auto [group, seconds] : transfers.exposedOfGroups)
    exposed[group] = seconds;
  if (!exposed.empty())
    object["exposed_seconds_of_groups"] = std::move(exposed);
  if (transfers.onHost > 0)
    object["host_seconds"] = transfers.onHost;
  object["flops"] = step.flops;
  object["bytes_moved"] = step.bytes;
  object["cost_model"] = cost.describeRates();
  llvm::json::Object kinds;
  for (const auto &[kind, sum] : cost.ofStepByKind())
    kinds[kind] = llvm::json::Object{
        {"seconds", sum.seconds()}, {"flops", sum.flops}, {"bytes_moved", sum.bytes}};
  object["step_kinds"] = std::move(kinds);
}

std::string mtc::tool::formatSeconds(double seconds) {
  auto [value, unit] = seconds >= 1      ? std::pair(seconds, "s")
                       : seconds >= 1e-3 ? std::pair(1e3 * seconds, "ms")
                                         : std::pair(1e6 * seconds, "us");
  int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f %s", digits, value, unit);
  return text;
}

void mtc::tool::print(StepCost &cost, const TransferCost &transfers, llvm::raw_ostream &stream) {
  stream << "Step time     about " << formatSeconds(cost.ofStep().seconds() + transfers.exposed)
         << " (";
  llvm::ListSeparator separator;
  for (const auto &[kind, sum] : cost.ofStepByKind())
    if (sum.seconds() > 0)
      stream << separator << kind << " " << formatSeconds(sum.seconds());
  stream << "), " << cost.describeRates() << "\n";
  if (transfers.bytes)
    stream << "Transfers     " << formatBytes(transfers.bytes) << " in about "
           << formatSeconds(transfers.seconds) << ", of which " << formatSeconds(transfers.exposed)
           << " are not overlapped\n";
  if (transfers.onHost > 0)
    stream << "CPU           updates in about " << formatSeconds(transfers.onHost)
           << " while the GPU computes: " << cost.describeHostRates() << "\n";
}

/// Returns the traffic by kind.
static llvm::json::Object describeTraffic(ArrayRef<RankTraffic> all) {
  llvm::json::Object traffic;
  for (const RankTraffic &each : all)
    traffic[stringifyEnum(each.kind)] =
        llvm::json::Object{{"transfers", each.transfers},
                           {"sent_bytes", llvm::json::Array(each.sentBytes)},
                           {"seconds", each.seconds}};
  return traffic;
}

void mtc::tool::addRanks(ModuleOp placed, llvm::json::Object &object) {
  ProgramOp program = ProgramOp::find(placed);
  if (!program.getRanks())
    return;
  SmallVector<RankTraffic> sums; // by kind
  llvm::MapVector<StringRef, SmallVector<RankTraffic>> byGroup;
  for (const RankTraffic &each : findTraffic(placed)) {
    byGroup[each.group].push_back(each);
    auto *sum =
        llvm::find_if(sums, [&](const RankTraffic &other) { return other.kind == each.kind; });
    if (sum == sums.end()) {
      sums.push_back(each);
      continue;
    }
    sum->transfers += each.transfers;
    sum->seconds += each.seconds;
    for (auto [bytes, more] : llvm::zip_equal(sum->sentBytes, each.sentBytes))
      bytes += more;
  }
  llvm::json::Object groups;
  for (auto &[name, traffic] : byGroup)
    groups[name] = describeTraffic(traffic);
  object["ranks"] = llvm::json::Object{{"count", program.getRankCount()},
                                       {"tensor", program.getTensorGroup().count},
                                       {"context", program.getContextGroup().count},
                                       {"micro_steps", program.getMicroStepsOfRank()},
                                       {"shard", stringifyShard(program.getShard())},
                                       {"network", program.getRanksAttr().getNetwork()},
                                       {"traffic", describeTraffic(sums)},
                                       {"groups", std::move(groups)}};
}

void mtc::tool::printRanks(ModuleOp placed, const TransferCost &transfers,
                           llvm::raw_ostream &stream) {
  ProgramOp program = ProgramOp::find(placed);
  if (!program.getRanks())
    return;
  const int64_t layers = program.getTensorGroup().count,
                sequences = program.getContextGroup().count;
  stream << "Ranks         " << program.getRankCount();
  if (layers > 1)
    stream << ", of which each " << layers << " share the layers";
  if (sequences > 1)
    stream << (layers > 1 ? " and " : ", of which each ") << sequences
           << (layers > 1 ? " of these groups" : "") << " share the sequences";
  stream << ", each with this memory and " << program.getMicroStepsOfRank()
         << " micro-steps of a step\n";
  if (program.getShard() != Shard::None)
    stream << "  divided among them: " << stringifyShard(program.getShard()) << '\n';
  for (const RankTraffic &each : findTraffic(placed))
    stream << llvm::formatv(
        "  {0,-12}  a rank sends {1}{2} in {3} transfers, about {4} by {5}\n",
        stringifyEnum(each.kind), formatBytes(*llvm::max_element(each.sentBytes)),
        program.getSharingRanks() > 1 ? " to its " + each.group.str() + " group" : "",
        each.transfers, formatSeconds(each.seconds), program.getRanksAttr().getNetwork());
  stream << "  " << formatSeconds(transfers.exposed) << " of the step "
         << (transfers.bytes ? "are for these and the transfers above" : "are for these");
  if (transfers.exposedOfGroups.size() > 1) {
    stream << " (";
    llvm::ListSeparator separator;
    for (auto [name, seconds] : transfers.exposedOfGroups)
      stream << separator << name << " groups " << formatSeconds(seconds);
    stream << ')';
  }
  stream << ", the rest overlaps with computation\n";
}
