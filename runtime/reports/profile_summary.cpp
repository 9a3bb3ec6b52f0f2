// Computes the rows and totals of a summary.
#include "runtime/reports/profile_summary.h"

#include "runtime/calls/contraction/plain.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace mtc::runtime {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Sums over equal operations, or over all operations of a kind.
struct Sum {
  int64_t calls = 0;
  double seconds = 0, bytes = 0, flops = 0;
  double aloneSeconds = 0; ///< time of the contractions when measured in isolation

  void add(const Sum &other) {
    calls += other.calls;
    seconds += other.seconds;
    bytes += other.bytes;
    flops += other.flops;
    aloneSeconds += other.aloneSeconds;
  }
};

struct Group {
  const OperationInfo *operation; ///< the first of the group
  Sum sum;
  std::vector<std::string> nodes; ///< nodes of each call
  std::optional<double> alone;    ///< operations per second in isolation
};

OrderedJson orNull(const std::optional<double> &value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

OrderedJson ratio(double part, const std::optional<double> &whole) {
  return whole && *whole > 0 ? OrderedJson(part / *whole) : OrderedJson();
}

/// Returns `12 x 1024 x 64 x 1024`: the batch if it is greater than 1, m, n, k.
std::string shapeOfContraction(const MtcContraction &contraction) {
  MtcContraction plain = plainContraction(contraction);
  return text(plain.batch[0] > 1 ? text(plain.batch[0], " x ") : "", plain.m, " x ", plain.n, " x ",
              plain.k);
}

/// Returns a contraction that reaches the peak throughput of a library for the type.
MtcContraction largeSquare(uint32_t type) {
  MtcContraction square = {};
  mtc_set_contraction_types(&square, type);
  // In plain loops (f64), the size that reaches a library's peak throughput would take minutes.
  square.m = square.n = square.k = type == MTC_F64 ? 256 : 2048;
  return plainContraction(square);
}

class Summary {
public:
  Summary(const MtcProgram &program, const Profile &profile, Device &device, int threads)
      : program(program), profile(profile), device(device), threads(threads),
        step(profile.fastest()), copy(device.copyThroughput()) {
    group();
    measureContractions();
  }

  OrderedJson json() const {
    OrderedJson throughputs = OrderedJson::object(), rows = OrderedJson::array();
    for (const auto &[type, throughput] : typeThroughputs)
      throughputs[typeName(type)] = orNull(throughput);
    for (const Group &each : groups)
      rows.push_back(row(each));
    return {
        {"steps", profile.steps()},
        {"step_seconds", step.seconds},
        {"mean_step_seconds", profile.meanSeconds()},
        {"threads", threads},
        {"machine",
         {{"copy_bytes_per_second", orNull(copy)}, {"contraction_flops_per_second", throughputs}}},
        {"rows", rows},
        {"totals", totals()}};
  }

private:
  /// Returns null for operations other than contractions.
  const MtcContraction *contractionIn(const OperationInfo &operation) const {
    return operation.source->kind == MTC_CALL
               ? contractionOf(program.calls[operation.source->index])
               : nullptr;
  }

  const char *kindName(const OperationInfo &operation) const {
    switch (operation.source->kind) {
    case MTC_LAUNCH:
      return "kernel";
    case MTC_HOST_LAUNCH:
      return "kernel on the host";
    case MTC_CALL:
      return program.calls[operation.source->index].kind;
    default:
      return "copy";
    }
  }

  /// Combines equal kernels, contractions and copies into one row each, and sorts the rows by time,
  /// slowest first.
  void group() {
    std::map<std::tuple<uint32_t, uint32_t, int64_t>, size_t> rowOf;
    for (const Profile::Times &times : step.operations) {
      if (!times.operation)
        continue;
      const OperationInfo &operation = *times.operation;
      const MtcOperation &source = *operation.source;
      auto [known, isNew] =
          rowOf.try_emplace({source.kind, source.index, source.bytes}, groups.size());
      if (isNew)
        groups.push_back({&operation, {}, {}, {}});
      Group &into = groups[known->second];
      const auto runs = static_cast<double>(times.runs);
      into.sum.add({times.runs, times.seconds, runs * static_cast<double>(operation.bytes),
                    runs * static_cast<double>(operation.flops)});
      into.nodes.emplace_back(source.nodes ? source.nodes : "");
    }
    std::sort(groups.begin(), groups.end(), [](const Group &a, const Group &b) {
      return std::pair(-a.sum.seconds, a.operation->number) <
             std::pair(-b.sum.seconds, b.operation->number);
    });
  }

  /// Returns the throughput of a type in registers, or of a large contraction where that is more:
  /// 16-bit types have instructions for tiles on some processors.
  std::optional<double> typeThroughput(uint32_t type) const {
    const std::optional<double> inRegisters = device.registerThroughput(type);
    if (inRegisters && (type == MTC_F32 || type == MTC_F64))
      return inRegisters;
    return std::max(inRegisters, device.contractionThroughput(largeSquare(type)));
  }

  void measureContractions() {
    for (Group &each : groups) {
      const MtcContraction *contraction = contractionIn(*each.operation);
      if (!contraction)
        continue;
      const uint32_t type = contraction->lhs_type;
      if (!typeThroughputs.count(type))
        typeThroughputs[type] = typeThroughput(type);
      each.alone = device.contractionThroughput(plainContraction(*contraction));
      if (each.alone)
        each.sum.aloneSeconds = each.sum.flops / *each.alone;
    }
  }

  OrderedJson row(const Group &each) const {
    const OperationInfo &operation = *each.operation;
    const Sum &sum = each.sum;
    OrderedJson result = {{"kind", kindName(operation)}, {"name", operation.label}};
    const MtcContraction *contraction = contractionIn(operation);
    if (operation.source->kind == MTC_CALL)
      result["implementation"] = operation.implementation;
    if (contraction)
      result["shape"] = shapeOfContraction(*contraction);
    result["nodes"] = each.nodes;
    result["calls"] = sum.calls;
    result["seconds"] = sum.seconds;
    result["share"] = ratio(sum.seconds, step.seconds);
    result["bytes"] = sum.bytes;
    result["flops"] = sum.flops;
    result["bytes_per_second"] = ratio(sum.bytes, sum.seconds);
    result["flops_per_second"] = ratio(sum.flops, sum.seconds);
    result["share_of_copy"] = copy ? ratio(sum.bytes / *copy, sum.seconds) : OrderedJson();
    if (contraction) {
      auto throughput = typeThroughputs.at(contraction->lhs_type);
      result["share_of_rate"] =
          throughput ? ratio(sum.flops / *throughput, sum.seconds) : OrderedJson();
      result["alone_flops_per_second"] = orNull(each.alone);
      result["share_of_alone"] = each.alone ? ratio(sum.aloneSeconds, sum.seconds) : OrderedJson();
    }
    return result;
  }

  OrderedJson totals() const {
    constexpr double megabyte = 1e6;
    Sum contractions, otherCalls, kernels, large, copies;
    bool allAlone = true;
    for (const Group &each : groups) {
      uint32_t kind = each.operation->source->kind;
      bool isContraction = contractionIn(*each.operation);
      (isContraction                                   ? contractions
       : kind == MTC_CALL                              ? otherCalls
       : kind == MTC_LAUNCH || kind == MTC_HOST_LAUNCH ? kernels
                                                       : copies)
          .add(each.sum);
      if (kind == MTC_LAUNCH && static_cast<double>(each.operation->bytes) > megabyte)
        large.add(each.sum);
      allAlone &= !isContraction || each.alone;
    }
    auto part = [&](double seconds) {
      return OrderedJson{{"seconds", seconds}, {"share", ratio(seconds, step.seconds)}};
    };
    auto moved = [&](const Sum &sum) {
      OrderedJson result = part(sum.seconds);
      result["share_of_copy"] = copy ? ratio(sum.bytes / *copy, sum.seconds) : OrderedJson();
      return result;
    };
    OrderedJson contracted = part(contractions.seconds);
    contracted["flops_per_second"] = ratio(contractions.flops, contractions.seconds);
    contracted["share_of_alone"] =
        allAlone ? ratio(contractions.aloneSeconds, contractions.seconds) : OrderedJson();
    const double others = step.loadSeconds + step.waitSeconds,
                 operations =
                     contractions.seconds + otherCalls.seconds + kernels.seconds + copies.seconds;
    OrderedJson all = {{"contractions", contracted}, {"other_calls", part(otherCalls.seconds)},
                       {"kernels", moved(kernels)},  {"large_kernels", moved(large)},
                       {"copies", moved(copies)},    {"load", part(step.loadSeconds)}};
    if (program.stages > 1)
      all["wait"] = part(step.waitSeconds);
    all["between"] = part(std::max(0.0, step.seconds - others - operations));
    return all;
  }

  const MtcProgram &program;
  const Profile &profile;
  Device &device;
  int threads;
  const Profile::Step &step;
  std::optional<double> copy;
  std::map<uint32_t, std::optional<double>> typeThroughputs;
  std::vector<Group> groups;
};

} // namespace

OrderedJson summarize(const MtcProgram &program, const Profile &profile, Device &device,
                      int threads) {
  return Summary(program, profile, device, threads).json();
}

} // namespace mtc::runtime
