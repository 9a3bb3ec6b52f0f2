// Divides flat tensors into the messages of each rank.
#include "runtime/collectives/transfer.h"

#include "runtime/support/failure.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {
namespace {

/// A flat tensor that consists of several values.
class FlatTensor {
public:
  FlatTensor(const MtcCollective &collective, char *const *values)
      : collective(collective), values(values) {}

  /// Returns the piece of a rank.
  Message pieceOf(int64_t rank) const {
    const int64_t begin = rank * collective.piece;
    const int64_t end = begin + mtc_owned_elements(collective.piece, collective.total, rank);
    Message message;
    int64_t at = 0;
    for (uint32_t i = 0; i < collective.value_count; ++i) {
      const int64_t size = collective.values[i];
      const int64_t from = std::max(begin, at), to = std::min(end, at + size);
      if (from < to)
        message.ranges.push_back({values[i] + (from - at) * collective.element_bytes,
                                  (to - from) * collective.element_bytes});
      at += size;
    }
    return message;
  }

private:
  const MtcCollective &collective;
  char *const *values;
};

Message at(char *data, int64_t bytes) { return bytes ? Message{{{data, bytes}}} : Message{}; }

} // namespace

Transfer::Transfer(const MtcProgram &program, const MtcOperation &operation,
                   const std::vector<char *> &operands, Ranks &ranks)
    : collective(program.collectives[operation.index]), ranks(ranks),
      what(text(mtc_collective_name(collective.kind), " of ", operation.nodes)) {
  const bool gathers = collective.kind == MTC_ALL_GATHER;
  // The flat tensor follows the piece of an all-gather, and precedes the rows of an all-to-all.
  const FlatTensor flat(collective, operands.data() + (gathers ? 1 : 0));
  char *pieces = gathers ? operands.front() : operands.back();
  const int64_t rank = ranks.rank(), pieceBytes = collective.piece * collective.element_bytes;
  const int64_t ownBytes =
      collective.element_bytes * mtc_owned_elements(collective.piece, collective.total, rank);
  const auto count = static_cast<size_t>(program.ranks);
  std::vector<Message> sent(count), received(count);
  for (size_t r = 0; r < count; ++r) {
    const auto other = static_cast<int64_t>(r);
    sent[r] = gathers ? at(pieces, ownBytes) : flat.pieceOf(other);
    received[r] = gathers ? flat.pieceOf(other) : at(pieces + other * pieceBytes, ownBytes);
    if (!gathers && ownBytes < pieceBytes)
      zeros.push_back({pieces + other * pieceBytes + ownBytes, pieceBytes - ownBytes});
  }
  const Message from = std::move(sent[static_cast<size_t>(rank)]);
  const Message to = std::move(received[static_cast<size_t>(rank)]);
  sent[static_cast<size_t>(rank)] = received[static_cast<size_t>(rank)] = {};
  // One of the two is a single range.
  int64_t done = 0;
  for (const Message::Range &range : gathers ? to.ranges : from.ranges) {
    if (gathers)
      copies.push_back({from.ranges.front().data + done, range.data, range.bytes});
    else
      copies.push_back({range.data, to.ranges.front().data + done, range.bytes});
    done += range.bytes;
  }
  if (count == 1)
    return;
  for (const Message &message : sent)
    sentBytes += message.bytes();
  exchange = ranks.prepare(std::move(sent), std::move(received));
}

void Transfer::start() {
  if (exchange)
    exchange->start();
  ranks.countSent(collective.kind, sentBytes);
  for (const Copy &copy : copies)
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
