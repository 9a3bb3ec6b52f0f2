// What libraries say of a call when a program is compiled.
#ifndef MTC_RUNTIME_DEVICES_CUDA_CALL_PLANNER_H
#define MTC_RUNTIME_DEVICES_CUDA_CALL_PLANNER_H

#include "runtime/abi/cuda.h"

#include <cstdint>

namespace mtc::runtime::cuda {

/// The answers for a kind of call; no GPU is needed. See runtime/abi/cuda_library_call.h.
struct CallPlanner {
  const char *name;    ///< of its ABI
  const char *library; ///< that computes it, as the target attribute names it
  int64_t (*scratchBytes)(const void *record);
  int (*supportLevel)(const void *record, MtcCudaPrecision precision);
};

/// Null for a kind that no library computes.
const CallPlanner *findCallPlanner(const char *name);

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_CALL_PLANNER_H
