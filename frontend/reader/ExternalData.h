//===- ExternalData.h - Tensor data in files beside the model
//-----------------------------------===//
//
// The rules that close the known attacks through external data (CVE-2022-25882, CVE-2024-27318,
// CVE-2026-27489, CVE-2026-34445 to 34447): a location is relative and resolves below the real
// model's folder without passing a symbolic link; the file is a regular one with one name; offset
// and length lie within it.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_EXTERNALDATA_H
#define MTC_FRONTEND_READER_EXTERNALDATA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace onnx {
class TensorProto;
}

namespace mtc::onnx {

/// Where a tensor's bytes are, as the file says.
struct ExternalLocation {
  std::string location;
  int64_t offset = 0;
  int64_t length = -1; // -1: not given.
};

/// Reads and checks a tensor's `external_data` entries; the files are not touched.
llvm::Expected<ExternalLocation> parseExternalLocation(const ::onnx::TensorProto &tensor);

/// Maps files below a folder.
class ExternalFiles {
public:
  /// `folder`: the real folder of the model.
  explicit ExternalFiles(std::string folder) : folder(std::move(folder)) {}
  ~ExternalFiles();
  ExternalFiles(const ExternalFiles &) = delete;
  ExternalFiles &operator=(const ExternalFiles &) = delete;

  /// `bytes` bytes at the location; they stay valid as long as this object.
  llvm::Expected<llvm::ArrayRef<char>> read(const ExternalLocation &location, int64_t bytes);

private:
  struct Mapping {
    const char *data = nullptr;
    int64_t size = 0;
  };
  llvm::Expected<Mapping> map(llvm::StringRef location);

  std::string folder;
  llvm::StringMap<Mapping> mappings;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_EXTERNALDATA_H
