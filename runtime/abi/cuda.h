/* Code of the target `cuda` for several GPU architectures, or for their emulation on the CPU. */
#ifndef MTC_RUNTIME_ABI_CUDA_H
#define MTC_RUNTIME_ABI_CUDA_H

#include "runtime/abi/cpu.h"
#include "runtime/abi/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Format of the code, which determines on which devices it runs in addition to those of its own
 * compute capability. */
typedef enum MtcCudaCode {
  MTC_CUBIN = 0,       /* machine code (sm_90): later minor versions of the same major version */
  MTC_EXACT_CUBIN = 1, /* machine code (sm_90a): no other devices */
  MTC_PTX = 2          /* PTX (compute_90), compiled by the driver: all later devices */
} MtcCudaCode;

/* The kernels compiled for one architecture, with one image per image index of the kernels. */
typedef struct MtcCudaArchitecture {
  uint32_t major, minor; /* compute capability */
  uint32_t code;         /* MtcCudaCode */
  const MtcGpuImage *images;
} MtcCudaArchitecture;

/* Precision to which f32 contractions may round their operands. */
typedef enum MtcCudaPrecision { MTC_CUDA_F32 = 0, MTC_CUDA_TF32 = 1 } MtcCudaPrecision;

typedef struct MtcCudaProgram {
  uint32_t is_emulated;
  uint32_t precision;      /* MtcCudaPrecision */
  uint32_t driver_version; /* minimum driver version for the images, in the encoding of
                              cuDriverGetVersion: 1000 * major + 10 * minor; 0 in an emulated
                              program */
  uint32_t image_count, architecture_count; /* architecture_count is 0 in an emulated program */
  const MtcCudaArchitecture *architectures;
  const MtcCpuProgram *host; /* null if no kernel runs on the host */
} MtcCudaProgram;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_CUDA_H */
