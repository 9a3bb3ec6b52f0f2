// Compile-time queries about calls of the target `cuda`.
#include "runtime/abi/cuda_library_call.h"

#include "runtime/devices/cuda/call_planner.h"

using namespace mtc::runtime::cuda;

extern "C" int64_t mtc_cuda_call_scratch_bytes(const char *kind, const void *description) {
  const CallPlanner *planner = findCallPlanner(kind);
  return planner ? planner->scratchBytes(description) : -1;
}

extern "C" int mtc_cuda_call_support_level(const char *kind, const void *description,
                                           MtcCudaPrecision precision) {
  const CallPlanner *planner = findCallPlanner(kind);
  return planner ? planner->supportLevel(description, precision) : 0;
}

extern "C" double mtc_cuda_call_efficiency(const char *kind, const void *description,
                                           MtcCudaPrecision precision) {
  const CallPlanner *planner = findCallPlanner(kind);
  return planner && planner->efficiency ? planner->efficiency(description, precision) : 1;
}

extern "C" const char *mtc_cuda_call_library(const char *kind) {
  const CallPlanner *planner = findCallPlanner(kind);
  return planner ? planner->library : nullptr;
}
