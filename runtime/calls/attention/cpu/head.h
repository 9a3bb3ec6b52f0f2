// Layout of an attention head in its tensors and in the scratch of a task.
#ifndef MTC_RUNTIME_CALLS_ATTENTION_CPU_HEAD_H
#define MTC_RUNTIME_CALLS_ATTENTION_CPU_HEAD_H

#include "runtime/abi/attention.h"
#include "runtime/abi/tensor.h"

#include <algorithm>
#include <cstdint>

namespace mtc::runtime {

/// Tile sizes in queries and keys. `tileKeys` is a multiple of the lanes of every vector set.
inline constexpr int64_t tileQueries = 60, tileKeys = 64;
/// Queries of a strip of a tile that not all queries attend to, and the unit of its keys: a
/// multiple of the lanes of every vector set.
inline constexpr int64_t stripQueries = 12, stripKeys = 16;

/// Some queries of a tile, and the number of keys of the tile, from the first one on, that they
/// attend to, rounded up to a multiple of `stripKeys`.
struct Strip {
  int64_t first, queries, keys;
};

/// A block of the scores of a tile.
struct ScoreBlock {
  int64_t firstQuery, queries, firstKey, keys;
};

inline int64_t padded(int64_t count, int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

/// One query head of one batch entry.
struct AttentionHead {
  const MtcAttention &p;
  int64_t batch, head;

  AttentionHead(const MtcAttention &p, int64_t batch, int64_t head)
      : p(p), batch(batch), head(head) {}

  int64_t keyHead() const { return head * p.key_heads / p.heads; }
  template <typename T> T *at(T *base, const int64_t *strides, int64_t whichHead) const {
    return base + batch * strides[0] + whichHead * strides[1];
  }
  int64_t row(int64_t query) const { return (batch * p.heads + head) * p.queries + query; }
  /// Returns the end of the range of keys that any query before `end` attends to.
  int64_t keysFor(int64_t end) const {
    return p.is_causal ? std::clamp<int64_t>(end + p.causal_offset, 0, p.keys) : p.keys;
  }

  /// Calls `use` for the strips of a tile in order; their numbers of keys do not decrease. Queries
  /// that attend to no key of the tile are in no strip.
  template <typename Use>
  void forStrips(int64_t firstQuery, int64_t queries, int64_t firstKey, const Use &use) const {
    auto keysOf = [&](int64_t query) {
      return std::min(padded(keysFor(query + 1) - firstKey, stripKeys), tileKeys);
    };
    const int64_t all = keysOf(firstQuery + queries - 1);
    if (keysOf(firstQuery) == all)
      return use(Strip{0, queries, all});
    for (int64_t i = 0; i < queries; i += stripQueries) {
      const int64_t count = std::min(stripQueries, queries - i),
                    keys = keysOf(firstQuery + i + count - 1);
      if (keys > 0)
        use(Strip{i, count, keys});
    }
  }
};

/// Calls `use` for the keys that each strip is the first one to attend to, at most `keys` in all:
/// with the block of these keys and of all queries of the tile from the strip's first one on.
template <typename ForStrips, typename Use>
void forNewKeys(const ForStrips &forStrips, int64_t queries, int64_t keys, const Use &use) {
  int64_t begin = 0;
  forStrips([&](const Strip &strip) {
    const int64_t end = std::min(strip.keys, keys);
    if (end > begin)
      use(ScoreBlock{strip.first, queries - strip.first, begin, end - begin});
    begin = end;
  });
}

/// Allocates arrays from a block of memory in sequence, each aligned to MTC_ALIGNMENT.
class ScratchCursor {
public:
  explicit ScratchCursor(char *start) : next(start) {}

  template <typename Element> Element *take(int64_t count) {
    auto *result = reinterpret_cast<Element *>(next);
    next += padded(count * static_cast<int64_t>(sizeof(Element)), MTC_ALIGNMENT);
    return result;
  }
  char *end() const { return next; }

private:
  char *next;
};

/// Arrays of a forward task. Widths are padded to whole 64-byte vectors, so that the size does not
/// depend on the machine.
template <typename Element> struct AttentionScratch {
  static constexpr int64_t lanes = 64 / sizeof(Element);
  Element *keys;    ///< tiles of transposed keys, each [width, tileKeys]
  Element *values;  ///< [keys, value_width]
  Element *queries; ///< [tileQueries, width], scaled
  Element *scores;  ///< [tileQueries, tileKeys]
  Element *maxima, *sums, *out;
  char *end;

  AttentionScratch(const MtcAttention &p, char *start) {
    ScratchCursor cursor(start);
    keys = cursor.take<Element>(padded(p.keys, tileKeys) * p.width);
    values = cursor.take<Element>(p.keys * padded(p.value_width, lanes));
    queries = cursor.take<Element>(tileQueries * p.width);
    scores = cursor.take<Element>(tileQueries * tileKeys);
    maxima = cursor.take<Element>(tileQueries);
    sums = cursor.take<Element>(tileQueries * lanes);
    out = cursor.take<Element>(tileQueries * padded(p.value_width, lanes));
    end = cursor.end();
  }
};

/// Arrays of a backward task.
template <typename Element> struct AttentionGradientScratch {
  static constexpr int64_t lanes = 64 / sizeof(Element);
  Element *keysTransposed, *valuesTransposed; ///< tiles, each [width, tileKeys]
  Element *keys, *keyGradients, *valueGradients;
  Element *queries, *outGradients, *queryGradients; ///< one tile of queries
  Element *scores, *gradients;                      ///< [tileQueries, tileKeys]
  char *end;

  AttentionGradientScratch(const MtcAttention &p, char *start) {
    const int64_t width = padded(p.width, lanes), valueWidth = padded(p.value_width, lanes);
    ScratchCursor cursor(start);
    keysTransposed = cursor.take<Element>(padded(p.keys, tileKeys) * p.width);
    valuesTransposed = cursor.take<Element>(padded(p.keys, tileKeys) * p.value_width);
    keys = cursor.take<Element>(p.keys * width);
    keyGradients = cursor.take<Element>(p.keys * width);
    valueGradients = cursor.take<Element>(p.keys * valueWidth);
    queries = cursor.take<Element>(tileQueries * width);
    outGradients = cursor.take<Element>(tileQueries * valueWidth);
    queryGradients = cursor.take<Element>(tileQueries * width);
    scores = cursor.take<Element>(tileQueries * tileKeys);
    gradients = cursor.take<Element>(tileQueries * tileKeys);
    end = cursor.end();
  }
};

/// The buffers of a call, in the order of the ABI.
template <typename Element> struct AttentionBuffers {
  const Element *query, *key, *value, *bias;
  const uint8_t *mask;
  char *const *rest; ///< buffers after the operands that both calls share

  AttentionBuffers(const MtcAttention &p, char *const *buffers)
      : query(reinterpret_cast<const Element *>(buffers[0])),
        key(reinterpret_cast<const Element *>(buffers[1])),
        value(reinterpret_cast<const Element *>(buffers[2])),
        bias(p.has_bias ? reinterpret_cast<const Element *>(buffers[3]) : nullptr),
        mask(p.has_mask ? reinterpret_cast<const uint8_t *>(buffers[3 + p.has_bias]) : nullptr),
        rest(buffers + 3 + p.has_bias + p.has_mask) {}

  template <typename T> T *other(int i) const { return reinterpret_cast<T *>(rest[i]); }
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_ATTENTION_CPU_HEAD_H
