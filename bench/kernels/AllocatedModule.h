//===- AllocatedModule.h - What mtc-bench measures, as an allocated program
//--------------------------===//

#ifndef MTC_BENCH_KERNELS_ALLOCATEDMODULE_H
#define MTC_BENCH_KERNELS_ALLOCATEDMODULE_H

#include "codegen/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mtc::bench {

/// Reads a text with kernel functions, placed (`mtc compile --emit=allocated`) or alone; what is
/// alone gets a place for each operand and what the target passes between stages, and one step
/// `micro_step` that launches all of them. Every variable starts as zeros. `-` is the standard
/// input. Null after a message.
mlir::OwningOpRef<mlir::ModuleOp> readAllocated(mlir::MLIRContext &context, llvm::StringRef file,
                                                const Target &target);

} // namespace mtc::bench

#endif // MTC_BENCH_KERNELS_ALLOCATEDMODULE_H
