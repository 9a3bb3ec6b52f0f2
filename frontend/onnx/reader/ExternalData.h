//===- ExternalData.h - Tensor data in external files -----------------------------------------===//
//
// Locations come from the model, which may be malicious. A location is only accepted if it is a
// relative path without symbolic links below the folder of the resolved model file, refers to a
// regular file with one hard link, and contains all requested bytes. The rules address
// CVE-2022-25882, CVE-2024-27318 (`..`), CVE-2026-27489, CVE-2026-34447 (symbolic links),
// CVE-2026-34446 (hard links) and CVE-2026-34445 (lengths, unknown keys).
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_EXTERNALDATA_H
#define MTC_FRONTEND_ONNX_READER_EXTERNALDATA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace onnx {
class TensorProto;
} // namespace onnx

namespace mtc::onnx {

/// File, offset and length of a tensor's data.
struct ExternalReference {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

/// Parses `external_data`. Fails for unknown or repeated keys, invalid numbers, and locations that
/// are empty, absolute or contain `..`.
llvm::Expected<ExternalReference> readExternalReference(const ::onnx::TensorProto &tensor);

/// Error for a missing file, which callers may accept.
class MissingFileError : public llvm::ErrorInfo<MissingFileError> {
public:
  static char ID;
  explicit MissingFileError(std::string message) : text(std::move(message)) {}
  void log(llvm::raw_ostream &stream) const override { stream << text; }
  std::error_code convertToErrorCode() const override {
    return std::make_error_code(std::errc::no_such_file_or_directory);
  }

private:
  std::string text;
};

/// Path resolution: by the kernel in one call, or component by component as a fallback.
enum class Resolution { kernel, components };

/// Opens the regular file at the relative path `location` below `folder` for reading, without
/// following symbolic links. The caller closes the descriptor.
llvm::Expected<int> openBeneath(const std::string &folder, llvm::StringRef location,
                                Resolution resolution = Resolution::kernel);

/// The external data files of one model, mapped into memory on first access.
class ExternalFiles {
public:
  /// `givenFolder` is the folder of the model's path as specified by the user, `realFolder` the
  /// folder of the resolved path. A cache may contain symbolic links to the model and to its data.
  ExternalFiles(std::string givenFolder, std::string realFolder)
      : givenFolder(std::move(givenFolder)), realFolder(std::move(realFolder)) {}

  /// Returns `size` bytes at the reference, which are valid for the lifetime of this object.
  llvm::Expected<llvm::ArrayRef<char>> bytes(const ExternalReference &reference, uint64_t size);

  /// Returns the IDs of the opened files.
  llvm::ArrayRef<llvm::sys::fs::UniqueID> getOpened() const { return opened; }
  /// Returns the paths of all files accessed so far.
  std::vector<std::string> getPaths() const;

private:
  struct File {
    std::unique_ptr<llvm::sys::fs::mapped_file_region> region; // Null for an empty file.
    std::string failure; // Reason why the file cannot be read.
    bool isMissing = false;
  };

  File &open(llvm::StringRef location);

  std::string givenFolder, realFolder;
  llvm::StringMap<File> files;
  llvm::SmallVector<llvm::sys::fs::UniqueID> opened;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_EXTERNALDATA_H
