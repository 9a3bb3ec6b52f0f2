/* A contraction as a program describes it to the runtime. */
#ifndef MTC_RUNTIME_ABI_CONTRACTION_H
#define MTC_RUNTIME_ABI_CONTRACTION_H

#include "runtime/abi/program.h"

/* Places: lhs, rhs; out.
 * out[b.., m, n] (+)= sum over k of lhs[b.., m, k] * rhs[b.., k, n], with strides in elements for
 * every dimension. The batch has batch_rank dimensions; index batch_rank is m (lhs, out) or k
 * (rhs), batch_rank + 1 is k (lhs) or n. */
typedef struct MtcContraction {
  uint32_t type; /* of both operands and the result */
  uint32_t batch_rank;
  int64_t batch[MTC_MAX_RANK - 2];
  int64_t m, n, k;
  int64_t lhs_strides[MTC_MAX_RANK], rhs_strides[MTC_MAX_RANK], out_strides[MTC_MAX_RANK];
  uint32_t accumulate; /* add to what `out` holds */
} MtcContraction;

#endif /* MTC_RUNTIME_ABI_CONTRACTION_H */
