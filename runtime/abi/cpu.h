/* Kernels of the target `cpu`: functions inside the program. */
#ifndef MTC_RUNTIME_ABI_CPU_H
#define MTC_RUNTIME_ABI_CPU_H

#include "runtime/abi/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes items [begin, end) of a stage. Calls on disjoint ranges may run concurrently; the result
 * does not depend on how the range is split. `operands` are the operands of the launch. */
typedef void (*MtcCpuFunction)(char *const *operands, int64_t begin, int64_t end, MtcFault *fault);

typedef struct MtcCpuStage {
  MtcCpuFunction function;
  int64_t extent; /* number of items */
  int64_t grain;  /* minimum number of items per call on a separate thread */
} MtcCpuStage;

/* A kernel as a sequence of stages. Each stage starts after the previous one has completed and may
 * read its results. */
typedef struct MtcCpuKernel {
  uint32_t stage_count;
  const MtcCpuStage *stages;
} MtcCpuKernel;

/* The target's data of a program (MtcProgram::target_data). */
typedef struct MtcCpuProgram {
  const char *processor; /* the value of --cpu: "host", or a processor's LLVM name */
  /* LLVM names of the features that the kernels may use, separated by commas: see
   * runtime/abi/processor.h */
  const char *features;
} MtcCpuProgram;

#ifdef __cplusplus
}
#endif

#endif /* MTC_RUNTIME_ABI_CPU_H */
