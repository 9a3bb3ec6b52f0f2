//===- Link.h - A program and the runtime become an executable --------------------------------===//
//------------------------===//

#ifndef MTC_CODEGEN_LINK_H
#define MTC_CODEGEN_LINK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace mtc {

struct LinkOptions {
  /// The folder of libmtc_runtime_main.a, libmtc_runtime.a and libmtc_library_calls.a; "" for
  /// ../lib beside the folder of the running executable.
  std::string libraryFolder;
};

/// Links a program's archive with the runtime into the executable `output`, which appears whole or
/// not at all. Errors name what is missing, or hold what the linker said.
llvm::Error linkProgram(const llvm::MemoryBuffer &archive, llvm::StringRef output,
                        const LinkOptions &options = {});

} // namespace mtc

#endif // MTC_CODEGEN_LINK_H
