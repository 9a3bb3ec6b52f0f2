//===- Emulation.h - Compilation of device code for the CPU -----------------------------------===//
//
// Compiles the device's LLVM IR, optimized as for the device, for the CPU. GPU-only operations are
// replaced by calls of runtime/abi/emulation.h: special registers, barriers, shuffles, shared
// memory and CUDA's math functions. Every memory access is checked. No CUDA toolkit is required.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_EMULATED_EMULATION_H
#define MTC_CODEGEN_CUDA_EMULATED_EMULATION_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mtc::cuda {

/// Returns the name of the function that runs one thread of the kernel `symbol`: an
/// MtcEmulatedFunction.
std::string emulatedSymbol(llvm::StringRef symbol);

/// Converts a translated device module to a module for the CPU; `cpu::optimize` must set its data
/// layout and triple afterwards. Fails if the module uses an operation that the emulator does not
/// support.
llvm::Error emulateDeviceModule(llvm::Module &module, unsigned optLevel);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_EMULATED_EMULATION_H
