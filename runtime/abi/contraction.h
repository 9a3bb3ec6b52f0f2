/* ABI record of contraction calls: the shapes, strides and types that a program passes to the
 * runtime. */
#ifndef MTC_RUNTIME_ABI_CONTRACTION_H
#define MTC_RUNTIME_ABI_CONTRACTION_H

#include "runtime/abi/activation.h"
#include "runtime/abi/algorithm.h"
#include "runtime/abi/storage.h"
#include "runtime/abi/tensor.h"

#define MTC_CONTRACTION "contraction" /* described by an MtcContraction */

/* The maximum number of addends of a contraction. */
#define MTC_MAX_ADDENDS 2

/* An additional reduction that a contraction computes: out over m, lhs over k, or rhs over k. The
 * contraction then has no batch dimension. */
typedef enum MtcSummed {
  MTC_NOTHING_SUMMED = 0,
  MTC_RESULT_SUMMED = 1,
  MTC_LHS_SUMMED = 2,
  MTC_RHS_SUMMED = 3
} MtcSummed;

/* Operands: lhs, rhs, their scales (optional), addends, the preactivation of MTC_GELU_GRADIENT.
 * Results: out, the auxiliary output z (optional), sums (optional).
 *
 * out[b.., m, n] (+)= sum over k of lhs[b.., m, k] * rhs[b.., k, n] + sum of the addends[b.., m, n]
 *
 * where lhs and rhs stand for their elements times their scale, one f32 each, if they have scales.
 *
 * Strides are in elements, one per dimension; an addend broadcasts along a dimension of stride 0,
 * as a bias does. There are batch_rank batch dimensions; index batch_rank is m (lhs, addends, out)
 * or k (rhs), index batch_rank + 1 is k (lhs) or n. No addend overlaps out; use `accumulate` to add
 * to out in place. With an activation, out is the activation of z, the value of the formula above.
 * The preactivation and the auxiliary output have the strides of out; sums is dense. Products of
 * elements narrower than f32 are summed in f32 and rounded once, when the result is stored. An
 * operand in compressed storage (MtcStorage) has no batch; its strides refer to its elements in
 * storage order. */
typedef struct MtcContraction {
  uint32_t lhs_type, rhs_type; /* MtcType, as the other types: equal, or both floats of 8 bits */
  uint32_t out_type;           /* of out, the preactivation, the auxiliary output and sums */
  uint32_t addend_types[MTC_MAX_ADDENDS]; /* lhs_type for absent addends */
  uint32_t product_type; /* elements of lhs and rhs are converted to it before they are multiplied:
                            lhs_type, or a wider type for processors that do not multiply it */
  uint32_t has_scales;   /* of lhs and rhs, which then are floats of 8 bits */
  uint32_t batch_rank;
  int64_t batch[MTC_MAX_RANK - 2];
  int64_t m, n, k;
  int64_t lhs_strides[MTC_MAX_RANK], rhs_strides[MTC_MAX_RANK], out_strides[MTC_MAX_RANK];
  uint32_t accumulate; /* add to the previous contents of `out` */
  uint32_t addend_count;
  int64_t addend_strides[MTC_MAX_ADDENDS][MTC_MAX_RANK];
  uint32_t activation; /* MtcActivation */
  uint32_t has_auxiliary;
  uint32_t summed;                   /* MtcSummed */
  uint32_t lhs_storage, rhs_storage; /* MtcStorage, which overrides the operand's type in memory */
  uint32_t algorithm;                /* MtcAlgorithm */
} MtcContraction;

/* Gives all operands and results the same type, in which they are multiplied. */
static inline void mtc_set_contraction_types(MtcContraction *c, uint32_t type) {
  c->lhs_type = c->rhs_type = c->out_type = c->product_type = type;
  for (int i = 0; i < MTC_MAX_ADDENDS; ++i)
    c->addend_types[i] = type;
}

#endif /* MTC_RUNTIME_ABI_CONTRACTION_H */
