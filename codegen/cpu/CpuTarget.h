//===- CpuTarget.h - Kernels as native functions of the program -------------------------------===//

#ifndef MTC_CODEGEN_CPU_CPUTARGET_H
#define MTC_CODEGEN_CPU_CPUTARGET_H

#include "codegen/target/Target.h"

namespace mtc::cpu {

/// These functions implement KnownTarget's interface (codegen/Targets.cpp).
llvm::Expected<TargetAttrInterface> parseTarget(llvm::StringRef detail, mlir::MLIRContext &context,
                                                const TargetFlags &flags);
llvm::Expected<std::unique_ptr<Target>> createTarget(mlir::Attribute attribute, unsigned optLevel);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_CPUTARGET_H
