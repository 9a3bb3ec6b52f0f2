//===- Network.h - Time of transfers between ranks --------------------------------------------===//

#ifndef MTC_PASSES_COST_NETWORK_H
#define MTC_PASSES_COST_NETWORK_H

#include "ir/Mtc.h"

#include <optional>
#include <string>

namespace mtc {

/// The connection between ranks.
struct Network {
  double seconds;            ///< latency of a message
  double bytesPerSecond;     ///< bandwidth of a rank
  int64_t messagesAtOnce{1}; ///< messages of a rank whose latencies overlap

  /// Reads a class of networks, such as "10gbe", or a latency, a bandwidth and optionally a number
  /// of messages, such as "30us,1.1GB/s" or "14us,45GB/s,8". Returns nullopt for other texts.
  static std::optional<Network> parse(llvm::StringRef text);
  /// Describes the classes and the syntax of others.
  static std::string describeTexts();
};

/// Returns the time in seconds of a transfer among ranks that a network connects: the latencies of
/// a message to each other rank, as many at a time as the network permits, and the bytes of the
/// rank that sends most. The time is 0 if the text is no network.
double estimateTransfer(CollectiveAttr collective, llvm::StringRef network);

} // namespace mtc

#endif // MTC_PASSES_COST_NETWORK_H
