/* ABI record of attention calls: the shapes, strides and types that a program passes to the
 * runtime. */
#ifndef MTC_RUNTIME_ABI_ATTENTION_H
#define MTC_RUNTIME_ABI_ATTENTION_H

#include "runtime/abi/element_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both kinds are described by an MtcAttention. */
#define MTC_ATTENTION "attention"
#define MTC_ATTENTION_GRADIENT "attention gradient"

/* For each batch entry b, query head h and query i, over the unmasked keys j, with key/value head g
 * = h * key_heads / heads (grouped-query attention):
 *
 *   score[j] = scale * (query[b, h, i] . key[b, g, j]) + bias[b, h, i, j]
 *   logsumexp[b, h, i] = log(sum over j of e^score[j])
 *   out[b, h, i] = sum over j of e^(score[j] - logsumexp[b, h, i]) * value[b, g, j]
 *
 * Key j is unmasked if mask is absent or true, and, with is_causal, j <= i + causal_offset. A query
 * without unmasked keys, or whose scores are all -inf, has out = 0 and logsumexp = +inf.
 *
 * Tensors have four axes, [batch, heads, queries or keys, width]. Strides are in elements; the
 * stride of the last axis is 1, except for bias and mask, which are [batch, heads, queries, keys]
 * with arbitrary strides (0: broadcast). logsumexp and offsets are dense [batch, heads, queries];
 * their type is f32 if the other tensors have a 16-bit type.
 *
 * MTC_ATTENTION: operands query, key, value, bias (optional), mask (optional, one byte per
 * element); results out, logsumexp.
 *
 * MTC_ATTENTION_GRADIENT: the operands of MTC_ATTENTION, then logsumexp, offsets, d_out and
 * (optional) out; results d_query, d_key, d_value. offsets[b, h, i] is subtracted from the
 * cotangent of each probability: out . d_out minus the cotangent of logsumexp. `out` is passed only
 * if that cotangent is 0, for libraries that compute the offsets themselves. */
typedef struct MtcAttention {
  uint32_t type; /* type of all tensors except the mask; a 32-bit type also applies to logsumexp and
                    offsets */
  uint32_t has_bias, has_mask, is_causal;
  uint32_t has_out, unused; /* has_out: the gradient has operand `out`; unused: 0 */
  int64_t causal_offset;
  int64_t batch, heads, key_heads, queries, keys, width, value_width;
  double scale;
  int64_t query[4], key[4], value[4], bias[4], mask[4]; /* strides */
  int64_t out[4];                                       /* strides of out or d_out */
  int64_t saved_out[4];                                 /* strides of `out` in the gradient */
  int64_t d_query[4], d_key[4], d_value[4];
} MtcAttention;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_ATTENTION_H */
