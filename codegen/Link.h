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

/// A program or library to link.
struct LinkRequest {
  const llvm::MemoryBuffer &archive; ///< the program's own objects
  /// The result, which is overwritten: callers that need an atomic replacement pass a temporary
  /// name.
  llvm::StringRef output;
  LinkInputs inputs;
  /// The folder of the runtime's archives; the default is ../lib relative to the folder of the
  /// running executable.
  llvm::StringRef libraryFolder = "";
};

/// Links a program with the runtime. Errors name the missing file, or contain the linker's output.
llvm::Error linkProgram(const LinkRequest &request);

/// The form of a library, and its names.
struct LibraryNames {
  bool isShared = true; ///< a shared library; otherwise an archive
  std::string soname;   ///< name that programs record: libNAME.so
  std::string prefix;   ///< prefix of the functions: NAME
};

/// Links a library with the functions of runtime/library/mtc_model.h under the library's prefix.
/// All other symbols are local, so that several libraries can be linked into one program. An
/// archive does not contain the system libraries of `inputs`.
llvm::Error linkLibrary(const LinkRequest &request, const LibraryNames &names);

} // namespace mtc

#endif // MTC_CODEGEN_LINK_H
