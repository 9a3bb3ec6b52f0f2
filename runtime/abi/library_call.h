/* What the compiler asks about a library call before it plans memory and chooses layouts.
 *
 * The answers come from the same code (library `mtc_library_calls`) that runs calls inside produced
 * programs, so that planned scratch is what the run needs. `description` is the struct of the kind.
 */
#ifndef MTC_RUNTIME_ABI_LIBRARY_CALL_H
#define MTC_RUNTIME_ABI_LIBRARY_CALL_H

#include "runtime/abi/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a call would be run, from worst to best. */
typedef enum MtcSupportLevel {
  MTC_CALL_UNSUPPORTED = 0, /* no implementation for its element type on this machine */
  MTC_CALL_LOOPS = 1,       /* plain loops: f64, or a sum over nothing */
  MTC_CALL_PACKED = 2, /* an operand or a result is copied through a dense buffer in the scratch */
  MTC_CALL_ALLOCATES = 3, /* full throughput, with packing buffers from outside the arena */
  MTC_CALL_FAST = 4       /* full throughput, all memory in the scratch */
} MtcSupportLevel;

/* Bytes of scratch that a run with any number of threads from 1 to `threads` needs; 0 if none, -1
 * if unsupported. */
int64_t mtc_call_scratch_bytes(const char *kind, const void *description, int threads);

/* How a run with `threads` threads would go. */
MtcSupportLevel mtc_call_support_level(const char *kind, const void *description, int threads);

/* Whether a generated kernel is faster than the call; 0 for kinds that no kernel computes. */
int mtc_call_is_faster_as_kernel(const char *kind, const void *description);

/* Whether this machine's library multiplies elements of a 16-bit type faster than f32. Calls whose
 * records say `f32_products` do not ask for it. */
int mtc_multiplies(uint32_t type);

/* Prepares the call for one thread and runs it once, with scratch of its own: for tools. `buffers`
 * are those of operands and results. 0 if unsupported. */
int mtc_call_run(const MtcCall *call, char *const *buffers);

/* Seconds of a run of the call on `threads` threads, each of which runs one of its own meanwhile,
 * over their number; the fewest of some. There is memory for each: `bytes` of each of its `count`
 * operands and results. They are the processor's, so that what else the machine does does not
 * count. Negative if it cannot be run. */
double mtc_call_seconds(const char *kind, const void *description, const int64_t *bytes, int count,
                        int threads);
/* The same of copying a block of `bytes` bytes: it reads and writes as many each. Of several
 * threads they are the clock's. */
double mtc_copy_seconds(int64_t bytes, int threads);

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_LIBRARY_CALL_H */
