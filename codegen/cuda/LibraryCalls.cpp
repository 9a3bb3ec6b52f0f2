//===- LibraryCalls.cpp - What runs library calls on a GPU, and how well ----------------------===//

#include "codegen/cuda/LibraryCalls.h"

#include "codegen/cuda/DeviceCall.h"
#include "runtime/abi/cuda_library_call.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cuda;

static int rate(Operation *op) {
  CallDescription call = describeCall(op);
  if (planDeviceCall(call))
    return 2;
  return mtc_cuda_call_rate(call.kind, call.bytes.data());
}

void cuda::describeLibraryCalls(TargetInfo &info) {
  info.scratch = [](Operation *op) {
    CallDescription call = describeCall(op);
    if (planDeviceCall(call))
      return int64_t(0);
    return mtc_cuda_call_scratch_bytes(call.kind, call.bytes.data());
  };
  info.rate = rate;
  // What neither a library nor device code of ours computes.
  info.isFasterAsKernel = [](Operation *op) { return rate(op) == 0; };
}
