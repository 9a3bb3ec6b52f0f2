//===- Toolkit.h - What is used of NVIDIA's CUDA toolkit, and where it lies -------------------===//
//
// Two files, opened when they are first needed: libdevice (functions of mathematics as LLVM
// bitcode) and nvJitLink (the assembler). Nothing of the toolkit is needed to build the compiler.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_TOOLKIT_H
#define MTC_CODEGEN_CUDA_TOOLKIT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>

namespace mtc::cuda {

/// The folders in which the toolkit is looked for, in this order: those that MTC_CUDA_PATH,
/// CUDA_HOME and CUDA_PATH name, the one that tools/setup.sh fills, /usr/local/cuda, the active
/// Python environment. MTC_CUDA_PATH alone counts where it is set.
llvm::SmallVector<std::string> toolkitFolders();

/// A file of the toolkit in the first folder that has it, in the layout of an installed toolkit or
/// of the packages on PyPI. Fails with what was looked for where, and what provides it.
llvm::Expected<std::string> findLibdevice();
llvm::Expected<std::string> findJitLink();

/// libdevice's bitcode, read once.
llvm::Expected<llvm::MemoryBufferRef> getLibdevice();

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_TOOLKIT_H
