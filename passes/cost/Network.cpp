//===- Network.cpp - Time of transfers between ranks ------------------------------------------===//

#include "passes/cost/Network.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;

namespace {

struct NetworkClass {
  StringRef name, help;
  Network network;
};

struct Unit {
  StringRef name;
  double factor;
};

} // namespace

// The figures of shared memory were measured with Open MPI between two processes of one machine
// (bench/network.py), which copies messages only while a rank waits. Those of Ethernet are 90 % of
// the line rate and the latency of TCP. Those of NVLink with InfiniBand are a GPU's share of the
// network between nodes and of NVLink, with the latencies of the protocol Simple from the tuning
// tables of NCCL, which executes point-to-point operations in batches of 8.
static constexpr NetworkClass classes[] = {
    {"shm", "shared memory of one machine", {{2e-6, 2e9}, 1, {}, false}},
    {"10gbe", "10 Gbit/s Ethernet", {{30e-6, 1.1e9}}},
    {"100gbe", "100 Gbit/s Ethernet", {{15e-6, 11e9}}},
    {"nvlink-ib",
     "nodes of 8 GPUs with NVLink, and InfiniBand between nodes",
     {{14e-6, 40e9, 8}, 8, {3.4e-6, 320e9, 8}}},
};

// A unit whose name ends with the name of another unit precedes that unit.
static constexpr Unit times[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
static constexpr Unit rates[] = {{"kB/s", 1e3},  {"MB/s", 1e6},       {"GB/s", 1e9},
                                 {"TB/s", 1e12}, {"Mbit/s", 1e6 / 8}, {"Gbit/s", 1e9 / 8},
                                 {"B/s", 1}};

/// Reads a positive number with one of the units.
static std::optional<double> parseQuantity(StringRef text, ArrayRef<Unit> units) {
  text = text.trim();
  for (const Unit &unit : units) {
    double number = 0;
    if (StringRef digits = text; digits.consume_back(unit.name)) {
      if (digits.trim().getAsDouble(number) || !(number > 0) || number > 1e18)
        return std::nullopt;
      return number * unit.factor;
    }
  }
  return std::nullopt;
}

/// Reads a latency, a bandwidth and optionally a number of messages.
static std::optional<Link> parseLink(StringRef text) {
  SmallVector<StringRef, 3> parts;
  text.split(parts, ',');
  if (parts.size() != 2 && parts.size() != 3)
    return std::nullopt;
  const std::optional<double> seconds = parseQuantity(parts[0], times),
                              bytesPerSecond = parseQuantity(parts[1], rates);
  int64_t messages = 1;
  if (parts.size() == 3 && (parts[2].trim().getAsInteger(10, messages) || messages < 1))
    return std::nullopt;
  if (!seconds || !bytesPerSecond)
    return std::nullopt;
  return Link{*seconds, *bytesPerSecond, messages};
}

std::optional<Network> Network::parse(StringRef text) {
  for (const NetworkClass &each : classes)
    if (each.name == text)
      return each.network;
  auto [between, nodes] = text.split(';');
  const std::optional<Link> link = parseLink(between);
  if (!link)
    return std::nullopt;
  Network network{*link};
  if (between.size() == text.size())
    return network;
  nodes = nodes.trim();
  auto [count, within] = nodes.split(':');
  const std::optional<Link> inside = parseLink(within);
  if (!inside || !count.consume_front("nodes of ") ||
      count.trim().getAsInteger(10, network.ranksOfNode) || network.ranksOfNode < 2)
    return std::nullopt;
  network.inside = *inside;
  return network;
}

std::string Network::describeTexts() {
  std::string text;
  for (const NetworkClass &each : classes)
    text += (each.name + " (" + each.help + "), ").str();
  return text +
         "or a latency, a bandwidth and optionally the messages of a rank at a time, such as "
         "30us,1.1GB/s or 14us,45GB/s,8, and optionally those within nodes, such as "
         "14us,45GB/s,8; nodes of 8: 3us,360GB/s,8";
}

double Link::estimate(int64_t messages, double bytes) const {
  return static_cast<double>(llvm::divideCeil(messages, messagesAtOnce)) * seconds +
         bytes / bytesPerSecond;
}

double mtc::estimateTransfer(CollectiveAttr collective, StringRef text) {
  const std::optional<Network> network = Network::parse(text);
  const int64_t others = collective.getRanks() - 1;
  if (!network || others == 0 || collective.getKind() == CollectiveKind::OwnPiece)
    return 0;
  const int64_t ofNode = std::max<int64_t>(1, network->ranksOfNode / collective.getStride());
  const int64_t inside = std::min(others, ofNode - 1);
  auto estimate = [&](const Link &link, int64_t messages) {
    const double share = static_cast<double>(messages) / static_cast<double>(others);
    return link.estimate(messages, share * static_cast<double>(collective.getMaximumSentBytes()));
  };
  double seconds = inside ? estimate(network->inside, inside) : 0;
  if (others > inside)
    seconds = std::max(seconds, estimate(network->link, others - inside));
  return seconds;
}
