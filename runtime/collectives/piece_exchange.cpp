// Each message is prepared once, between the same ranks and with the same memory.
#include "runtime/collectives/piece_exchange.h"

namespace mtc::runtime {

PieceExchange::PieceExchange(Ranks &ranks) : ranks(ranks), buffer(static_cast<size_t>(chunkBytes)) {
  const Message::Range chunk{buffer.data(), chunkBytes},
      asked{reinterpret_cast<char *>(&request), sizeof request};
  for (int r = 0; r < ranks.count(); ++r) {
    requests.push_back(ranks.prepareFrom(0, asked, [&](int rank) { return rank == r; }));
    chunks.push_back(ranks.prepareFrom(r, chunk, [](int rank) { return rank == 0; }));
    broadcasts.push_back(ranks.prepareFrom(r, chunk, [](int) { return true; }));
  }
}

void PieceExchange::run(Exchange &exchange, const char *what) {
  exchange.start();
  ranks.wait(exchange, what);
}

void PieceExchange::ask(int rank, const PieceRequest &asked) {
  request = asked;
  run(*requests[static_cast<size_t>(rank)], "request of rank 0");
}

void PieceExchange::askAll(const PieceRequest &asked) {
  lastRequest = std::chrono::steady_clock::now();
  for (int r = 1; r < ranks.count(); ++r)
    ask(r, asked);
}

void PieceExchange::keepWaiting() {
  if (std::chrono::steady_clock::now() - lastRequest > std::chrono::seconds(1))
    askAll({PieceRequest::Kind::Wait});
}

PieceRequest PieceExchange::receive() {
  run(*requests[static_cast<size_t>(ranks.rank())], "the next step or request of rank 0");
  return request;
}

void PieceExchange::sendToLeader(int from) {
  run(*chunks[static_cast<size_t>(from)], "piece of a variable for rank 0");
}

void PieceExchange::broadcast(int from) {
  run(*broadcasts[static_cast<size_t>(from)], "pieces of a variable");
}

} // namespace mtc::runtime
