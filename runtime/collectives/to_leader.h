// Values that each rank sends to rank 0 outside of steps: results of batches.
#ifndef MTC_RUNTIME_COLLECTIVES_TO_LEADER_H
#define MTC_RUNTIME_COLLECTIVES_TO_LEADER_H

#include "runtime/collectives/ranks.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Moves values from one rank at a time to rank 0, in chunks. The memory of all of them is one
/// chunk. The caller determines the order of ranks.
class ToLeader {
public:
  static constexpr int64_t maxChunkBytes = 1 << 20;

  /// Uses bytes [at, at + bytes) of a range.
  using Use = std::function<void(const char *from, int64_t at, int64_t bytes)>;
  /// Passes bytes [begin, begin + bytes) of a value to `use`, whose `at` is relative to `begin`.
  using Read = std::function<void(int64_t begin, int64_t bytes, const Use &use)>;

  /// `largest` is the size in bytes of the largest value, and `what` describes the values in
  /// messages. All ranks must call it.
  ToLeader(Ranks &ranks, int64_t largest, std::string what);

  /// Rank `from` reads a value of `bytes` bytes, and rank 0 uses it, in consecutive ranges. A value
  /// of rank 0 itself is not copied. Both ranks must call it; calls of other ranks do nothing.
  void move(int from, int64_t bytes, const Read &read, const Use &use);

private:
  Ranks &ranks;
  std::string what;
  std::vector<char> chunk;
  std::vector<std::unique_ptr<Exchange>> exchanges; ///< by sender; null for rank 0
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_COLLECTIVES_TO_LEADER_H
