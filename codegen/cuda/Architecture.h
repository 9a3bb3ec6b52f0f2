//===- Architecture.h - The GPUs that code is for ---------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_ARCHITECTURE_H
#define MTC_CODEGEN_CUDA_ARCHITECTURE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mtc::cuda {

/// A compute capability, written `sm_90` (code for all of its major number from its minor number
/// on) or `sm_90a` (code for this one alone, with the instructions that only it has).
struct Architecture {
  unsigned major = 9, minor = 0;
  bool isExact = false;

  std::string name() const;
  bool operator==(const Architecture &other) const = default;
};

/// What follows `cuda:` in --target: names with commas between them. Without one it is sm_90; the
/// name `native` is that of the GPU of this machine, as its driver says.
llvm::Expected<llvm::SmallVector<Architecture>> parseArchitectures(llvm::StringRef names);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_ARCHITECTURE_H
