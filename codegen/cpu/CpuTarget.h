//===- CpuTarget.h - Kernels as functions of the program itself -------------------------------===//

#ifndef MTC_CODEGEN_CPU_CPUTARGET_H
#define MTC_CODEGEN_CPU_CPUTARGET_H

#include "codegen/Target.h"

namespace mtc::cpu {

llvm::Expected<std::unique_ptr<Target>> createTarget(llvm::StringRef detail,
                                                     const CodegenOptions &options, Processor host);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_CPUTARGET_H
