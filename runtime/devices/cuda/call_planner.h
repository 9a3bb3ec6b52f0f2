// Compile-time queries about library calls.
#ifndef MTC_RUNTIME_DEVICES_CUDA_CALL_PLANNER_H
#define MTC_RUNTIME_DEVICES_CUDA_CALL_PLANNER_H

#include "runtime/abi/cuda.h"

#include <cstdint>

namespace mtc::runtime::cuda {

/// The answers for one kind of call; they need no GPU. See runtime/abi/cuda_library_call.h.
struct CallPlanner {
  const char *name;    ///< kind in the ABI
  const char *library; ///< the library's name in the target attribute
  int64_t (*scratchBytes)(const void *record);
  int (*supportLevel)(const void *record, MtcCudaPrecision precision);
  /// Null if the rate does not depend on the layout.
  double (*efficiency)(const void *record, MtcCudaPrecision precision) = nullptr;
};

/// Returns null for a kind that no library computes.
const CallPlanner *findCallPlanner(const char *name);

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_CALL_PLANNER_H
