// Messages and copies of a collective of a program.
#ifndef MTC_RUNTIME_COLLECTIVES_TRANSFER_MESSAGES_H
#define MTC_RUNTIME_COLLECTIVES_TRANSFER_MESSAGES_H

#include "runtime/abi/program.h"
#include "runtime/collectives/transport.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// The work of one rank in a transfer. Addresses belong to the memory of the operands, which may be
/// that of a device.
struct TransferMessages {
  /// A copy from this rank to itself.
  struct Copy {
    char *from, *to;
    int64_t bytes;
  };

  /// The messages, indexed by rank of the program. Those of this rank, and of ranks outside its
  /// group, are empty.
  std::vector<Message> sent, received;
  std::vector<Copy> copies;
  std::vector<Message::Range> zeros; ///< elements of received rows that do not exist
  std::string what;                  ///< the collective and its nodes

  /// Returns the number of bytes that this rank sends to others.
  int64_t sentBytes() const;
};

/// Divides the values of a transfer into the messages of rank `rank`. `operands` are the addresses
/// of the operation's inputs and outputs.
TransferMessages divideTransfer(const MtcProgram &program, const MtcOperation &operation,
                                const std::vector<char *> &operands, int rank);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_COLLECTIVES_TRANSFER_MESSAGES_H
