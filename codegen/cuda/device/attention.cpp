//===- attention.cpp - Attention and its gradient on the device -------------------------------===//
//
// Tiles of scores are kept in registers. The forward pass updates row maxima and sums online
// (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al.,
// "FlashAttention", 2022); the backward pass uses the saved logarithms of the sums. In the backward
// pass, one kernel accumulates the gradients of a tile of keys over all queries, another those of a
// tile of queries over all keys. Both recompute the scores, so no memory is accumulated by several
// blocks and results are bit-identical between runs.
//
// All functions are inlined into a generated kernel in which the description `p` is a constant, so
// extents, strides and absent operands fold into the code.
//
//===------------------------------------------------------------------------------------------===//

#include "runtime/abi/attention.h"
#include "codegen/cuda/device/TensorTile.h"

namespace mtc::cuda::device {

template <typename Number> Number minimum(Number a, Number b) { return a < b ? a : b; }
template <typename Number> Number greatest(Number a, Number b) { return a > b ? a : b; }

/// The operands that the forward and backward pass have in common.
template <typename Element> struct Operands {
  MTC_GLOBAL const Element *query, *key, *value, *bias;
  MTC_GLOBAL const uint8_t *mask;
};

/// One head of one batch entry.
struct Head {
  const MtcAttention &p;
  int64_t batch, head;

