/* Compile-time queries about library calls, which the compiler uses for memory planning and layout
 * selection.
 *
 * The queries run the same code (library `mtc_library_calls`) that executes calls inside compiled
 * programs, so that the planned scratch size matches the run. `description` is the record of the
 * call's kind. */
#ifndef MTC_RUNTIME_ABI_LIBRARY_CALL_H
#define MTC_RUNTIME_ABI_LIBRARY_CALL_H

#include "runtime/abi/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Who computes the library calls of the target `cpu`. */
typedef enum MtcCallLibrary {
  MTC_ONEDNN = 0,
  MTC_BUILT_IN = 1 /* the runtime's own code, which has the same scratch size on every processor */
} MtcCallLibrary;

/* How the library would run a call, from worst to best. */
typedef enum MtcSupportLevel {
  MTC_CALL_UNSUPPORTED = 0, /* no implementation for the element type on this machine */
  MTC_CALL_LOOPS = 1,       /* plain loops: f64, or an empty reduction */
  MTC_CALL_PACKED = 2,    /* an operand or result is copied through a dense buffer in the scratch */
  MTC_CALL_ALLOCATES = 3, /* full throughput, with packing buffers allocated outside the arena */
  MTC_CALL_FAST = 4       /* full throughput, with all memory in the scratch */
} MtcSupportLevel;

/* Returns the scratch size in bytes that suffices for any number of threads from 1 to `threads`; 0
 * if no scratch is needed, -1 if the call is unsupported. */
int64_t mtc_call_scratch_bytes(MtcCallLibrary library, const char *kind, const void *description,
                               int threads);

/* Returns the support level of a run with `threads` threads. */
MtcSupportLevel mtc_call_support_level(MtcCallLibrary library, const char *kind,
                                       const void *description, int threads);

/* Returns whether a generated kernel is faster than the library call; 0 for kinds without a kernel
 * implementation. */
int mtc_call_is_faster_as_kernel(MtcCallLibrary library, const char *kind, const void *description);

/* Returns whether the library multiplies elements of a 16-bit type faster than f32 on this machine.
 * Calls whose record has another `product_type` do not multiply the type itself. */
int mtc_multiplies(MtcCallLibrary library, uint32_t type);

/* Prepares the call for one thread and runs it once, with its own scratch; for tools. `buffers` are
 * the operands, then the results. Returns 0 if the call is unsupported. */
int mtc_call_run(const MtcCall *call, char *const *buffers);

/* Returns the CPU time in seconds of one run of the call, divided by `threads`, while each of
 * `threads` threads runs its own copy: the minimum over several runs, and the maximum over the
 * threads. Each thread allocates `bytes[i]` bytes for each of its `count` operands and results. CPU
 * time excludes other load on the machine. Negative if the call cannot be run. */
double mtc_call_seconds(MtcCallLibrary library, const char *kind, const void *description,
                        const int64_t *bytes, int count, int threads);
/* Times `count` calls of one kind that read and write the same operands and results in different
 * algorithms: sets `seconds[i]` to the CPU time of a run of `descriptions[i]` on one thread,
 * negative if it cannot be run. The calls run in turn on the same buffers, of which the i-th of
 * `buffers` has `bytes[i]` bytes, and the slow ones only once. Returns the CPU time of it all. */
double mtc_compare_calls(MtcCallLibrary library, const char *kind, const void *const *descriptions,
                         int count, const int64_t *bytes, int buffers, double *seconds);

/* Returns the version of the library and the instructions that it uses; "" for the runtime's own
 * code, which is part of the compiler. */
const char *mtc_library_version(MtcCallLibrary library);

/* Returns the time in seconds to copy a block of `bytes` bytes, that is, to read and to write
 * `bytes` bytes each. With several threads it is wall-clock time. */
double mtc_copy_seconds(int64_t bytes, int threads);

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_LIBRARY_CALL_H */
