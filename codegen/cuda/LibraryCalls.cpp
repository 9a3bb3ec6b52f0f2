//===- LibraryCalls.cpp - What a GPU's libraries say of calls ---------------------------------===//

#include "codegen/cuda/LibraryCalls.h"

#include "codegen/program/CallDescription.h"
#include "runtime/abi/cuda_library_call.h"

using namespace mlir;
using namespace mtc;

static int rate(Operation *op) {
  CallDescription call = describeCall(op);
  return mtc_cuda_call_rate(call.kind, call.bytes.data());
}

void cuda::describeLibraryCalls(TargetInfo &info) {
  info.scratch = [](Operation *op) {
    CallDescription call = describeCall(op);
    return mtc_cuda_call_scratch_bytes(call.kind, call.bytes.data());
  };
  info.rate = rate;
  // What no library computes.
  info.isFasterAsKernel = [](Operation *op) { return rate(op) == 0; };
}
