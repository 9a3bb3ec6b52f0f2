//===- Cubin.h - From PTX to machine code of a GPU --------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_CUBIN_H
#define MTC_CODEGEN_CUDA_CUBIN_H

#include "codegen/cuda/Architecture.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mtc::cuda {

/// Machine code of one architecture: an ELF file that the driver loads as it is.
struct Cubin {
  std::unique_ptr<llvm::MemoryBuffer> code;
  std::string log; ///< What the assembler says about registers and memory; see Resources.h.
};

struct AssemblerVersion {
  unsigned major, minor; ///< as CUDA's
  std::string text() const { return std::to_string(major) + '.' + std::to_string(minor); }
};
llvm::Expected<AssemblerVersion> getAssemblerVersion();

/// Assembles PTX for an architecture's processor by nvJitLink, inside this process and without a
/// GPU or a driver. `name` is of the PTX, for messages. May run on any thread.
llvm::Expected<Cubin> assemble(llvm::StringRef ptx, llvm::StringRef name,
                               const Architecture &architecture, unsigned optLevel = 3);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_CUBIN_H
