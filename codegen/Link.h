//===- Link.h - Linking of a program with the runtime -----------------------------------------===//

#ifndef MTC_CODEGEN_LINK_H
#define MTC_CODEGEN_LINK_H

#include "codegen/target/Target.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mtc {

/// Links a program's archive with the runtime into the executable `output`, and overwrites the
/// file: callers that need an atomic replacement pass a temporary name. `libraryFolder` contains
/// the runtime's archives; the default is ../lib relative to the folder of the running executable.
/// Errors name the missing file, or contain the linker's output.
llvm::Error linkProgram(const llvm::MemoryBuffer &archive, llvm::StringRef output,
                        const LinkInputs &inputs, llvm::StringRef libraryFolder = "");

} // namespace mtc

#endif // MTC_CODEGEN_LINK_H
