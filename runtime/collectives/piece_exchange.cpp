// Each message is prepared once, between the same ranks and with the same memory.
#include "runtime/collectives/piece_exchange.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

PieceExchange::PieceExchange(Ranks &ranks) : ranks(ranks), buffer(static_cast<size_t>(chunkBytes)) {
  const Message::Range chunk{buffer.data(), chunkBytes},
      asked{reinterpret_cast<char *>(&request), sizeof request},
      answered{reinterpret_cast<char *>(&lastReply), sizeof lastReply};
  for (int r = 0; r < ranks.count(); ++r) {
    requests.push_back(ranks.prepareFrom(0, asked, [&](int rank) { return rank == r; }));
    replies.push_back(ranks.prepareFrom(r, answered, [](int rank) { return rank == 0; }));
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

void PieceExchange::reply(const PieceReply &reply) {
  lastReply = reply;
  run(*replies[static_cast<size_t>(ranks.rank())], "an answer to rank 0");
}

PieceReply PieceExchange::replyOf(int rank) {
  run(*replies[static_cast<size_t>(rank)], "the piece of a variable that another rank writes");
  return lastReply;
}

void PieceExchange::putText(const std::string &text) {
  const size_t kept = std::min(text.size(), buffer.size() - 1);
  std::memcpy(buffer.data(), text.data(), kept);
  buffer[kept] = 0;
}

std::string PieceExchange::heldText() const {
  return {buffer.data(), strnlen(buffer.data(), buffer.size())};
}

std::string PieceExchange::sendTextToLeader(int from, const std::string &text) {
  if (ranks.rank() == from)
    putText(text);
  sendToLeader(from);
  return heldText();
}

std::string PieceExchange::broadcastText(const std::string &text) {
  if (ranks.isLeader())
    putText(text);
  broadcast(0);
  return heldText();
}

void PieceExchange::sendToLeader(int from) {
  run(*chunks[static_cast<size_t>(from)], "piece of a variable for rank 0");
}

void PieceExchange::broadcast(int from) {
  run(*broadcasts[static_cast<size_t>(from)], "pieces of a variable");
}

} // namespace mtc::runtime
