/* What the compiler asks about a contraction before it plans memory and chooses layouts.
 *
 * The answers come from the same code (library `mtc_contraction`) that runs contractions inside
 * produced programs, so that planned scratch is what the run needs.
 */
#ifndef MTC_RUNTIME_ABI_CONTRACTION_H
#define MTC_RUNTIME_ABI_CONTRACTION_H

#include "runtime/abi/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a contraction would be run, from worst to best. */
typedef enum MtcContractionRate {
  MTC_CONTRACTION_UNSUPPORTED = 0, /* no implementation for its element type on this machine */
  MTC_CONTRACTION_LOOPS = 1,       /* plain loops: f64, or a sum over nothing */
  MTC_CONTRACTION_PACKED =
      2, /* an operand or the result is copied through a dense buffer in the scratch */
  MTC_CONTRACTION_ALLOCATES =
      3, /* full rate, but the library takes packing buffers from outside the arena */
  MTC_CONTRACTION_FAST = 4 /* full rate, all memory in the scratch */
} MtcContractionRate;

/* Bytes of scratch that a run with any number of threads from 1 to `threads` needs; 0 if none, -1
 * if unsupported. The field scratch_bytes is not read. */
int64_t mtc_contraction_scratch_bytes(const MtcContraction *contraction, int threads);

/* How a run with `threads` threads would go. */
MtcContractionRate mtc_contraction_rate(const MtcContraction *contraction, int threads);

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_CONTRACTION_H */