  int64_t keyHead() const { return head * p.key_heads / p.heads; }
  template <typename T> T at(T base, const int64_t *strides, int64_t whichHead) const {
    return base + batch * strides[0] + whichHead * strides[1];
  }
  /// Returns the index of the head's first query in the arrays of sums and offsets.
  int64_t firstRow() const { return (batch * p.heads + head) * p.queries; }
  /// Returns the end of the range of keys that queries before `end` attend to.
  int64_t keysFor(int64_t end) const {
    return p.is_causal ? greatest<int64_t>(0, minimum(end + p.causal_offset, p.keys)) : p.keys;
  }
};

/// Computes scaled and biased scores; -inf for masked keys, and for queries or keys out of bounds.
template <typename Sum, typename Element> struct Scoring {
  Head head;
  MTC_GLOBAL const Element *bias;
  MTC_GLOBAL const uint8_t *mask;

  Scoring(const Head &head, const Operands<Element> &operands)
      : head(head), bias(operands.bias), mask(operands.mask) {
    if (head.p.has_bias)
      bias = head.at(bias, head.p.bias, head.head);
    if (head.p.has_mask)
      mask = head.at(mask, head.p.mask, head.head);
  }

  Sum operator()(Sum product, int64_t query, int64_t key) const {
    const MtcAttention &p = head.p;
    const Sum none = -__builtin_inff();
    if (query >= p.queries || key >= p.keys || (p.is_causal && key > query + p.causal_offset))
      return none;
    if (p.has_mask && !mask[query * p.mask[2] + key * p.mask[3]])
      return none;
    Sum score = product * static_cast<Sum>(p.scale);
    if (p.has_bias)
      score += static_cast<Sum>(bias[query * p.bias[2] + key * p.bias[3]]);
    return score;
  }
};

/// A block's tile of queries of a head. Tiles are processed in reverse order: with causal
/// attention, the last ones have the most keys.
template <typename Math> struct QueryTile {
  int64_t tileCount, first;
  Head head;

  explicit QueryTile(const MtcAttention &p)
      : tileCount((p.queries + Math::rows - 1) / Math::rows),
        first((tileCount - 1 - blockIndex() % tileCount) * Math::rows),
        head{p, blockIndex() / tileCount / p.heads, blockIndex() / tileCount % p.heads} {}

  /// Returns the end of the range of keys that any query of the tile attends to.
  int64_t keysEnd() const { return head.keysFor(minimum(first + Math::rows, head.p.queries)); }
};

/// Allocates tiles consecutively in the block's shared memory.
template <typename Sum> struct SharedTiles {
  MTC_SHARED Sum *next;

  explicit SharedTiles(MTC_SHARED char *start) : next(reinterpret_cast<MTC_SHARED Sum *>(start)) {}
  MTC_SHARED Sum *take(int lines, int stride) {
    MTC_SHARED Sum *tile = next;
    next += lines * stride;
    return tile;
  }
};

//===------------------------------------------------------------------------------------------===//
// Forward
//===------------------------------------------------------------------------------------------===//

template <typename Math, typename Element, typename Sum>
void attend(const MtcAttention &p, const Operands<Element> &operands, MTC_GLOBAL Element *out,
            MTC_GLOBAL Sum *sums, MTC_SHARED char *shared) {
  constexpr int rowCount = Math::rowCount, columnCount = Math::columnCount;
  const Sum none = -__builtin_inff();
  const QueryTile<Math> tile(p);
  const Head &head = tile.head;
  const int64_t firstQuery = tile.first;
  const Scoring<Sum, Element> scoring(head, operands);

  SharedTiles<Sum> memory(shared);
  auto queries = memory.take(Math::rows, Math::lineStride),
       keys = memory.take(Math::columns, Math::lineStride),
       values = memory.take(Math::columns, Math::lineStride),
       exchanged = memory.take(Math::rows, Math::scoreStride);
  auto key = head.at(operands.key, p.key, head.keyHead()),
       value = head.at(operands.value, p.value, head.keyHead());
  Math::template load<Math::rows>(head.at(operands.query, p.query, head.head) +
                                      firstQuery * p.query[2],
                                  p.query[2], p.queries - firstQuery, p.width, queries);

  Sum maxima[rowCount], totals[rowCount] = {};
  MTC_UNROLL for (Sum &maximum : maxima) maximum = none;
  typename Math::Mixture mixture = {};
  const int64_t end = tile.keysEnd();
#pragma clang loop unroll(disable)
  for (int64_t first = 0; first < end; first += Math::columns) {
    Math::template load<Math::columns>(key + first * p.key[2], p.key[2], p.keys - first, p.width,
                                       keys);
    Math::template load<Math::columns>(value + first * p.value[2], p.value[2], p.keys - first,
                                       p.value_width, values);
    blockBarrier();
    auto scores = Math::multiply(queries, keys);
    MTC_UNROLL for (int i = 0; i < rowCount; ++i) {
      Sum maximum = none;
      MTC_UNROLL for (int j = 0; j < columnCount; ++j) {
        scores.at[i][j] =
            scoring(scores.at[i][j], firstQuery + Math::row(i), first + Math::column(j));
        maximum = greatest(scores.at[i][j], maximum);
      }
      MTC_UNROLL for (int distance = 1; distance < Math::threadsOfRow; distance *= 2) maximum =
          greatest(exchange(maximum, distance), maximum);
      maximum = greatest(maximum, maxima[i]);
      // If all scores are -inf, nothing is subtracted: the exponentials are 0.
      const Sum shift = maximum == none ? 0 : maximum, factor = exponential(maxima[i] - shift);
      maxima[i] = maximum;
      totals[i] *= factor;
      MTC_UNROLL for (auto &part : mixture.at[i]) part *= factor;
      MTC_UNROLL for (int j = 0; j < columnCount; ++j) {
        scores.at[i][j] = exponential(scores.at[i][j] - shift);
        totals[i] += scores.at[i][j];
      }
    }
    Math::mix(scores, exchanged, values, mixture);
    blockBarrier();
  }

  out = head.at(out, p.out, head.head);
  const bool aligned = Math::isAligned(out, p.out[2], p.value_width);
  MTC_UNROLL for (int i = 0; i < rowCount; ++i) {
    Sum total = totals[i];
    MTC_UNROLL for (int distance = 1; distance < Math::threadsOfRow; distance *= 2) total +=
        exchange(total, distance);
    const int64_t query = firstQuery + Math::row(i);
    if (query >= p.queries)
      continue;
    store<Math>(mixture, i, total == 0 ? Sum(0) : 1 / total, out + query * p.out[2], p.value_width,
                aligned);
    if (Math::column(0) == 0)
      sums[head.firstRow() + query] =
          total == 0 ? static_cast<Sum>(__builtin_inff()) : maxima[i] + logarithm(total);
  }
}

//===------------------------------------------------------------------------------------------===//
// Backward
//===------------------------------------------------------------------------------------------===//

template <typename Element, typename Sum> struct GradientOperands : Operands<Element> {
  MTC_GLOBAL const Sum *sums, *offsets;
  MTC_GLOBAL const Element *dOut;
};

/// A block computes a tile of keys of a key head.
template <typename Math, typename Element, typename Sum>
void differentiateKeys(const MtcAttention &p, const GradientOperands<Element, Sum> &operands,
                       MTC_GLOBAL Element *dKey, MTC_GLOBAL Element *dValue,
                       MTC_SHARED char *shared) {
  const int64_t tileCount = (p.keys + Math::rows - 1) / Math::rows, block = blockIndex();
  const int64_t firstKey = block % tileCount * Math::rows;
  const int64_t batch = block / tileCount / p.key_heads, keyHead = block / tileCount % p.key_heads;
  const int64_t sharing = p.heads / p.key_heads;

  SharedTiles<Sum> memory(shared);
  auto keys = memory.take(Math::rows, Math::lineStride),
       values = memory.take(Math::rows, Math::lineStride),
       queries = memory.take(Math::columns, Math::lineStride),
       outGradients = memory.take(Math::columns, Math::lineStride),
       exchanged = memory.take(Math::rows, Math::scoreStride);
  const Head any{p, batch, keyHead * sharing};
  Math::template load<Math::rows>(any.at(operands.key, p.key, keyHead) + firstKey * p.key[2],
                                  p.key[2], p.keys - firstKey, p.width, keys);
  Math::template load<Math::rows>(any.at(operands.value, p.value, keyHead) + firstKey * p.value[2],
                                  p.value[2], p.keys - firstKey, p.value_width, values);

  typename Math::Mixture ofKeys = {}, ofValues = {};
  // The first query that attends to the first key.
  int64_t begin = p.is_causal ? greatest<int64_t>(0, firstKey - p.causal_offset) : 0;
  begin -= begin % Math::columns;
#pragma clang loop unroll(disable)
  for (int64_t h = keyHead * sharing; h < (keyHead + 1) * sharing; ++h) {
    const Head head{p, batch, h};
    const Scoring<Sum, Element> scoring(head, operands);
    auto query = head.at(operands.query, p.query, h), dOut = head.at(operands.dOut, p.out, h);
#pragma clang loop unroll(disable)
    for (int64_t first = begin; first < p.queries; first += Math::columns) {
      Math::template load<Math::columns>(query + first * p.query[2], p.query[2], p.queries - first,
                                         p.width, queries);
      Math::template load<Math::columns>(dOut + first * p.out[2], p.out[2], p.queries - first,
                                         p.value_width, outGradients);
      blockBarrier();
      auto weights = Math::multiply(keys, queries),
           gradients = Math::multiply(values, outGradients);
      MTC_UNROLL for (int j = 0; j < Math::columnCount; ++j) {
        const int64_t q = first + Math::column(j);
        const bool isThere = q < p.queries;
        const Sum sum = isThere ? operands.sums[head.firstRow() + q] : Sum(0),
                  offset = isThere ? operands.offsets[head.firstRow() + q] : Sum(0);
        MTC_UNROLL for (int i = 0; i < Math::rowCount; ++i) {
          Sum &weight = weights.at[i][j], &gradient = gradients.at[i][j];
          weight = exponential(scoring(weight, q, firstKey + Math::row(i)) - sum);
          gradient = weight * (gradient - offset);
        }
      }
      Math::mix(weights, exchanged, outGradients, ofValues);
      Math::mix(gradients, exchanged, queries, ofKeys);
      blockBarrier();
    }
  }

  dKey = any.at(dKey, p.d_key, keyHead);
  dValue = any.at(dValue, p.d_value, keyHead);
  const bool keysAligned = Math::isAligned(dKey, p.d_key[2], p.width),
             valuesAligned = Math::isAligned(dValue, p.d_value[2], p.value_width);
  MTC_UNROLL for (int i = 0; i < Math::rowCount; ++i) if (const int64_t k = firstKey + Math::row(i);
                                                          k < p.keys) {
    store<Math>(ofKeys, i, static_cast<Sum>(p.scale), dKey + k * p.d_key[2], p.width, keysAligned);
    store<Math>(ofValues, i, Sum(1), dValue + k * p.d_value[2], p.value_width, valuesAligned);
  }
}

/// A block computes a tile of queries of a head.
template <typename Math, typename Element, typename Sum>
void differentiateQueries(const MtcAttention &p, const GradientOperands<Element, Sum> &operands,
                          MTC_GLOBAL Element *dQuery, MTC_SHARED char *shared) {
  const QueryTile<Math> tile(p);
  const Head &head = tile.head;
  const int64_t firstQuery = tile.first;
  const Scoring<Sum, Element> scoring(head, operands);

  SharedTiles<Sum> memory(shared);
  auto queries = memory.take(Math::rows, Math::lineStride),
       outGradients = memory.take(Math::rows, Math::lineStride),
       keys = memory.take(Math::columns, Math::lineStride),
       values = memory.take(Math::columns, Math::lineStride),
       exchanged = memory.take(Math::rows, Math::scoreStride);
  auto key = head.at(operands.key, p.key, head.keyHead()),
       value = head.at(operands.value, p.value, head.keyHead());
  Math::template load<Math::rows>(head.at(operands.query, p.query, head.head) +
                                      firstQuery * p.query[2],
                                  p.query[2], p.queries - firstQuery, p.width, queries);
  Math::template load<Math::rows>(head.at(operands.dOut, p.out, head.head) + firstQuery * p.out[2],
                                  p.out[2], p.queries - firstQuery, p.value_width, outGradients);
  Sum sums[Math::rowCount], offsets[Math::rowCount];
  MTC_UNROLL for (int i = 0; i < Math::rowCount; ++i) {
    const int64_t query = firstQuery + Math::row(i);
    const bool isThere = query < p.queries;
    sums[i] = isThere ? operands.sums[head.firstRow() + query] : Sum(0);
    offsets[i] = isThere ? operands.offsets[head.firstRow() + query] : Sum(0);
  }

  typename Math::Mixture ofQueries = {};
  const int64_t end = tile.keysEnd();
#pragma clang loop unroll(disable)
  for (int64_t first = 0; first < end; first += Math::columns) {
    Math::template load<Math::columns>(key + first * p.key[2], p.key[2], p.keys - first, p.width,
                                       keys);
    Math::template load<Math::columns>(value + first * p.value[2], p.value[2], p.keys - first,
                                       p.value_width, values);
    blockBarrier();
    auto weights = Math::multiply(queries, keys), gradients = Math::multiply(outGradients, values);
    MTC_UNROLL for (int i = 0; i < Math::rowCount; ++i)
        MTC_UNROLL for (int j = 0; j < Math::columnCount; ++j) {
      const Sum score =
          scoring(weights.at[i][j], firstQuery + Math::row(i), first + Math::column(j));
      gradients.at[i][j] = exponential(score - sums[i]) * (gradients.at[i][j] - offsets[i]);
    }
    Math::mix(gradients, exchanged, keys, ofQueries);
    blockBarrier();
  }

  dQuery = head.at(dQuery, p.d_query, head.head);
  const bool aligned = Math::isAligned(dQuery, p.d_query[2], p.width);
  MTC_UNROLL for (int i = 0; i < Math::rowCount;
                  ++i) if (const int64_t query = firstQuery + Math::row(i); query < p.queries)
      store<Math>(ofQueries, i, static_cast<Sum>(p.scale), dQuery + query * p.d_query[2], p.width,
                  aligned);
}

} // namespace mtc::cuda::device

