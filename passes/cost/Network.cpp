//===- Network.cpp - Time of transfers between ranks ------------------------------------------===//

#include "passes/cost/Network.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Latency of a message and bandwidth of a rank.
struct Network {
  StringRef name, help;
  double seconds, bytesPerSecond;
};

} // namespace

// Shared memory: Open MPI between two processes of one machine. Ethernet: 90 % of the line rate and
// the latency of TCP. NVLink with InfiniBand: a GPU's share of the network between nodes, as in the
// tuning tables of NCCL.
static constexpr Network networks[] = {
    {"shm", "shared memory of one machine", 2e-6, 2e9},
    {"10gbe", "10 Gbit/s Ethernet", 30e-6, 1.1e9},
    {"100gbe", "100 Gbit/s Ethernet", 15e-6, 11e9},
    {"nvlink-ib", "GPUs with NVLink, and InfiniBand between nodes", 14e-6, 40e9},
};

std::vector<OptionChoice> mtc::networkChoices() {
  std::vector<OptionChoice> choices;
  for (const Network &network : networks)
    choices.push_back({network.name.str(), network.help.str()});
  return choices;
}

double mtc::estimateTransfer(CollectiveAttr collective, StringRef name) {
  const auto *network =
      llvm::find_if(networks, [&](const Network &each) { return each.name == name; });
  if (network == std::end(networks) || collective.getRanks() == 1 ||
      collective.getKind() == CollectiveKind::OwnPiece)
    return 0;
  return static_cast<double>(collective.getRanks() - 1) * network->seconds +
         static_cast<double>(collective.getMaximumSentBytes()) / network->bytesPerSecond;
}
