//===- Network.h - Time of transfers between ranks --------------------------------------------===//

#ifndef MTC_PASSES_COST_NETWORK_H
#define MTC_PASSES_COST_NETWORK_H

#include "ir/Mtc.h"

#include <optional>
#include <string>

namespace mtc {

/// A rank's connection to other ranks.
struct Link {
  double seconds;            ///< latency of a message
  double bytesPerSecond;     ///< bandwidth of a rank
  int64_t messagesAtOnce{1}; ///< messages of a rank whose latencies overlap

  /// Returns the time in seconds in which a rank sends a number of messages.
  double estimate(int64_t messages, double bytes) const;
};

/// The connection between ranks.
struct Network {
  Link link; ///< between nodes
  int64_t ranksOfNode{1};
  Link inside{}; ///< within a node, if it has several ranks
  /// Whether transfers progress while ranks compute.
  bool isAsynchronous{true};

  /// Reads a class of networks, such as "10gbe", or a latency, a bandwidth and optionally a number
  /// of messages, such as "30us,1.1GB/s" or "14us,45GB/s,8", and optionally those within nodes,
  /// such as "14us,45GB/s; nodes of 8: 3us,360GB/s". Returns nullopt for other texts.
  static std::optional<Network> parse(llvm::StringRef text);
  /// Describes the classes, and the syntax of other networks.
  static std::string describeTexts();
};

/// Returns the time in seconds of a transfer among ranks that a network connects. A rank sends a
/// message to each other rank. Messages within the node and between nodes are concurrent. The bytes
/// are those of the rank that sends the most. The time is 0 if the text is no network.
double estimateTransfer(CollectiveAttr collective, llvm::StringRef network);

} // namespace mtc

#endif // MTC_PASSES_COST_NETWORK_H
