// Pieces of variables that are divided among the ranks, outside of steps: for checkpoints, exports
// and averages.
#ifndef MTC_RUNTIME_COLLECTIVES_PIECE_EXCHANGE_H
#define MTC_RUNTIME_COLLECTIVES_PIECE_EXCHANGE_H

#include "runtime/collectives/ranks.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace mtc::runtime {

/// What rank 0 asks of another rank while it alone writes files.
struct PieceRequest {
  enum class Kind : int64_t {
    Proceed, ///< continue with the next step
    Wait,    ///< rank 0 is still busy
    Read,    ///< send the chunk of a variable from byte `begin` of its value on
  };
  Kind kind = Kind::Proceed;
  int64_t variable = 0, begin = 0;
};

/// Moves chunks of variables and requests between ranks. The memory of all of them is one chunk.
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

  char *chunk() { return buffer.data(); }
  /// Moves the chunk of a rank to rank 0. Both must call it.
  void sendToLeader(int from);
  /// Moves the chunk of a rank to all other ranks. All ranks must call it.
  void broadcast(int from);

private:
  void run(Exchange &exchange, const char *what);

  Ranks &ranks;
  std::vector<char> buffer;
  PieceRequest request;
  std::vector<std::unique_ptr<Exchange>> requests, chunks, broadcasts; ///< by rank
  std::chrono::steady_clock::time_point lastRequest{};
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_COLLECTIVES_PIECE_EXCHANGE_H
