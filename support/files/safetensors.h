// The safetensors format: an 8-byte header length, a JSON header, and the bytes of the tensors.
#ifndef MTC_SUPPORT_FILES_SAFETENSORS_H
#define MTC_SUPPORT_FILES_SAFETENSORS_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::files {

/// The format's limit of the header's size in bytes.
inline constexpr int64_t maxSafetensorsHeaderBytes = 100'000'000;

/// Returns the name of an MtcType in safetensors files: `F32`, `I64`, `BOOL`.
const char *safetensorsTypeName(uint32_t type);
std::optional<MtcType> typeOfSafetensorsName(std::string_view name);

/// The header of a file. Tensors are stored in the order in which they are added.
class SafetensorsHeader {
public:
  /// Values of `__metadata__` by key.
  std::map<std::string, std::string> metadata;

  /// Adds a tensor of `bytes` bytes. Returns the offset of its first byte among the data.
  int64_t add(std::string name, uint32_t type, std::vector<int64_t> shape, int64_t bytes);
  int64_t dataBytes() const { return end; }

  /// Returns the JSON text, padded to a multiple of 8 bytes: the metadata, then the tensors in the
  /// order of their data. Bytes of names that are not UTF-8 are replaced.
  std::string text() const;
  /// Returns the text with all keys sorted, which does not depend on the order of the data.
  std::string sortedText() const;

  /// Returns the bytes of a file before its data, for a header with this text.
  static std::string startOfFile(std::string_view text);

private:
  struct Tensor {
    std::string name;
    uint32_t type;
    std::vector<int64_t> shape;
    int64_t begin, end;
  };
  template <typename Json> std::string dump() const;

  std::vector<Tensor> tensors;
  int64_t end = 0;
};

} // namespace mtc::files

#endif // MTC_SUPPORT_FILES_SAFETENSORS_H
