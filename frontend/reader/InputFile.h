//===- InputFile.h - Files that the compiler reads --------------------------------------------===//

#ifndef MTC_FRONTEND_READER_INPUTFILE_H
#define MTC_FRONTEND_READER_INPUTFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem/UniqueID.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <memory>
#include <sys/stat.h>

namespace mtc::onnx {

/// The largest files of each kind, in bytes; a larger one is something else, named by mistake.
constexpr uint64_t maxRecipeBytes = uint64_t(4) << 20;
constexpr uint64_t maxScheduleTableBytes = uint64_t(16) << 20;
constexpr uint64_t maxStageTextBytes = uint64_t(4) << 30;
/// For files that are mapped into memory, where only the address space limits the size.
constexpr uint64_t anyBytes = INT64_MAX;

/// A regular file's bytes, followed by a zero where the file was read as text.
struct InputFile {
  std::unique_ptr<llvm::MemoryBuffer> content;
  llvm::sys::fs::UniqueID id;

  llvm::StringRef bytes() const { return content->getBuffer(); }
};

enum class FileForm { Binary, Text };

/// Reads a regular file of at most `maxBytes`. Never waits for a pipe's writer and never reads a
/// device. The error is a predicate without the file's name, such as "is a folder, not a
/// regular file"; the caller puts the flag and the name before it.
llvm::Expected<InputFile> readInputFile(llvm::StringRef path, uint64_t maxBytes, FileForm form);

/// Whether a regular file starts with these bytes. False where it cannot be read.
bool startsWith(llvm::StringRef path, llvm::StringRef bytes);

/// The noun for a file that is not regular: "a folder", "a pipe", "a socket" or "a device".
llvm::StringRef describeFileType(mode_t mode);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_INPUTFILE_H
