//===- EmulatedAccess.h - Checks of accesses of memory in emulated code -----------------------===//

#ifndef MTC_CODEGEN_CUDA_EMULATED_EMULATEDACCESS_H
#define MTC_CODEGEN_CUDA_EMULATED_EMULATEDACCESS_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

#include <vector>

namespace mtc::cuda {

/// An access of memory that is not the thread's own.
struct EmulatedAccess {
  llvm::Instruction *instruction;
  llvm::Use *pointer;  ///< the operand: it is rewritten before the check is inserted
  llvm::Value *length; ///< of a memset or memcpy; null where the bytes are constant
  unsigned kind;       ///< MtcAccessKind
  unsigned bytes, alignment;
  int parameter; ///< index of the kernel's argument that the pointer comes from; -1 if unknown
  enum Space { Global, Shared, Unknown } space;
};

/// The accesses of a kernel of the device, as they are before it is rewritten.
std::vector<EmulatedAccess> findAccesses(llvm::Function &kernel);

/// What the checks of one function use; all are available everywhere in it.
struct AccessContext {
  llvm::Value *memory, *memoryBytes, *shadow; ///< of MtcEmulatedBlock
  llvm::ArrayRef<llvm::Value *> parameters;
  llvm::ArrayRef<int64_t> extents; ///< of parameters, in bytes; -1 if unknown
};

/// Inserts the check before the access.
void insertCheck(const EmulatedAccess &access, const AccessContext &context);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_EMULATED_EMULATEDACCESS_H
