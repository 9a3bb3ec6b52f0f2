// Scratch of attention tasks whose matrix multiplications have operands of bf16.
//
// No task needs more than with operands of f32 (head.h), which is what is planned: the machine that
// plans memory may have other instructions than the one that runs the program. The rounded tiles
// are therefore stored where their scores were.
#ifndef MTC_RUNTIME_CALLS_ATTENTION_CPU_PAIR_SCRATCH_H
#define MTC_RUNTIME_CALLS_ATTENTION_CPU_PAIR_SCRATCH_H

#include "runtime/calls/attention/cpu/head.h"

namespace mtc::runtime {

/// Two bf16 that are neighbors along the depth of a matrix multiplication; the lower half is the
/// first.
using BFloat16Pair = uint32_t;

inline int64_t pairs(int64_t count) { return (count + 1) / 2; }

static_assert(tileQueries % 2 == 0 && stripQueries % 2 == 0,
              "only the last strip of the last tile may have an unpaired query");

/// Arrays of a forward task.
struct PairScratch {
  static constexpr int64_t lanes = AttentionScratch<float>::lanes;
  BFloat16Pair *keys;          ///< tiles of transposed keys, each [pairs(width), tileKeys]
  BFloat16Pair *values;        ///< [pairs(keys), value_width]
  BFloat16Pair *queries;       ///< [tileQueries, pairs(width)]
  float *scores;               ///< [tileQueries, tileKeys]
  BFloat16Pair *probabilities; ///< [tileQueries, tileKeys / 2], in the memory of the scores
  float *maxima, *sums, *out;
  char *end;

  PairScratch(const MtcAttention &p, char *start) {
    ScratchCursor cursor(start);
    keys = cursor.take<BFloat16Pair>(padded(p.keys, tileKeys) * pairs(p.width));
    values = cursor.take<BFloat16Pair>(pairs(p.keys) * padded(p.value_width, lanes));
    queries = cursor.take<BFloat16Pair>(tileQueries * pairs(p.width));
    scores = cursor.take<float>(tileQueries * tileKeys);
    probabilities = reinterpret_cast<BFloat16Pair *>(scores);
    maxima = cursor.take<float>(tileQueries);
    sums = cursor.take<float>(tileQueries * lanes);
    out = cursor.take<float>(tileQueries * padded(p.value_width, lanes));
    end = cursor.end();
  }
};

/// Arrays of a backward task.
struct PairGradientScratch {
  static constexpr int64_t lanes = AttentionGradientScratch<float>::lanes;
  BFloat16Pair *keysTransposed, *valuesTransposed; ///< tiles, each [pairs(width), tileKeys]
  BFloat16Pair *keys;                              ///< [pairs(keys), width]
  float *keyGradients, *valueGradients;
  BFloat16Pair *queries, *outGradients;        ///< [tileQueries, pairs(width)]
  BFloat16Pair *queryPairs, *outGradientPairs; ///< [tileQueries / 2, width]
  float *queryGradients;
  float *scores, *gradients; ///< [tileQueries, tileKeys]
  /// These use the memory of the scores, first for the probabilities, then for both forms of the
  /// gradients.
  BFloat16Pair *probabilityPairs; ///< [tileQueries / 2, tileKeys]
  BFloat16Pair *gradientPairs;    ///< [tileQueries / 2, tileKeys]
  BFloat16Pair *roundedGradients; ///< [tileQueries, tileKeys / 2]
  char *end;

  PairGradientScratch(const MtcAttention &p, char *start) {
    const int64_t width = padded(p.width, lanes), valueWidth = padded(p.value_width, lanes);
    ScratchCursor cursor(start);
    keysTransposed = cursor.take<BFloat16Pair>(padded(p.keys, tileKeys) * pairs(p.width));
    valuesTransposed = cursor.take<BFloat16Pair>(padded(p.keys, tileKeys) * pairs(p.value_width));
    keys = cursor.take<BFloat16Pair>(pairs(p.keys) * width);
    keyGradients = cursor.take<float>(p.keys * width);
    valueGradients = cursor.take<float>(p.keys * valueWidth);
    queries = cursor.take<BFloat16Pair>(tileQueries * pairs(p.width));
    outGradients = cursor.take<BFloat16Pair>(tileQueries * pairs(p.value_width));
    queryPairs = cursor.take<BFloat16Pair>(tileQueries / 2 * width);
    outGradientPairs = cursor.take<BFloat16Pair>(tileQueries / 2 * valueWidth);
    queryGradients = cursor.take<float>(tileQueries * width);
    scores = cursor.take<float>(tileQueries * tileKeys);
    gradients = cursor.take<float>(tileQueries * tileKeys);
    probabilityPairs = gradientPairs = reinterpret_cast<BFloat16Pair *>(scores);
    roundedGradients = gradientPairs + tileQueries / 2 * tileKeys;
    end = cursor.end();
  }
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_ATTENTION_CPU_PAIR_SCRATCH_H
