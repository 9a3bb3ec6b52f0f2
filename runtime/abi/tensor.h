/* Tensors in the arenas of a program. Every offset is in bytes from the start of an arena and is a
 * multiple of MTC_ALIGNMENT, except for offsets inside a value. */
#ifndef MTC_RUNTIME_ABI_TENSOR_H
#define MTC_RUNTIME_ABI_TENSOR_H

#include "runtime/abi/element_types.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MTC_ALIGNMENT 64
#define MTC_MAX_RANK 12

/* A dense row-major tensor in an arena. `dims` has `rank` extents; null for rank 0. */
typedef struct MtcTensor {
  const char *name;
  uint32_t type; /* MtcType */
  uint32_t rank;
  const int64_t *dims;
  int64_t offset;
  int64_t bytes;
  uint32_t space; /* MtcSpace of its arena */
} MtcTensor;

/* Memory space of an arena. Kernels and calls access only the device arena, and kernels on the host
 * only the pinned host arena. */
typedef enum MtcSpace {
  MTC_DEVICE = 0,
  MTC_PINNED_HOST = 1, /* page-locked host memory, accessible to the device's copy engines */
  MTC_HOST = 2,
  MTC_DISK = 3 /* a file, which is not addressable */
} MtcSpace;
/* Alignment of the disk ranges that a function copies: each begins at a multiple of MTC_PAGE and
 * shares its last page with no other range. */
#define MTC_PAGE 4096

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_TENSOR_H */
