// Starts the messages of a collective and makes its copies.
#include "runtime/collectives/transfer.h"

#include "runtime/support/stages.h"

#include <cstring>
#include <utility>

namespace mtc::runtime {

Transfer::Transfer(const MtcProgram &program, const MtcOperation &operation,
                   const std::vector<char *> &operands, Ranks &ranks)
    : kind(program.collectives[operation.index].kind), ranks(ranks) {
  TransferMessages messages = divideTransfer(program, operation, operands, ranks.rank());
  what = std::move(messages.what);
  copies = std::move(messages.copies);
  zeros = std::move(messages.zeros);
  sentBytes = messages.sentBytes();
  const MtcCollective &collective = program.collectives[operation.index];
  if (collective.ranks < 2 || kind == MTC_OWN_PIECE)
    return;
  // Stages have different functions, in which only the collectives that span stages are the same.
  const bool spansStages = collective.ranks * collective.stride > ranksOfStage(program);
  exchange = ranks.prepare(std::move(messages.sent), std::move(messages.received),
                           spansStages || program.stages < 2 ? PreparedBy::All : PreparedBy::Stage);
}

void Transfer::start() {
  if (exchange)
    exchange->start();
  ranks.countSent(kind, sentBytes);
  for (const TransferMessages::Copy &copy : copies)
    std::memcpy(copy.to, copy.from, static_cast<size_t>(copy.bytes));
  for (const Message::Range &range : zeros)
    std::memset(range.data, 0, static_cast<size_t>(range.bytes));
  isRunning = true;
}

void Transfer::wait() {
  if (isRunning && exchange)
    ranks.wait(*exchange, what);
  isRunning = false;
}

} // namespace mtc::runtime
