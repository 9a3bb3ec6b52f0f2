//===- SplitMaskedAccesses.h - Splitting of wide masked loads and stores ----------------------===//

#ifndef MTC_CODEGEN_HOST_SPLITMASKEDACCESSES_H
#define MTC_CODEGEN_HOST_SPLITMASKEDACCESSES_H

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace mtc::cpu {

/// Splits masked loads and stores of vectors wider than a register of `machine` on targets where
/// masks are vectors (AVX and AVX2), and removes parts whose mask is zero.
///
/// Works around a bug of LLVM 22's own splitting: a half whose mask folds to zero only during the
/// split becomes a load without a mask. That load reads the masked-off lanes and, at the end of a
/// page, unmapped memory.
void splitMaskedAccesses(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_HOST_SPLITMASKEDACCESSES_H