//===------------------------------------------------------------------------------------------===//
// Entry points, named after the direction, the element type and the padded width
//===------------------------------------------------------------------------------------------===//

#define MTC_OPERANDS(Element)                                                                      \
  const MtcAttention *p, MTC_GLOBAL const Element *query, MTC_GLOBAL const Element *key,           \
      MTC_GLOBAL const Element *value, MTC_GLOBAL const Element *bias,                             \
      MTC_GLOBAL const uint8_t *mask
#define MTC_GRADIENT_OPERANDS(Element, Sum)                                                        \
  MTC_OPERANDS(Element), MTC_GLOBAL const Sum *sums, MTC_GLOBAL const Sum *offsets,                \
      MTC_GLOBAL const Element *dOut

#define MTC_ENTRIES(Element, Sum, Math, products, type, width)                                     \
  namespace mtc::cuda::device::type##_##width {                                                    \
    constexpr AttentionTiles forwardTiles =                                                        \
        attentionTiles(sizeof(Sum), width, Products::products);                                    \
    using Forward = Math<Sum, forwardTiles>;                                                       \
  }                                                                                                \
  extern "C" void mtc_attend_##type##_##width(MTC_OPERANDS(Element), MTC_GLOBAL Element *out,      \
                                              MTC_GLOBAL Sum *sums, MTC_SHARED char *shared) {     \
    mtc::cuda::device::attend<mtc::cuda::device::type##_##width::Forward, Element, Sum>(           \
        *p, {query, key, value, bias, mask}, out, sums, shared);                                   \
  }

