//===- CpuDialect.cpp - What passes ask of the target `cpu` -----------------------------------===//

#include "codegen/cpu/CpuDialect.h"

#include "codegen/cpu/LoopPlan.h"
#include "codegen/kernels/KernelAnalysis.h"
#include "codegen/target/CallDescription.h"
#include "runtime/abi/library_call.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

#include "codegen/cpu/CpuDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/cpu/CpuAttributes.cpp.inc"

void MtcCpuDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/cpu/CpuAttributes.cpp.inc"
      >();
}

int64_t TargetAttr::getScratchBytes(Operation *op) const {
  CallDescription call = describeCall(op);
  return mtc_call_scratch_bytes(call.kind, call.bytes.data(), static_cast<int>(getThreads()));
}

unsigned TargetAttr::getSupportLevel(Operation *op) const {
  CallDescription call = describeCall(op);
  return mtc_call_rate(call.kind, call.bytes.data(), static_cast<int>(getThreads()));
}

bool TargetAttr::isFasterAsKernel(Operation *op) const {
  CallDescription call = describeCall(op);
  return mtc_call_is_faster_as_kernel(call.kind, call.bytes.data()) != 0;
}

int64_t TargetAttr::getKernelScratchBytes(KernelOp kernel) const {
  return planLoops(normalizeKernel(kernel)).scratchBytes;
}
