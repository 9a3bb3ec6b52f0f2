/* Kernels of the target `cpu`: functions of the program itself. */
#ifndef MTC_RUNTIME_ABI_CPU_H
#define MTC_RUNTIME_ABI_CPU_H

#include "runtime/abi/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes items [begin, end) of a stage. Calls on disjoint ranges may run at the same time, and
 * the result does not depend on how the range is split. `operands` are the launch's. */
typedef void (*MtcCpuFunction)(char *const *operands, int64_t begin, int64_t end, MtcFault *fault);

typedef struct MtcCpuStage {
  MtcCpuFunction function;
  int64_t extent; /* items */
  int64_t grain;  /* fewest items worth a call on a thread of its own */
} MtcCpuStage;

/* Stages run one after another: each reads what the ones before it wrote. */
typedef struct MtcCpuKernel {
  uint32_t stage_count;
  const MtcCpuStage *stages;
} MtcCpuKernel;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_CPU_H */
