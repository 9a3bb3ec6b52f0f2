//===- Architecture.h - The GPUs that code is for ---------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_ARCHITECTURE_H
#define MTC_CODEGEN_CUDA_ARCHITECTURE_H

#include "runtime/abi/cuda.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mtc::cuda {

/// A compute capability and the code that is made for it. As nvcc names them: `sm_90` is machine
/// code for all of its major number from its minor number on, `sm_90a` for this one alone, with the
/// instructions that only it has; `compute_90` is PTX, which the driver compiles on this and every
/// later one.
struct Architecture {
  unsigned major = 9, minor = 0;
  MtcCudaCode code = MTC_CUBIN;

  bool isPtx() const { return code == MTC_PTX; }
  std::string name() const;
  /// Whose machine code it is, as LLVM and the assembler name it; of PTX, the first that runs it.
  std::string processor() const;
  bool operator==(const Architecture &other) const = default;
};

/// What follows `cuda:` in --target: names with commas between them. Without one it is sm_90; the
/// name `native` is that of the GPU of this machine, as its driver says.
llvm::Expected<llvm::SmallVector<Architecture>> parseArchitectures(llvm::StringRef names);

/// Those that say what kernels take of each processor that is named: PTX takes nothing itself, and
/// stands for its processor where no machine code does.
llvm::SmallVector<Architecture> onePerProcessor(llvm::ArrayRef<Architecture> architectures);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_ARCHITECTURE_H
