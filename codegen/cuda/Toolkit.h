//===- Toolkit.h - Location of CUDA toolkit files ---------------------------------------------===//
//
// Locates and loads two files on demand: libdevice (math functions as LLVM bitcode) and nvJitLink
// (the assembler). Building the compiler does not require a CUDA toolkit.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_TOOLKIT_H
#define MTC_CODEGEN_CUDA_TOOLKIT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>

namespace mtc::cuda {

/// Returns the search path of the toolkit: If MTC_CUDA_PATH is set, only this folder is searched;
/// otherwise CUDA_HOME, CUDA_PATH, the folder that tools/setup.sh fills, /usr/local/cuda, and the
/// active Python environment.
llvm::SmallVector<std::string> toolkitFolders();

/// Returns the path of a toolkit file in the first folder that contains it, in the layout of an
/// installed toolkit or of the PyPI packages. On failure, the error lists the searched folders and
/// the package that provides the file.
llvm::Expected<std::string> findLibdevice();
llvm::Expected<std::string> findJitLink();

/// Returns libdevice's bitcode, loaded once.
llvm::Expected<llvm::MemoryBufferRef> getLibdevice();

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_TOOLKIT_H
