// Shuffles without storing a permutation, by a keyed pseudorandom permutation.
//
// A Feistel network permutes the numbers of 2 * h bits. Applying it repeatedly until the result is
// below `rows` permutes the numbers below `rows` (cycle walking: Black and Rogaway, "Ciphers with
// arbitrary finite domains", 2002).
#include "runtime/data/row_order.h"

#include "runtime/data/weighted_sampler.h"
#include "runtime/support/philox.h"

#include <bit>

namespace mtc::runtime {

RowOrder::RowOrder(int64_t rows, bool shuffle, uint64_t seed, const WeightedSampler *sampler)
    : rows(rows), shuffle(shuffle), seed(seed), sampler(sampler) {
  int bits = rows > 1 ? std::bit_width(static_cast<uint64_t>(rows - 1)) : 1;
  halfBits = (bits + 1) / 2;
}

int64_t RowOrder::row(int64_t position) const {
  const int64_t index = position % rows;
  const auto epoch = static_cast<uint64_t>(position / rows);
  if (sampler)
    return sampler->draw(seed, epoch, index);
  return shuffle ? permuted(index, epoch) : index;
}

int64_t RowOrder::permuted(int64_t index, uint64_t epoch) const {
  constexpr uint32_t rounds = 8;
  const uint64_t mask = (uint64_t{1} << halfBits) - 1;
  auto value = static_cast<uint64_t>(index);
  do {
    uint64_t left = value >> halfBits, right = value & mask;
    for (uint32_t round = 0; round < rounds; ++round) {
      auto words = philox({static_cast<uint32_t>(right), round, static_cast<uint32_t>(epoch),
                           static_cast<uint32_t>(epoch >> 32)},
                          {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
      uint64_t mixed = (left ^ words[0]) & mask;
      left = right;
      right = mixed;
    }
    value = left << halfBits | right;
  } while (value >= static_cast<uint64_t>(rows));
  return static_cast<int64_t>(value);
}

} // namespace mtc::runtime
