//===- Cubin.h - Assembling of PTX to GPU machine code ----------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_CUBIN_H
#define MTC_CODEGEN_CUDA_CUBIN_H

#include "codegen/cuda/Architecture.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mtc::cuda {

/// Machine code of one architecture: an ELF file that the driver can load.
struct Cubin {
  std::unique_ptr<llvm::MemoryBuffer> code;
  std::string log; ///< the assembler's report of registers and memory; see Resources.h
};

struct AssemblerVersion {
  unsigned major, minor; ///< CUDA's version numbers
  std::string text() const { return std::to_string(major) + '.' + std::to_string(minor); }
};
/// Returns the version of nvJitLink.
llvm::Expected<AssemblerVersion> getAssemblerVersion();

/// Assembles PTX for an architecture with nvJitLink, in this process and without a GPU or driver.
/// `name` identifies the PTX in messages. Thread-safe.
llvm::Expected<Cubin> assemble(llvm::StringRef ptx, llvm::StringRef name,
                               const Architecture &architecture, unsigned optLevel = 3);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_CUBIN_H
