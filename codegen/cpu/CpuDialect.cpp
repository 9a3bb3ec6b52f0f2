//===- CpuDialect.cpp - What passes ask of the target `cpu` -----------------------------------===//

#include "codegen/cpu/CpuDialect.h"

#include "codegen/cpu/LoopPlan.h"
#include "codegen/kernels/KernelAnalysis.h"
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

int64_t TargetAttr::getScratchBytes(CallAttrInterface call) const {
  return mtc_call_scratch_bytes(call.getKind().data(), call.getBytes().data(),
                                static_cast<int>(getThreads()));
}

unsigned TargetAttr::getSupportLevel(CallAttrInterface call) const {
  return mtc_call_support_level(call.getKind().data(), call.getBytes().data(),
                                static_cast<int>(getThreads()));
}

bool TargetAttr::isFasterAsKernel(CallAttrInterface call) const {
  return mtc_call_is_faster_as_kernel(call.getKind().data(), call.getBytes().data()) != 0;
}

int64_t TargetAttr::getKernelScratchBytes(KernelOp kernel) const {
  return planLoops(normalizeKernel(kernel)).scratchBytes;
}
