//===- ArenaLayout.cpp - Offsets of temporary buffers in an arena -----------------------------===//

#include "passes/memory/ArenaLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

using namespace mtc;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {

/// A buffer with an assigned offset.
struct Placed {
  int64_t offset, top;
  int64_t begin, end;
};

/// Buffers with an assigned offset, in ascending order of the offset, in blocks that are small
/// enough for cheap insertion. Searches skip a block if none of its buffers is live at the queried
/// times.
class AllocatedBuffers {
public:
  /// Returns the lowest offset that is free during the buffer's live range.
  int64_t findGap(const LiveBuffer &buffer) const {
    int64_t offset = 0;
    for (const Block &block : blocks) {
      if (block.end < buffer.begin || buffer.end < block.begin)
        continue;
      if (block.placed.front().offset >= offset + buffer.bytes)
        return offset;
      if (block.top <= offset)
        continue;
      for (const Placed &other : block.placed) {
        if (other.end < buffer.begin || buffer.end < other.begin)
          continue;
        if (other.offset >= offset + buffer.bytes)
          return offset;
        offset = std::max(offset, other.top);
      }
    }
    return offset;
  }

  void insert(const LiveBuffer &buffer, int64_t offset) {
    size_t at = 0;
    while (at + 1 < blocks.size() && blocks[at + 1].placed.front().offset <= offset)
      ++at;
    if (blocks.empty())
      blocks.emplace_back();
    Block &block = blocks[at];
    auto position = llvm::upper_bound(block.placed, offset, [](int64_t value, const Placed &other) {
      return value < other.offset;
    });
    Placed placed{offset, offset + buffer.bytes, buffer.begin, buffer.end};
    block.placed.insert(position, placed);
    block.add(placed);
    if (block.placed.size() == blockSize)
      split(at);
  }

private:
  static constexpr size_t blockSize = 64;
  struct Block {
    std::vector<Placed> placed;
    // Bounds over all buffers of the block.
    int64_t begin = std::numeric_limits<int64_t>::max(), end = -1, top = 0;

    void add(const Placed &each) {
      begin = std::min(begin, each.begin);
      end = std::max(end, each.end);
      top = std::max(top, each.top);
    }
  };

  void split(size_t at) {
    Block low, high;
    for (auto [i, each] : llvm::enumerate(blocks[at].placed)) {
      Block &half = i < blockSize / 2 ? low : high;
      half.placed.push_back(each);
      half.add(each);
    }
    blocks[at] = std::move(low);
    blocks.insert(blocks.begin() + static_cast<ptrdiff_t>(at) + 1, std::move(high));
  }

  std::vector<Block> blocks;
};

} // namespace

/// Allocates the buffers in the given order, each at the lowest offset that is free during its live
/// range. The first `sameCount` buffers have the offsets of `same`. Ends with a layout of more than
/// `maxBytes` bytes when its size exceeds them.
static ArenaLayout layOutInOrder(ArrayRef<LiveBuffer> buffers, ArrayRef<unsigned> order,
                                 ArrayRef<int64_t> same = {}, size_t sameCount = 0,
                                 int64_t maxBytes = std::numeric_limits<int64_t>::max()) {
  ArenaLayout layout;
  layout.offsets.assign(buffers.size(), 0);
  AllocatedBuffers placed;
  for (auto [place, index] : llvm::enumerate(order)) {
    const LiveBuffer &buffer = buffers[index];
    if (buffer.bytes == 0)
      continue;
    if (layout.size > maxBytes)
      break;
    int64_t offset = place < sameCount ? same[index] : placed.findGap(buffer);
    placed.insert(buffer, offset);
    layout.offsets[index] = offset;
    layout.size = std::max(layout.size, offset + buffer.bytes);
  }
  return layout;
}

namespace {

/// First time with the maximum number of live bytes, which is a lower bound on any layout's size.
struct Peak {
  explicit Peak(ArrayRef<LiveBuffer> buffers) {
    int64_t last = 0;
    for (const LiveBuffer &buffer : buffers)
      last = std::max(last, buffer.end);
    std::vector<int64_t> changes(static_cast<size_t>(last) + 2, 0);
    for (const LiveBuffer &buffer : buffers) {
      changes[static_cast<size_t>(buffer.begin)] += buffer.bytes;
      changes[static_cast<size_t>(buffer.end) + 1] -= buffer.bytes;
    }
    int64_t alive = 0;
    for (auto [now, change] : llvm::enumerate(changes)) {
      alive += change;
      if (alive > bytes) {
        bytes = alive;
        time = static_cast<int64_t>(now);
      }
    }
  }
  bool has(const LiveBuffer &buffer) const { return buffer.begin <= time && time <= buffer.end; }

