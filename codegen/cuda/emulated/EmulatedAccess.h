//===- EmulatedAccess.h - Memory access checks in emulated code -------------------------------===//

#ifndef MTC_CODEGEN_CUDA_EMULATED_EMULATEDACCESS_H
#define MTC_CODEGEN_CUDA_EMULATED_EMULATEDACCESS_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

#include <vector>

namespace mtc::cuda {

/// An access to memory that is not private to the thread.
struct EmulatedAccess {
  llvm::Instruction *instruction;
  llvm::Use *pointer;  ///< the pointer operand, whose value is rewritten before the check
  llvm::Value *length; ///< length of a memset or memcpy; null if `bytes` is constant
  unsigned kind;       ///< MtcAccessKind
  unsigned bytes, alignment;
  int parameter; ///< index of the kernel argument that the pointer is based on; -1 if unknown
  enum Space { Global, Shared, Unknown } space;
};

/// Returns the accesses of a device kernel before it is rewritten.
std::vector<EmulatedAccess> findAccesses(llvm::Function &kernel);

/// The values that the checks of one function use; all dominate the entire function body.
struct AccessContext {
  llvm::Value *memory, *memoryBytes, *shadow; ///< fields of MtcEmulatedBlock
  llvm::ArrayRef<llvm::Value *> parameters;
  llvm::ArrayRef<int64_t> extents; ///< sizes of the parameters in bytes; -1 if unknown
};

/// Inserts a check before the access.
void insertCheck(const EmulatedAccess &access, const AccessContext &context);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_EMULATED_EMULATEDACCESS_H
