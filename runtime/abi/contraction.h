/* A contraction as a program describes it to the runtime. */
#ifndef MTC_RUNTIME_ABI_CONTRACTION_H
#define MTC_RUNTIME_ABI_CONTRACTION_H

#include "runtime/abi/activation.h"
#include "runtime/abi/program.h"
#include "runtime/abi/storage.h"

#define MTC_CONTRACTION "contraction" /* described by MtcContraction */

/* The maximum number of tensors that a contraction adds to its sums. */
#define MTC_MAX_ADDENDS 2

/* What is summed besides: out over m, lhs over k or rhs over k. There is no batch then. */
typedef enum MtcSummed {
  MTC_NOTHING_SUMMED = 0,
  MTC_RESULT_SUMMED = 1,
  MTC_LHS_SUMMED = 2,
  MTC_RHS_SUMMED = 3
} MtcSummed;

/* Operands: lhs, rhs, addends, the preactivation of MTC_GELU_GRADIENT. Results: out, the auxiliary
 * output z if there is one, sums.
 * out[b.., m, n] (+)= sum over k of lhs[b.., m, k] * rhs[b.., k, n] + sum of the addends[b.., m,
 * n], with strides in elements for every dimension (0 in an addend: the same along it, as a bias
 * is). The batch has batch_rank dimensions; index batch_rank is m (lhs, addends, out) or k (rhs),
 * batch_rank + 1 is k (lhs) or n. No addend overlaps out: one that lies there is `accumulate`.
 * With an activation, out is that of these sums z. The preactivation and the auxiliary output have
 * the strides of out; the sums are dense. Sums of 16-bit elements are kept in f32, and rounded once
 * where they are stored in 16 bits. A stored matrix has no batch; its strides are of its elements
 * in their order there. */
typedef struct MtcContraction {
  uint32_t type; /* of all operands and results but those that are f32 below */
  uint32_t batch_rank;
  int64_t batch[MTC_MAX_RANK - 2];
  int64_t m, n, k;
  int64_t lhs_strides[MTC_MAX_RANK], rhs_strides[MTC_MAX_RANK], out_strides[MTC_MAX_RANK];
  uint32_t accumulate; /* add to what `out` holds */
  uint32_t addend_count;
  int64_t addend_strides[MTC_MAX_ADDENDS][MTC_MAX_RANK];
  uint32_t activation; /* MtcActivation */
  uint32_t has_auxiliary;
  uint32_t summed; /* MtcSummed */
  /* Where `type` has 16 bits: */
  uint32_t f32_result; /* out, and the preactivation, auxiliary output and sums, are f32 */
  uint32_t f32_addends[MTC_MAX_ADDENDS]; /* the addend is */
  uint32_t f32_products; /* the processor multiplies in f32: the target has no such instructions */
  uint32_t lhs_storage, rhs_storage; /* MtcStorage: instead of `type` */
  uint32_t unused;                   /* 0 */
} MtcContraction;

#endif /* MTC_RUNTIME_ABI_CONTRACTION_H */
