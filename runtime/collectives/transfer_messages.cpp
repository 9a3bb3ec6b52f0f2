// Divides values into the messages of each rank.
#include "runtime/collectives/transfer_messages.h"

#include "runtime/abi/collective.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <utility>

namespace mtc::runtime {
namespace {

/// A value of a collective and its piece.
struct DividedValue {
  char *whole, *piece;
  int64_t pieceElements, total, elementBytes;
  int64_t rowBytes; ///< between the pieces of successive ranks of the group

  int64_t ownedBytes(int64_t number) const {
    return elementBytes * mtc_owned_elements(pieceElements, total, number);
  }
  int64_t pieceBytes() const { return pieceElements * elementBytes; }
  /// Returns the elements of the value that the rank with this number in its group owns.
  Message::Range ownedBy(int64_t number) const {
    return {whole + number * pieceBytes(), ownedBytes(number)};
  }
  /// Returns the piece in row `row`, as far as number `owner` owns elements.
  Message::Range pieceOf(int64_t row, int64_t owner) const {
    return {piece + row * rowBytes, ownedBytes(owner)};
  }
};

void add(Message &message, const Message::Range &range) {
  if (range.bytes)
    message.ranges.push_back(range);
}

} // namespace

int64_t TransferMessages::sentBytes() const {
  int64_t sum = 0;
  for (const Message &message : sent)
    sum += message.bytes();
  return sum;
}

TransferMessages divideTransfer(const MtcProgram &program, const MtcOperation &operation,
                                const std::vector<char *> &operands, int rankOfProcess) {
  const MtcCollective &collective = program.collectives[operation.index];
  const auto ranks = static_cast<size_t>(std::max<int64_t>(1, program.ranks)),
             own = static_cast<size_t>(rankOfProcess);
  const int64_t ownNumber = mtc_number_in_group(rankOfProcess, collective.ranks, collective.stride);
  const bool gathers = collective.kind == MTC_ALL_GATHER, sends = collective.kind != MTC_OWN_PIECE;
  TransferMessages result;
  result.what = text(mtc_collective_name(collective.kind), " of ", operation.nodes);
  int64_t rowBytes = 0, column = 0;
  for (uint32_t i = 0; i < collective.count; ++i)
    rowBytes += collective.pieces[i] * collective.element_bytes;
  std::vector<Message> sent(ranks), received(ranks);
  for (uint32_t i = 0; i < collective.count; ++i) {
    DividedValue value{operands[gathers ? collective.count + i : i],
                       operands[gathers ? i : collective.count],
                       collective.pieces[i],
                       collective.totals[i],
                       collective.element_bytes,
                       rowBytes};
    if (collective.kind == MTC_ALL_TO_ALL)
      value.piece += std::exchange(column, column + value.pieceBytes());
    else if (collective.kind == MTC_OWN_PIECE)
      value.piece = operands[collective.count + i];
    for (int64_t other = 0; other < collective.ranks; ++other) {
      const auto r = static_cast<size_t>(
          mtc_rank_of_group(rankOfProcess, collective.ranks, collective.stride, other));
      if (gathers) {
        add(sent[r], value.pieceOf(0, ownNumber));
        add(received[r], value.ownedBy(other));
        continue;
      }
      if (r != own && !sends)
        continue;
      add(sent[r], value.ownedBy(other));
      const Message::Range piece = value.pieceOf(sends ? other : 0, ownNumber);
      add(received[r], piece);
      if (piece.bytes < value.pieceBytes())
        result.zeros.push_back({piece.data + piece.bytes, value.pieceBytes() - piece.bytes});
    }
  }
  // The data that a rank sends to itself is divided like the data that it receives from itself.
  for (size_t i = 0; i < sent[own].ranges.size(); ++i)
    result.copies.push_back(
        {sent[own].ranges[i].data, received[own].ranges[i].data, sent[own].ranges[i].bytes});
  sent[own] = received[own] = {};
  result.sent = std::move(sent);
  result.received = std::move(received);
  return result;
}

} // namespace mtc::runtime
