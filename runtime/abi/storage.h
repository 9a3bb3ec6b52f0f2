/* Compressed storage of read-only matrices: fewer bits than the type of the computation. */
#ifndef MTC_RUNTIME_ABI_STORAGE_H
#define MTC_RUNTIME_ABI_STORAGE_H

#include <stdint.h>

typedef enum MtcStorage {
  MTC_STORED_AS_IS = 0,
  MTC_STORED_BF16 = 1,
  /* 4-bit NormalFloat codes (Dettmers et al., "QLoRA", 2023), two per byte, the first in the upper
   * half. At byte offset mtc_nf4_scales follows one f32 scale per block of 64 elements; an element
   * is the value of its code times that scale. */
  MTC_STORED_NF4 = 2
} MtcStorage;

#define MTC_NF4_BLOCK 64
/* The values of the codes, from code 0 on; equal to those of bitsandbytes. */
#define MTC_NF4_VALUES                                                                             \
  {-1.0f,                                                                                          \
   -0.6961928009986877f,                                                                           \
   -0.5250730514526367f,                                                                           \
   -0.39491748809814453f,                                                                          \
   -0.28444138169288635f,                                                                          \
   -0.18477343022823334f,                                                                          \
   -0.09105003625154495f,                                                                          \
   0.0f,                                                                                           \
   0.07958029955625534f,                                                                           \
   0.16093020141124725f,                                                                           \
   0.24611230194568634f,                                                                           \
   0.33791524171829224f,                                                                           \
   0.44070982933044434f,                                                                           \
   0.5626170039176941f,                                                                            \
   0.7229568362236023f,                                                                            \
   1.0f}

/* Returns the byte offset of the block scales. */
static inline int64_t mtc_nf4_scales(int64_t elements) { return (elements + 127) / 128 * 64; }

static inline int64_t mtc_nf4_bytes(int64_t elements) {
  return mtc_nf4_scales(elements) + (elements + MTC_NF4_BLOCK - 1) / MTC_NF4_BLOCK * 4;
}

#endif /* MTC_RUNTIME_ABI_STORAGE_H */
