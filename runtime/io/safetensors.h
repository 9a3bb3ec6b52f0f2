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

/// The tensors of a file by name. The file was checked as a whole: a header of at most 100 MB,
/// known types, byte ranges that equal the shapes, leave no hole, do not overlap and end at the
/// file's end. Where the compiler wrote checksums (runtime/abi/weights_file.h), the header equals
/// its own, and `readArray` compares those of the tensors.
class SafetensorsFile {
public:
  /// A mistake of the user, with the reason, if the file is not valid.
  explicit SafetensorsFile(const std::string &path);

  const std::string &path() const { return file->path(); }
  int64_t bytes() const { return file->size(); }
  const std::map<std::string, ArrayOnDisk> &tensors() const { return entries; }
  /// Null if there is no such tensor.
  const ArrayOnDisk *find(const std::string &name) const;
  /// A text of the file's metadata; "" if it has none of this key.
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

/// Writes a file whose tensors are all announced at the start; their bytes may come in any order,
/// tensor by tensor or row by row. The metadata says that mtc wrote it. Durable: see DurableFile.
class SafetensorsWriter {
public:
  SafetensorsWriter(const std::string &path, const std::vector<SafetensorsEntry> &entries,
                    std::map<std::string, std::string> metadata = {});

  /// Writes bytes of tensor number `index`, starting at byte `offset` of it.
  void write(size_t index, int64_t offset, const void *data, int64_t bytes);
  int64_t fileBytes() const { return starts.back(); }
  void commit() { file.commit(); }

private:
  DurableFile file;
  std::vector<int64_t> starts; ///< of each tensor in the file, and the file's end
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_SAFETENSORS_H
