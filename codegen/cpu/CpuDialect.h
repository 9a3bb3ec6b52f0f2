//===- CpuDialect.h - The cpu target attribute ------------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_CPUDIALECT_H
#define MTC_CODEGEN_CPU_CPUDIALECT_H

#include "codegen/cpu/LoopPlan.h"
#include "runtime/abi/library_call.h"

#include "codegen/cpu/CpuDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/cpu/CpuAttributes.h.inc"

namespace mtc::cpu {

/// Returns the plan of a kernel, which must be a plan of this target.
inline const LoopPlan &planOf(KernelFunctionOp kernel) {
  return llvm::cast<LoopsAttr>(*kernel.getPlan()).getPlan();
}

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_CPUDIALECT_H
