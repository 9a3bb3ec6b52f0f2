/* Kernels of the target `cuda`: functions of images that the driver loads, or their emulation. */
#ifndef MTC_RUNTIME_ABI_CUDA_H
#define MTC_RUNTIME_ABI_CUDA_H

#include "runtime/abi/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs one thread of a launch. `parameters` are addresses, as the device function takes them; which
 * thread of which block it is, and its shared memory, are the emulator's. */
typedef void (*MtcEmulatedFunction)(char *const *parameters);

/* One launch on the device. Its parameters are addresses: the operands of the kernel's operation in
 * their order (inputs, results, scratch if there is any), then, if the kernel may fault, that of an
 * MtcFault in the device's memory. */
typedef struct MtcCudaLaunch {
  const char *symbol;           /* in the kernel's image */
  MtcEmulatedFunction emulated; /* null in a program for a device */
  uint32_t grid[3], block[3];
  uint32_t
      shared_bytes; /* static shared memory of a block; nothing more is asked for at a launch */
} MtcCudaLaunch;

/* What MtcKernel::code and MtcCall::code point to. Launches run one after another: each reads what
 * the ones before it wrote. */
typedef struct MtcCudaKernel {
  uint32_t image; /* index into images; unused in an emulated program */
  uint32_t launch_count;
  const MtcCudaLaunch *launches;
} MtcCudaKernel;

/* What code is, and on which devices it runs, beside those of its own compute capability. */
typedef enum MtcCudaCode {
  MTC_CUBIN = 0,       /* machine code (sm_90): later ones of its major number */
  MTC_EXACT_CUBIN = 1, /* machine code (sm_90a): none */
  MTC_PTX = 2          /* PTX (compute_90), which the driver compiles: all later ones */
} MtcCudaCode;

/* Code of some kernels for one architecture, as the driver loads it. */
typedef struct MtcCudaImage {
  const void *bytes;  /* a cubin, or the text of PTX with a zero byte at its end */
  int64_t byte_count; /* with that zero byte */
} MtcCudaImage;

/* The same kernels for one architecture: its images, one for each index that kernels name. */
typedef struct MtcCudaArchitecture {
  uint32_t major, minor; /* compute capability */
  uint32_t code;         /* MtcCudaCode */
  const MtcCudaImage *images;
} MtcCudaArchitecture;

/* What contractions of f32 may take their operands rounded to. */
typedef enum MtcCudaPrecision { MTC_CUDA_F32 = 0, MTC_CUDA_TF32 = 1 } MtcCudaPrecision;

typedef struct MtcCudaProgram {
  uint32_t is_emulated;
  uint32_t precision;      /* MtcCudaPrecision */
  uint32_t driver_version; /* that the images need at least, as cuDriverGetVersion counts: 1000 for
                              a major version, 10 for a minor one; 0 in an emulated program */
  uint32_t image_count, architecture_count; /* architecture_count is 0 in an emulated program */
  const MtcCudaArchitecture *architectures;
} MtcCudaProgram;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_CUDA_H */
