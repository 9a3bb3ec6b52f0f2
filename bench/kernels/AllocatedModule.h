//===- AllocatedModule.h - What mtc-bench measures, as an allocated program -------------------===//

#ifndef MTC_BENCH_KERNELS_ALLOCATEDMODULE_H
#define MTC_BENCH_KERNELS_ALLOCATEDMODULE_H

#include "codegen/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mtc::bench {

/// Reads a module with kernel functions: an allocated program (`mtc compile --emit=allocated`), or
/// kernel functions without a program. If a module has kernel functions but no program, the
/// operands of the functions get offsets, a step `micro_step` launches all of the functions, and
/// the module gets the attributes that the target passes between stages. Every variable is
/// initialized with zeros. `-` is the standard input. Returns null after an error message.
mlir::OwningOpRef<mlir::ModuleOp> readAllocated(mlir::MLIRContext &context, llvm::StringRef file,
                                                const Target &target);

} // namespace mtc::bench

#endif // MTC_BENCH_KERNELS_ALLOCATEDMODULE_H