  int64_t time = 0, bytes = 0;
};

/// Tries allocation orders and keeps the smallest layout; ties keep the first.
class Search {
public:
  Search(ArrayRef<LiveBuffer> buffers, const Peak &peak, int64_t enough)
      : buffers(buffers), peak(peak), enough(std::max(enough, peak.bytes)), order(buffers.size()) {
    std::iota(order.begin(), order.end(), 0);
  }

  /// Tries the order by decreasing `key`, ties by index. Does nothing if the best layout is small
  /// enough.
  template <typename Key> void tryOrder(const Key &key) {
    if (isDone())
      return;
    llvm::sort(order, [&](unsigned a, unsigned b) {
      auto left = key(buffers[a]), right = key(buffers[b]);
      return left == right ? a < b : left > right;
    });
    placeInOrder();
  }

  /// Repeatedly moves the buffer with the highest end to the front of the order. The number of
  /// tries decreases with the number of buffers to bound compile time.
  void raise() {
    constexpr size_t maximum = 64, placements = 4096;
    const size_t tries = std::min(maximum, placements / std::max<size_t>(buffers.size(), 1));
    for (size_t i = 0; i < tries && !isDone(); ++i) {
      auto highest = llvm::find_if(order, [&](unsigned index) {
        return last.offsets[index] + buffers[index].bytes == last.size;
      });
      std::rotate(order.begin(), highest, highest + 1);
      placeInOrder();
    }
  }

  /// Random local search from the best order: repeatedly moves a buffer that extends above the
  /// lower bound to an earlier position, and keeps the change if the layout does not grow. The
  /// generator's seed is fixed, so compilation is deterministic. The number of tries bounds compile
  /// time.
  void wander() {
    constexpr size_t placements = 1 << 17, maximum = 1 << 11;
    const size_t tries = placements / std::max<size_t>(buffers.size(), 1);
    if (isDone() || buffers.size() > maximum)
      return;
    std::minstd_rand random; // NOLINT(bugprone-random-generator-seed): deterministic output.
    ArenaLayout current = *best;
    order = bestOrder;
    for (size_t i = 0; i < tries && !isDone(); ++i) {
      SmallVector<size_t> high;
      for (auto [place, index] : llvm::enumerate(order))
        if (place != 0 && current.offsets[index] + buffers[index].bytes > peak.bytes)
          high.push_back(place);
      if (high.empty())
        return;
      const size_t from = high[random() % high.size()], to = random() % from;
      const auto first = order.begin() + to, moved = order.begin() + from;
      std::rotate(first, moved, moved + 1);
      keepIfBest(layOutInOrder(buffers, order, current.offsets, to, current.size));
      if (last.size <= current.size)
        current = last;
      else
        std::rotate(first, first + 1, moved + 1);
    }
  }

  ArenaLayout take() { return std::move(*best); }

private:
  bool isDone() const { return best && best->size <= enough; }

  void placeInOrder() { keepIfBest(layOutInOrder(buffers, order)); }

  void keepIfBest(ArenaLayout layout) {
    last = std::move(layout);
    if (!best || last.size < best->size) {
      best = last;
      bestOrder = order;
    }
  }

  ArrayRef<LiveBuffer> buffers;
  const Peak &peak;
  const int64_t enough;
  SmallVector<unsigned> order, bestOrder;
  ArenaLayout last;
  std::optional<ArenaLayout> best;
};

} // namespace

ArenaLayout mtc::layOut(ArrayRef<LiveBuffer> buffers, int64_t enough) {
  Peak peak(buffers);
  Search search(buffers, peak, enough);
  auto duration = [](const LiveBuffer &buffer) { return buffer.end - buffer.begin + 1; };
  search.tryOrder([](const LiveBuffer &buffer) { return buffer.bytes; });
  search.tryOrder([&](const LiveBuffer &buffer) {
    return peak.has(buffer) ? std::pair(true, duration(buffer)) : std::pair(false, buffer.bytes);
  });
  search.tryOrder([&](const LiveBuffer &buffer) {
    return static_cast<double>(buffer.bytes) * static_cast<double>(duration(buffer));
  });
  search.raise();
  search.wander();
  return search.take();
}
