// safetensors files: weights, checkpoints, gradients, outputs, data.
#ifndef MTC_RUNTIME_IO_SAFETENSORS_H
#define MTC_RUNTIME_IO_SAFETENSORS_H

#include "runtime/io/array_on_disk.h"
#include "runtime/io/durable_file.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The tensors of a file by name. The whole file is validated: a header of at most 100 MB, known
/// types, and byte ranges that match the shapes, are contiguous, do not overlap and end at the end
/// of the file. If the compiler wrote checksums (runtime/abi/weights_file.h), the header is
/// verified here, and the tensors by `readArray`.
class SafetensorsFile {
public:
  /// Throws a user error, with the reason, if the file is invalid.
  explicit SafetensorsFile(const std::string &path);

  const std::string &path() const { return file->path(); }
  int64_t bytes() const { return file->size(); }
  const std::map<std::string, ArrayOnDisk> &tensors() const { return entries; }
  /// Returns null if there is no such tensor.
  const ArrayOnDisk *find(const std::string &name) const;
  /// Returns a metadata value; "" if the key is missing.
  std::string metadata(const std::string &key) const;

private:
  void checkHeader(std::string text) const;
  void expectChecksums();

  std::shared_ptr<InputFile> file;
  std::map<std::string, ArrayOnDisk> entries;
  std::map<std::string, std::string> texts;
};

struct SafetensorsEntry {
  std::string name;
  uint32_t type; ///< MtcType
  std::vector<int64_t> dims;
};

/// Writes a file whose tensors are declared on construction. Their bytes may be written in any
/// order, by tensor or by row. The metadata marks the file as written by mtc. The file is durable:
/// see DurableFile.
class SafetensorsWriter {
public:
  SafetensorsWriter(const std::string &path, const std::vector<SafetensorsEntry> &entries,
                    std::map<std::string, std::string> metadata = {});

  /// Writes bytes of tensor `index`, starting at its byte `offset`.
  void write(size_t index, int64_t offset, const void *data, int64_t bytes);
  /// Reads bytes of tensor `index` that were written.
  void read(size_t index, int64_t offset, void *to, int64_t bytes);
  int64_t fileBytes() const { return starts.back(); }
  /// Returns the offset of tensor `index` in the file.
  int64_t startOf(size_t index) const { return starts[index]; }
  /// Gives the file its final size, so that other processes can write parts of tensors into it.
  /// Returns its path until `commit`.
  const std::string &share();
  void commit() { file.commit(); }

private:
  DurableFile file;
  std::unique_ptr<InputFile> written; ///< the file, if `read` was called
  std::vector<int64_t> starts;        ///< file offset of each tensor, and the size of the file
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_SAFETENSORS_H
