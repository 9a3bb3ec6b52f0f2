#ifndef MTC_PASSES
#define MTC_PASSES

include "passes/kernels/KernelPasses.td"
include "passes/memory/MemoryPasses.td"

#endif // MTC_PASSES
