/* ABI record of contraction calls: the shapes, strides and types that a program passes to the
 * runtime. */
#ifndef MTC_RUNTIME_ABI_CONTRACTION_H
#define MTC_RUNTIME_ABI_CONTRACTION_H

#include "runtime/abi/activation.h"
#include "runtime/abi/algorithm.h"
#include "runtime/abi/program.h"
#include "runtime/abi/storage.h"

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

/* Operands: lhs, rhs, addends, the preactivation of MTC_GELU_GRADIENT. Results: out, the auxiliary
 * output z (optional), sums (optional).
 *
 * out[b.., m, n] (+)= sum over k of lhs[b.., m, k] * rhs[b.., k, n] + sum of the addends[b.., m, n]
 *
 * Strides are in elements, one per dimension; an addend broadcasts along a dimension of stride 0,
 * as a bias does. There are batch_rank batch dimensions; index batch_rank is m (lhs, addends, out)
 * or k (rhs), index batch_rank + 1 is k (lhs) or n. No addend overlaps out; use `accumulate` to add
 * to out in place. With an activation, out is the activation of z, the value of the formula above.
 * The preactivation and the auxiliary output have the strides of out; sums is dense. 16-bit
 * elements are accumulated in f32 and rounded once, when the result is stored in 16 bits. An
 * operand in compressed storage (MtcStorage) has no batch; its strides refer to its elements in
 * storage order. */
typedef struct MtcContraction {
  uint32_t type; /* type of all operands and results, except where an f32 flag below is set */
  uint32_t batch_rank;
  int64_t batch[MTC_MAX_RANK - 2];
  int64_t m, n, k;
  int64_t lhs_strides[MTC_MAX_RANK], rhs_strides[MTC_MAX_RANK], out_strides[MTC_MAX_RANK];
  uint32_t accumulate; /* add to the previous contents of `out` */
  uint32_t addend_count;
  int64_t addend_strides[MTC_MAX_ADDENDS][MTC_MAX_RANK];
  uint32_t activation; /* MtcActivation */
  uint32_t has_auxiliary;
  uint32_t summed; /* MtcSummed */
  /* For a 16-bit `type`: */
  uint32_t f32_result;                   /* out, preactivation, auxiliary output and sums are f32 */
  uint32_t f32_addends[MTC_MAX_ADDENDS]; /* the addend is f32 */
  uint32_t f32_products; /* multiply in f32, because the target CPU has no 16-bit multiply
                            instructions */
  uint32_t lhs_storage, rhs_storage; /* MtcStorage, which overrides `type` */
  uint32_t algorithm;                /* MtcAlgorithm */
} MtcContraction;

#endif /* MTC_RUNTIME_ABI_CONTRACTION_H */
