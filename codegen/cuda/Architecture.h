//===- Architecture.h - GPU architectures to generate code for --------------------------------===//

#ifndef MTC_CODEGEN_CUDA_ARCHITECTURE_H
#define MTC_CODEGEN_CUDA_ARCHITECTURE_H

#include "runtime/abi/cuda.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mtc::cuda {

/// A compute capability and the kind of code generated for it, with nvcc's names: `sm_90` is
/// machine code for compute capabilities with the same major number and at least this minor number.
/// `sm_90a` is machine code for exactly this capability, with its architecture-specific
/// instructions. `compute_90` is PTX, which the driver compiles for this and all later
/// capabilities.
struct Architecture {
  unsigned major = 9, minor = 0;
  MtcCudaCode code = MTC_CUBIN;

  bool isPtx() const { return code == MTC_PTX; }
  std::string name() const;
  /// Returns the processor of the machine code, as LLVM and the assembler name it; for PTX, the
  /// oldest processor that runs it.
  std::string processor() const;
  bool operator==(const Architecture &other) const = default;
};

/// Parses the part after `cuda:` of --target, a comma-separated list of names; an empty list is
/// sm_90. `native` is the architecture of this machine's GPU, as reported by the driver.
llvm::Expected<llvm::SmallVector<Architecture>> parseArchitectures(llvm::StringRef names);

/// Returns the architectures to report resource usage for: PTX represents its processor only if
/// there is no machine code for that processor.
llvm::SmallVector<Architecture> onePerProcessor(llvm::ArrayRef<Architecture> architectures);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_ARCHITECTURE_H
