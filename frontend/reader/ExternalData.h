//===- ExternalData.h - Tensors whose bytes lie in files beside the model ---------------------===//
//
// A model names these files, so a hostile model may name any file. What is accepted: a relative
// location that, with no symbolic link on its way, lies beneath the folder of the real model file,
// is a regular file with one hard link, and holds all of the bytes asked for. The rules answer
// CVE-2022-25882, CVE-2024-27318 (`..`), CVE-2026-27489, CVE-2026-34447 (symbolic links),
// CVE-2026-34446 (hard links) and CVE-2026-34445 (lengths, unknown keys).
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_EXTERNALDATA_H
#define MTC_FRONTEND_READER_EXTERNALDATA_H

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

/// Where a tensor's bytes are.
struct ExternalReference {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

/// Reads `external_data`; an unknown or repeated key, a number that is negative or none, a location
/// that is empty, absolute or climbs with `..` is an error.
llvm::Expected<ExternalReference> readExternalReference(const ::onnx::TensorProto &tensor);

/// The error of a file that is not there, which callers may accept.
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

/// How a path is resolved: by the kernel in one call, or component by component where it cannot.
enum class Resolution { kernel, components };

/// Opens the regular file `location`, a relative path, beneath `folder` for reading, following no
/// symbolic link. The caller closes the descriptor.
llvm::Expected<int> openBeneath(const std::string &folder, llvm::StringRef location,
                                Resolution resolution = Resolution::kernel);

/// The external files of one model, each mapped into memory when first asked for.
class ExternalFiles {
public:
  /// `givenFolder` is the folder of the path that the user gave, `realFolder` that of the file to
  /// which it resolves: a cache may hold symbolic links to the model and to its data.
  ExternalFiles(std::string givenFolder, std::string realFolder)
      : givenFolder(std::move(givenFolder)), realFolder(std::move(realFolder)) {}

  /// The `size` bytes that the reference names. They live as long as this object.
  llvm::Expected<llvm::ArrayRef<char>> bytes(const ExternalReference &reference, uint64_t size);

  /// Which files were opened.
  llvm::ArrayRef<llvm::sys::fs::UniqueID> getOpened() const { return opened; }
  /// The paths of files that were asked for.
  std::vector<std::string> getPaths() const;

private:
  struct File {
    std::unique_ptr<llvm::sys::fs::mapped_file_region> region; // null for an empty file
    std::string failure;                                       // why it cannot be read
    bool isMissing = false;
  };

  File &open(llvm::StringRef location);

  std::string givenFolder, realFolder;
  llvm::StringMap<File> files;
  llvm::SmallVector<llvm::sys::fs::UniqueID> opened;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_EXTERNALDATA_H
