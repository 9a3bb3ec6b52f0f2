//===- InputFile.h - Input files of the compiler ----------------------------------------------===//

#ifndef MTC_SUPPORT_COMPILER_INPUTFILE_H
#define MTC_SUPPORT_COMPILER_INPUTFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem/UniqueID.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <memory>
#include <sys/stat.h>

namespace mtc {

/// Number of bytes for `readInputFile` without a limit, for files that are mapped into memory.
constexpr uint64_t anyBytes = INT64_MAX;

/// The contents of a regular file; null-terminated if read as text.
struct InputFile {
  std::unique_ptr<llvm::MemoryBuffer> content;
  llvm::sys::fs::UniqueID id;

  llvm::StringRef bytes() const { return content->getBuffer(); }
};

enum class FileForm { Binary, Text };

/// Reads a regular file of at most `maxBytes`; a larger file was probably named by mistake. Never
/// blocks on a pipe and never reads a device. The error is a predicate without the file's name,
/// such as "is a folder, not a regular file"; the caller prepends the flag and the name.
llvm::Expected<InputFile> readInputFile(llvm::StringRef path, uint64_t maxBytes, FileForm form);

/// Returns whether a regular file starts with these bytes; false if it cannot be read.
bool fileStartsWith(llvm::StringRef path, llvm::StringRef bytes);

/// Returns the noun for a file that is not regular: "a folder", "a pipe", "a socket" or "a device".
llvm::StringRef describeFileType(mode_t mode);

} // namespace mtc

#endif // MTC_SUPPORT_COMPILER_INPUTFILE_H
