//===- LLVMPasses.h - Running LLVM passes on a module -----------------------------------------===//

#ifndef MTC_CODEGEN_HOST_LLVMPASSES_H
#define MTC_CODEGEN_HOST_LLVMPASSES_H

#include "llvm/Passes/PassBuilder.h"

namespace mtc {

/// Runs passes on a module with all analyses registered by `builder`.
void runPasses(llvm::Module &module, llvm::PassBuilder &builder, llvm::ModulePassManager passes);

} // namespace mtc

#endif // MTC_CODEGEN_HOST_LLVMPASSES_H
