/* What device code that was compiled for the CPU calls: its threads, their synchronization, and the
 * checks of its accesses. The compiler emits these calls; runtime/devices/cuda/emulated/execution
 * has the functions.
 */
#ifndef MTC_RUNTIME_ABI_EMULATION_H
#define MTC_RUNTIME_ABI_EMULATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MtcAccessKind { MTC_READ = 0, MTC_WRITE = 1, MTC_ATOMIC = 2 } MtcAccessKind;

/* An instruction of a kernel that accesses memory. */
typedef struct MtcEmulatedAccess {
  uint32_t kind;      /* MtcAccessKind */
  uint32_t bytes;     /* 0 where the code says how many each time */
  uint32_t alignment; /* that the device demands */
  int32_t parameter;  /* index of the parameter that the address is derived from; -1 if unknown */
  int64_t extent;     /* bytes that may be accessed from there on; -1 if unknown */
} MtcEmulatedAccess;

/* What a block's threads have in common. */
typedef struct MtcEmulatedBlock {
  uint32_t index[3], size[3], grid[3];
  char *shared; /* its static shared memory */
  /* The device's memory is [memory, memory + memory_bytes); the state of a byte is as far from the
   * start of `shadow`. The first MTC_SHADOW_GUARD bytes are never allocated. */
  char *memory;
  uint64_t memory_bytes; /* less MTC_SHADOW_GUARD */
  uint8_t *shadow;
} MtcEmulatedBlock;

#define MTC_SHADOW_GUARD 4096

/* Bits of a shadow byte. */
#define MTC_SHADOW_ALLOCATED 1
#define MTC_SHADOW_DEFINED 2 /* something was written there */

typedef struct MtcEmulatedThread {
  const MtcEmulatedBlock *block;
  uint32_t index[3], lane;
} MtcEmulatedThread;

/* The running thread, of a kernel that has so many bytes of static shared memory, of which every
 * access begins and ends at a multiple of `granule`: 1, 2, 4, 8 or 16. */
const MtcEmulatedThread *mtc_emulated_enter(uint32_t sharedBytes, uint32_t granule);

/* Waits for all threads of the block. `site` tells the barriers of a kernel apart, from 1. */
void mtc_emulated_barrier(uint32_t site);
/* Waits for the threads of the warp that `mask` names. */
void mtc_emulated_warp_barrier(uint32_t mask, uint32_t site);

typedef enum MtcShuffleKind {
  MTC_SHUFFLE_UP = 0,
  MTC_SHUFFLE_DOWN = 1,
  MTC_SHUFFLE_BUTTERFLY = 2,
  MTC_SHUFFLE_INDEX = 3
} MtcShuffleKind;

/* shfl.sync of the PTX ISA: the low half is the value, bit 32 says whether the source lane was in
 * range. */
uint64_t mtc_emulated_shuffle(uint32_t kind, uint32_t mask, uint32_t value, uint32_t operand,
                              uint32_t clamp, uint32_t site);

/* mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 by the 32 threads of a warp: what each holds
 * of a (four numbers of tf32, in 32 bits), b (two) and the sums (four f32, which are added to). */
void mtc_emulated_multiply_tf32(const uint32_t *a, const uint32_t *b, float *sums, uint32_t site);
/* cvt.rna.tf32.f32: rounded to nearest, ties away from zero. */
uint32_t mtc_emulated_round_tf32(float x);

/* vote.sync.ballot: the lanes of `mask` whose predicate is not 0. */
uint32_t mtc_emulated_ballot(uint32_t mask, uint32_t predicate, uint32_t site);

/* An access of global memory, before it is made. Emulated code asks only where its own check in
 * line does not say that the access is right. `parameter` is what the address is derived from, or
 * null. */
void mtc_emulated_global_access(const void *address, const char *parameter,
                                const MtcEmulatedAccess *access);
/* An access of shared memory, before it is made. */
void mtc_emulated_shared_access(const void *address, const MtcEmulatedAccess *access);
/* An access of `bytes` bytes of any memory, before it is made. */
void mtc_emulated_any_access(const void *address, uint64_t bytes, const MtcEmulatedAccess *access);

/* What CUDA's library of mathematics has and C's has not. */
float mtc_emulated_rsqrtf(float x);
double mtc_emulated_rsqrt(double x);

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_EMULATION_H */