#define MTC_GRADIENT_ENTRIES(Element, Sum, Math, products, type, width)                            \
  namespace mtc::cuda::device::type##_##width {                                                    \
    constexpr AttentionTiles backwardTiles =                                                       \
        attentionGradientTiles(sizeof(Sum), width, Products::products);                            \
    using Backward = Math<Sum, backwardTiles>;                                                     \
  }                                                                                                \
  extern "C" void mtc_differentiate_keys_##type##_##width(                                         \
      MTC_GRADIENT_OPERANDS(Element, Sum), MTC_GLOBAL Element *, MTC_GLOBAL Element *dKey,         \
      MTC_GLOBAL Element *dValue, MTC_SHARED char *shared) {                                       \
    mtc::cuda::device::differentiateKeys<mtc::cuda::device::type##_##width::Backward, Element,     \
                                         Sum>(                                                     \
        *p, {{query, key, value, bias, mask}, sums, offsets, dOut}, dKey, dValue, shared);         \
  }                                                                                                \
  extern "C" void mtc_differentiate_queries_##type##_##width(                                      \
      MTC_GRADIENT_OPERANDS(Element, Sum), MTC_GLOBAL Element *dQuery, MTC_GLOBAL Element *,       \
      MTC_GLOBAL Element *, MTC_SHARED char *shared) {                                             \
    mtc::cuda::device::differentiateQueries<mtc::cuda::device::type##_##width::Backward, Element,  \
                                            Sum>(                                                  \
        *p, {{query, key, value, bias, mask}, sums, offsets, dOut}, dQuery, shared);               \
  }

