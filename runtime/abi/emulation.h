/* Runtime interface of emulated device code: threads, synchronization and access checks of kernels
 * that are compiled for the CPU. The compiler emits calls to these functions, which are implemented
 * in runtime/devices/cuda/emulated/execution. */
#ifndef MTC_RUNTIME_ABI_EMULATION_H
#define MTC_RUNTIME_ABI_EMULATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MtcAccessKind { MTC_READ = 0, MTC_WRITE = 1, MTC_ATOMIC = 2 } MtcAccessKind;

/* A memory access instruction of a kernel. */
typedef struct MtcEmulatedAccess {
  uint32_t kind;      /* MtcAccessKind */
  uint32_t bytes;     /* 0 if the size is passed with each access */
  uint32_t alignment; /* required by the device */
  int32_t parameter;  /* index of the parameter from which the address is derived; -1 if unknown */
  int64_t extent;     /* accessible bytes from that parameter on; -1 if unknown */
} MtcEmulatedAccess;

/* State shared by the threads of a block. */
typedef struct MtcEmulatedBlock {
  uint32_t index[3], size[3], grid[3];
  char *shared; /* its static shared memory */
  /* Device memory is [memory, memory + memory_bytes). The shadow byte of a byte at `memory + i` is
   * `shadow[i]`. The first MTC_SHADOW_GUARD bytes are never allocated. */
  char *memory;
  uint64_t memory_bytes; /* excluding MTC_SHADOW_GUARD */
  uint8_t *shadow;
} MtcEmulatedBlock;

#define MTC_SHADOW_GUARD 4096

/* Bits of a shadow byte. */
#define MTC_SHADOW_ALLOCATED 1
#define MTC_SHADOW_DEFINED 2 /* the byte has been written */

typedef struct MtcEmulatedThread {
  const MtcEmulatedBlock *block;
  uint32_t index[3], lane;
} MtcEmulatedThread;

/* Returns the running thread. The kernel has `sharedBytes` bytes of static shared memory, and every
 * shared-memory access begins and ends at a multiple of `granule`, which is 1, 2, 4, 8 or 16. */
const MtcEmulatedThread *mtc_emulated_enter(uint32_t sharedBytes, uint32_t granule);

/* Waits for all threads of the block. `site` identifies the barrier within the kernel, from 1. */
void mtc_emulated_barrier(uint32_t site);
/* Waits for the threads of the warp in `mask`. */
void mtc_emulated_warp_barrier(uint32_t mask, uint32_t site);

typedef enum MtcShuffleKind {
  MTC_SHUFFLE_UP = 0,
  MTC_SHUFFLE_DOWN = 1,
  MTC_SHUFFLE_BUTTERFLY = 2,
  MTC_SHUFFLE_INDEX = 3
} MtcShuffleKind;

/* shfl.sync of the PTX ISA. The low half of the result is the value; bit 32 is set if the source
 * lane was in range. */
uint64_t mtc_emulated_shuffle(uint32_t kind, uint32_t mask, uint32_t value, uint32_t operand,
                              uint32_t clamp, uint32_t site);

/* mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 by the 32 threads of a warp. Each thread
 * passes its fragments of a (four tf32 values, each in 32 bits), b (two) and the accumulators
 * `sums` (four f32 values, updated in place). */
void mtc_emulated_multiply_tf32(const uint32_t *a, const uint32_t *b, float *sums, uint32_t site);
/* cvt.rna.tf32.f32: rounds to nearest, ties away from zero. */
uint32_t mtc_emulated_round_tf32(float x);

/* vote.sync.ballot: returns the lanes of `mask` whose predicate is nonzero. */
uint32_t mtc_emulated_ballot(uint32_t mask, uint32_t predicate, uint32_t site);

/* Checks a global-memory access before it is made. Emulated code calls it only if its inline check
 * does not prove the access valid. `parameter` is the pointer from which the address is derived, or
 * null. */
void mtc_emulated_global_access(const void *address, const char *parameter,
                                const MtcEmulatedAccess *access);
/* Checks a shared-memory access before it is made. */
void mtc_emulated_shared_access(const void *address, const MtcEmulatedAccess *access);
/* Checks an access of `bytes` bytes in any memory before it is made. */
void mtc_emulated_any_access(const void *address, uint64_t bytes, const MtcEmulatedAccess *access);

/* Functions of the CUDA math library that the C library lacks. */
float mtc_emulated_rsqrtf(float x);
double mtc_emulated_rsqrt(double x);

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_EMULATION_H */
