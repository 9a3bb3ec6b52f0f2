// Each message is prepared once and has the size of the chunk, also for the end of a value.
#include "runtime/collectives/to_leader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mtc::runtime {

ToLeader::ToLeader(Ranks &ranks, int64_t largest, std::string what)
    : ranks(ranks), what(std::move(what)), exchanges(static_cast<size_t>(ranks.count())) {
  if (ranks.count() == 1)
    return;
  chunk.resize(static_cast<size_t>(std::min(largest, maxChunkBytes)));
  for (int r = 1; r < ranks.count(); ++r)
    exchanges[static_cast<size_t>(r)] = ranks.prepareFrom(
        r, {chunk.data(), static_cast<int64_t>(chunk.size())}, [](int rank) { return rank == 0; });
}

void ToLeader::move(int from, int64_t bytes, const Read &read, const Use &use) {
  const bool sends = ranks.rank() == from, receives = ranks.isLeader();
  if (sends && receives && bytes)
    read(0, bytes, use);
  if (sends == receives)
    return;
  Exchange &exchange = *exchanges[static_cast<size_t>(from)];
  const auto size = static_cast<int64_t>(chunk.size());
  for (int64_t begin = 0; begin < bytes; begin += size) {
    const int64_t count = std::min(size, bytes - begin);
    if (sends)
      read(begin, count, [&](const char *source, int64_t at, int64_t part) {
        std::memcpy(chunk.data() + at, source, static_cast<size_t>(part));
      });
    exchange.start();
    ranks.wait(exchange, what);
    if (receives)
      use(chunk.data(), begin, count);
  }
}

} // namespace mtc::runtime
