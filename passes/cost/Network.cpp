//===- Network.cpp - Time of transfers between ranks ------------------------------------------===//

#include "passes/cost/Network.h"

#include "llvm/ADT/STLExtras.h"

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

// Shared memory: Open MPI between two processes of one machine (bench/network.py). Ethernet: 90 %
// of the line rate and the latency of TCP. NVLink with InfiniBand: a GPU's share of the network
// between nodes, as in the tuning tables of NCCL.
static constexpr NetworkClass classes[] = {
    {"shm", "shared memory of one machine", {2e-6, 2e9}},
    {"10gbe", "10 Gbit/s Ethernet", {30e-6, 1.1e9}},
    {"100gbe", "100 Gbit/s Ethernet", {15e-6, 11e9}},
    {"nvlink-ib", "GPUs with NVLink, and InfiniBand between nodes", {14e-6, 40e9}},
};

// A unit that ends like another one comes before it.
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

std::optional<Network> Network::parse(StringRef text) {
  for (const NetworkClass &each : classes)
    if (each.name == text)
      return each.network;
  auto [latency, bandwidth] = text.split(',');
  std::optional<double> seconds = parseQuantity(latency, times),
                        bytesPerSecond = parseQuantity(bandwidth, rates);
  if (!seconds || !bytesPerSecond)
    return std::nullopt;
  return Network{*seconds, *bytesPerSecond};
}

std::string Network::describeTexts() {
  std::string text;
  for (const NetworkClass &each : classes)
    text += (each.name + " (" + each.help + "), ").str();
  return text + "or a latency and a bandwidth, such as 30us,1.1GB/s";
}

double mtc::estimateTransfer(CollectiveAttr collective, StringRef text) {
  const std::optional<Network> network = Network::parse(text);
  if (!network || collective.getRanks() == 1 || collective.getKind() == CollectiveKind::OwnPiece)
    return 0;
  return static_cast<double>(collective.getRanks() - 1) * network->seconds +
         static_cast<double>(collective.getMaximumSentBytes()) / network->bytesPerSecond;
}
