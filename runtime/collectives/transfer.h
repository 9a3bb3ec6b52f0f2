// A collective of a program over its arena.
#ifndef MTC_RUNTIME_COLLECTIVES_TRANSFER_H
#define MTC_RUNTIME_COLLECTIVES_TRANSFER_H

#include "runtime/abi/program.h"
#include "runtime/collectives/ranks.h"
#include "runtime/collectives/transfer_messages.h"

namespace mtc::runtime {

/// A transfer of a program with its prepared messages. Runs allocate no memory of their own.
class Transfer {
public:
  /// `operands` are the addresses of the operation's inputs and outputs.
  Transfer(const MtcProgram &program, const MtcOperation &operation,
           const std::vector<char *> &operands, Ranks &ranks);

  void start();
  /// Advances the transfer without waiting.
  void progress() {
    if (isRunning && exchange)
      exchange->poll();
  }
  /// Waits for the end of the transfer, if it was started.
  void wait();

private:
  uint32_t kind; ///< MtcCollectiveKind
  Ranks &ranks;
  std::string what;
  std::vector<TransferMessages::Copy> copies;
  std::vector<Message::Range> zeros;
  std::unique_ptr<Exchange> exchange; ///< null if there are no other ranks
  int64_t sentBytes = 0;
  bool isRunning = false;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_COLLECTIVES_TRANSFER_H
