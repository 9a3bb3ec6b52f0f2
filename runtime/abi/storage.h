/* How matrices that are never written may be stored: in fewer bits than what is computed with. */
#ifndef MTC_RUNTIME_ABI_STORAGE_H
#define MTC_RUNTIME_ABI_STORAGE_H

#include <stdint.h>

typedef enum MtcStorage {
  MTC_STORED_AS_IS = 0,
  MTC_STORED_BF16 = 1,
  /* 4-bit codes of the normal float (Dettmers et al., "QLoRA", 2023), two in a byte, the first in
   * its upper half; then, at mtc_nf4_scales, for each block of 64 elements an f32: an element is
   * its code's value times that. */
  MTC_STORED_NF4 = 2
} MtcStorage;

#define MTC_NF4_BLOCK 64
/* The values of the codes from 0 on, as bitsandbytes has them. */
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

/* The byte at which the blocks' scales begin. */
static inline int64_t mtc_nf4_scales(int64_t elements) { return (elements + 127) / 128 * 64; }

static inline int64_t mtc_nf4_bytes(int64_t elements) {
  return mtc_nf4_scales(elements) + (elements + MTC_NF4_BLOCK - 1) / MTC_NF4_BLOCK * 4;
}

#endif /* MTC_RUNTIME_ABI_STORAGE_H */
