/* Compile-time queries about library calls of the target `cuda`, which the compiler uses for memory
 * planning and layout selection. They need no GPU. */
#ifndef MTC_RUNTIME_ABI_CUDA_LIBRARY_CALL_H
#define MTC_RUNTIME_ABI_CUDA_LIBRARY_CALL_H

#include "runtime/abi/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the workspace in bytes to plan for the call, where `description` is the record of the
 * kind; -1 if no library computes the call. For attention this is the workspace of cuDNN, which may
 * be missing at run time: the program must then have its own code for the call. */
int64_t mtc_cuda_call_scratch_bytes(const char *kind, const void *description);

/* Returns how well libraries support the call when f32 operands may be rounded to `precision`, from
 * worst to best: 0 if no library that every program requires computes it at this precision; 1 if it
 * takes several library calls; 2 if it takes one. */
int mtc_cuda_call_support_level(const char *kind, const void *description,
                                MtcCudaPrecision precision);

/* Returns the fraction of its usual rate that the library reaches with the layout of the call's
 * tensors, for the cost model. */
double mtc_cuda_call_efficiency(const char *kind, const void *description,
                                MtcCudaPrecision precision);

/* Returns the name of the library that computes calls of the kind; null if there is none. */
const char *mtc_cuda_call_library(const char *kind);

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_CUDA_LIBRARY_CALL_H */
