//===- Emulation.h - Device code for the CPU --------------------------------------------------===//
//
// The device's own LLVM IR, optimized as for the device, with what only a GPU has replaced by calls
// of runtime/abi/emulation.h: special registers, barriers, shuffles, shared memory, CUDA's
// functions of mathematics. Every access of memory is checked. Nothing of the CUDA toolkit is
// needed.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_EMULATED_EMULATION_H
#define MTC_CODEGEN_CUDA_EMULATED_EMULATION_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mtc::cuda {

/// The function that runs one thread of the kernel `symbol`: an MtcEmulatedFunction.
std::string emulatedSymbol(llvm::StringRef symbol);

/// Makes a translated device module one for a CPU, whose layout and triple `cpu::optimize` sets
/// afterwards. Fails where it uses what the emulator does not have.
llvm::Error emulateDeviceModule(llvm::Module &module, unsigned optLevel);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_EMULATED_EMULATION_H
