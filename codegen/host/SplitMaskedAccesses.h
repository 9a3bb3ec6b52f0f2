//===- SplitMaskedAccesses.h - Masked loads and stores of one register each -------------------===//

#ifndef MTC_CODEGEN_HOST_SPLITMASKEDACCESSES_H
#define MTC_CODEGEN_HOST_SPLITMASKEDACCESSES_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace mtc::cpu {

/// Splits masked loads and stores whose vectors are wider than a register of `machine`, where masks
/// are vectors (AVX and AVX2); parts whose mask is zero go.
///
/// LLVM 22 splits them too, but wrongly: a half whose mask turns out to be zero only as it is split
/// becomes a load without a mask, which reads the lanes that the mask leaves out and, at the end of
/// a page, memory that does not exist.
void splitMaskedAccesses(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_HOST_SPLITMASKEDACCESSES_H
