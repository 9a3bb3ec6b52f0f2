// Pieces of variables that are divided among the ranks, outside of steps: for checkpoints, exports
// and averages.
#ifndef MTC_RUNTIME_COLLECTIVES_PIECE_EXCHANGE_H
#define MTC_RUNTIME_COLLECTIVES_PIECE_EXCHANGE_H

#include "runtime/collectives/ranks.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The requests of rank 0, which alone writes files, to another rank.
struct PieceRequest {
  enum class Kind : int64_t {
    Proceed, ///< continue with the next step
    Wait,    ///< rank 0 is still busy
    Read,    ///< send the chunk of a variable from byte `begin` of the own elements on
    Open,    ///< open the file of rank 0 whose path follows, with the number `file`
    Write,   ///< write the own elements of a variable, from byte `begin` of them on, into the value
             ///< at `file`
    Sync,    ///< make what was written durable
  };
  Kind kind = Kind::Proceed;
  int64_t variable = 0, begin = 0;
  uint64_t file = 0;
  int64_t refusesNonFinite = 0; ///< Write: report elements that are not finite
};

/// The answer to Open, Write and Sync.
struct PieceReply {
  enum class Status : int64_t {
    Done,
    Absent,    ///< Open: this rank does not see the file
    NotFinite, ///< Write: an element is not finite
    Failed,    ///< the chunk that follows has the error
  };
  Status status = Status::Done;
  uint64_t checksum = 0; ///< Write: of the own piece so far
};

/// Moves chunks of variables, requests and replies between ranks. The memory of all of them is one
/// chunk.
class PieceExchange {
public:
  static constexpr int64_t chunkBytes = 1 << 20;

  /// All ranks must call it.
  explicit PieceExchange(Ranks &ranks);

  /// Rank 0: sends a request to a rank.
  void ask(int rank, const PieceRequest &request);
  /// Rank 0: sends a request to all other ranks.
  void askAll(const PieceRequest &request);
  /// Rank 0: tells the other ranks once a second that it is still busy.
  void keepWaiting();
  /// Other ranks: waits for the next request.
  PieceRequest receive();
  /// Other ranks: answers a request.
  void reply(const PieceReply &reply);
  /// Rank 0: returns the answer of a rank.
  PieceReply replyOf(int rank);
  /// Sends a text, shortened to a chunk, from a rank to rank 0, or from rank 0 to all. The ranks
  /// that receive it pass "". Returns the text.
  std::string sendTextToLeader(int from, const std::string &text);
  std::string broadcastText(const std::string &text);

  char *chunk() { return buffer.data(); }
  /// Moves the chunk of a rank to rank 0. Both must call it.
  void sendToLeader(int from);
  /// Moves the chunk of a rank to all other ranks. All ranks must call it.
  void broadcast(int from);

private:
  void run(Exchange &exchange, const char *what);
  void putText(const std::string &text);
  std::string heldText() const;

  Ranks &ranks;
  std::vector<char> buffer;
  PieceRequest request;
  PieceReply lastReply;
  std::vector<std::unique_ptr<Exchange>> requests, replies, chunks, broadcasts; ///< by rank
  std::chrono::steady_clock::time_point lastRequest{};
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_COLLECTIVES_PIECE_EXCHANGE_H
