/* What the compiler asks about a library call of the target `cuda` before it plans memory and
 * chooses layouts. No GPU is needed to answer. */
#ifndef MTC_RUNTIME_ABI_CUDA_LIBRARY_CALL_H
#define MTC_RUNTIME_ABI_CUDA_LIBRARY_CALL_H

#include "runtime/abi/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of workspace to plan for the call, of which `description` is the struct of the kind; -1 if
 * no library computes it. Those of an attention are cuDNN's, which need not be installed: the
 * program must have code of its own for it. */
int64_t mtc_cuda_call_scratch_bytes(const char *kind, const void *description);

/* From worst to best, where operands of f32 may be rounded to `precision`: 0, no library that a
 * program needs anyway computes it as exactly; 1, by several calls; 2, by one. */
int mtc_cuda_call_support_level(const char *kind, const void *description,
                                MtcCudaPrecision precision);

/* The library that computes calls of the kind; null if none does. */
const char *mtc_cuda_call_library(const char *kind);

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_CUDA_LIBRARY_CALL_H */
