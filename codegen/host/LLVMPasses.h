//===- LLVMPasses.h - LLVM's passes over a module ---------------------------------------------===//

#ifndef MTC_CODEGEN_HOST_LLVMPASSES_H
#define MTC_CODEGEN_HOST_LLVMPASSES_H

#include "llvm/Passes/PassBuilder.h"

namespace mtc {

/// Runs passes on a module, with every analysis that `builder` knows.
void runPasses(llvm::Module &module, llvm::PassBuilder &builder, llvm::ModulePassManager passes);

} // namespace mtc

#endif // MTC_CODEGEN_HOST_LLVMPASSES_H
