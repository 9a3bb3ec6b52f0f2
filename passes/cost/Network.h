//===- Network.h - Time of transfers between ranks --------------------------------------------===//

#ifndef MTC_PASSES_COST_NETWORK_H
#define MTC_PASSES_COST_NETWORK_H

#include "ir/Mtc.h"
#include "passes/OptionTable.h"

namespace mtc {

/// Returns the classes of networks.
std::vector<OptionChoice> networkChoices();

/// Returns the time in seconds of a transfer among ranks that a network of this class connects: a
/// message to each other rank, and the bytes of the rank that sends most.
double estimateTransfer(CollectiveAttr collective, llvm::StringRef network);

} // namespace mtc

#endif // MTC_PASSES_COST_NETWORK_H