MTC_ENTRIES(float, float, PlainMath, Plain, f32, 32)
MTC_ENTRIES(float, float, PlainMath, Plain, f32, 64)
MTC_ENTRIES(float, float, PlainMath, Plain, f32, 128)
MTC_ENTRIES(float, float, TensorMath, Tf32, tf32, 32)
MTC_ENTRIES(float, float, TensorMath, Tf32, tf32, 64)
MTC_ENTRIES(float, float, TensorMath, Tf32, tf32, 128)
MTC_ENTRIES(double, double, PlainMath, Plain, f64, 32)
MTC_ENTRIES(double, double, PlainMath, Plain, f64, 64)
MTC_ENTRIES(_Float16, float, PlainMath, Plain, f16, 32)
MTC_ENTRIES(_Float16, float, PlainMath, Plain, f16, 64)
MTC_ENTRIES(_Float16, float, PlainMath, Plain, f16, 128)
MTC_ENTRIES(__bf16, float, PlainMath, Plain, bf16, 32)
MTC_ENTRIES(__bf16, float, PlainMath, Plain, bf16, 64)
MTC_ENTRIES(__bf16, float, PlainMath, Plain, bf16, 128)

MTC_GRADIENT_ENTRIES(float, float, PlainMath, Plain, f32, 32)
MTC_GRADIENT_ENTRIES(float, float, PlainMath, Plain, f32, 64)
MTC_GRADIENT_ENTRIES(float, float, PlainMath, Plain, f32, 128)
MTC_GRADIENT_ENTRIES(float, float, TensorMath, Tf32, tf32, 32)
MTC_GRADIENT_ENTRIES(float, float, TensorMath, Tf32, tf32, 64)
MTC_GRADIENT_ENTRIES(double, double, PlainMath, Plain, f64, 32)
MTC_GRADIENT_ENTRIES(double, double, PlainMath, Plain, f64, 64)
MTC_GRADIENT_ENTRIES(_Float16, float, PlainMath, Plain, f16, 32)
MTC_GRADIENT_ENTRIES(_Float16, float, PlainMath, Plain, f16, 64)
MTC_GRADIENT_ENTRIES(_Float16, float, PlainMath, Plain, f16, 128)
MTC_GRADIENT_ENTRIES(__bf16, float, PlainMath, Plain, bf16, 32)
MTC_GRADIENT_ENTRIES(__bf16, float, PlainMath, Plain, bf16, 64)
MTC_GRADIENT_ENTRIES(__bf16, float, PlainMath, Plain, bf16, 128)
