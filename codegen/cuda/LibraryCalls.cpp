//===- LibraryCalls.cpp - What runs library calls on a GPU, and how well ----------------------===//

#include "codegen/cuda/LibraryCalls.h"

#include "codegen/cuda/DeviceCall.h"
#include "runtime/abi/cuda_library_call.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cuda;

/// What NVIDIA's epilogues make of a NaN and how far their GELU is off is not said: they are for
/// precisions that are less than f32.
static bool isExactActivation(Operation *op, bool usesTf32) {
  auto contract = dyn_cast<CallContractOp>(op);
  return contract && contract.getActivation() && !usesTf32 &&
         contract.getOut().getType().getElementType().isF32();
}

static int rate(Operation *op, bool usesTf32) {
  if (isExactActivation(op, usesTf32))
    return 0;
  CallDescription call = describeCall(op);
  if (planDeviceCall(call))
    return 2;
  return mtc_cuda_call_rate(call.kind, call.bytes.data());
}

void cuda::describeLibraryCalls(TargetInfo &info, bool usesTf32) {
  info.scratch = [](Operation *op) {
    CallDescription call = describeCall(op);
    int64_t library = mtc_cuda_call_scratch_bytes(call.kind, call.bytes.data());
    // Code of ours needs none, but a library may be asked first.
    return planDeviceCall(call) ? std::max<int64_t>(library, 0) : library;
  };
  info.rate = [usesTf32](Operation *op) { return rate(op, usesTf32); };
  // What neither a library nor device code of ours computes.
  info.isFasterAsKernel = [usesTf32](Operation *op) { return rate(op, usesTf32) == 0; };
}
