//===- Link.h - A program and the runtime become an executable --------------------------------===//

#ifndef MTC_CODEGEN_LINK_H
#define MTC_CODEGEN_LINK_H

#include "codegen/target/Target.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mtc {

/// Links a program's archive with the runtime into an executable, the file `output`, which is
/// overwritten: whoever puts it in its place gives the name that it has until then. The runtime's
/// archives lie in `libraryFolder`, or if that is "" in ../lib beside the folder of the running
/// executable. Errors name what is missing, or hold what the linker said.
llvm::Error linkProgram(const llvm::MemoryBuffer &archive, llvm::StringRef output,
                        const LinkInputs &inputs, llvm::StringRef libraryFolder = "");

} // namespace mtc

#endif // MTC_CODEGEN_LINK_H
