/* Attention as a program describes it to the runtime. */
#ifndef MTC_RUNTIME_ABI_ATTENTION_H
#define MTC_RUNTIME_ABI_ATTENTION_H

#include "runtime/abi/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both described by MtcAttention. */
#define MTC_ATTENTION "attention"
#define MTC_ATTENTION_GRADIENT "attention gradient"

/* For each batch entry b, head h and query i, over the keys j that take part, with head g = h *
 * key_heads / heads of keys and values:
 *
 *   score[j] = scale * (query[b, h, i] . key[b, g, j]) + bias[b, h, i, j]
 *   logsumexp[b, h, i] = log(sum over j of e^score[j])
 *   out[b, h, i] = sum over j of e^(score[j] - logsumexp[b, h, i]) * value[b, g, j]
 *
 * A key takes part where mask is absent or true, and, if causal, j <= i + causal_offset. A row of
 * no keys, or of scores that are all -inf, gives out = 0 and logsumexp = +inf.
 *
 * Tensors have four axes, [batch, heads, queries or keys, width]; strides are in elements, and that
 * of the last axis is 1, except for bias and mask, which are [batch, heads, queries, keys] with any
 * strides (0: broadcast). logsumexp and offsets are dense [batch, heads, queries]; they are f32
 * where the other tensors have 16-bit elements.
 *
 * MTC_ATTENTION: query, key, value, bias if there is one, mask (one byte an element) if there is
 * one; out, logsumexp.
 * MTC_ATTENTION_GRADIENT: the same operands, then logsumexp, offsets, d_out, and out if it is
 * given; d_query, d_key, d_value. offsets[b, h, i] is what is subtracted from the cotangent of a
 * probability: out . d_out, less the cotangent of the logsumexp. out is given where that cotangent
 * is 0, to libraries that compute the offsets themselves. */
typedef struct MtcAttention {
  uint32_t type; /* of all tensors but the mask, and of logsumexp and offsets if it has 32 bits */
  uint32_t has_bias, has_mask, is_causal;
  uint32_t has_out, unused; /* whether a gradient is given out; 0 */
  int64_t causal_offset;
  int64_t batch, heads, key_heads, queries, keys, width, value_width;
  double scale;
  int64_t query[4], key[4], value[4], bias[4], mask[4]; /* strides */
  int64_t out[4];                                       /* of out or d_out */
  int64_t saved_out[4];                                 /* of out, where a gradient is given it */
  int64_t d_query[4], d_key[4], d_value[4];
} MtcAttention;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_ATTENTION_H */
