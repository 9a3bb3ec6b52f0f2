// Tensors of one safetensors file, or of several that an index or a folder names.
#ifndef MTC_RUNTIME_IO_TENSOR_FILES_H
#define MTC_RUNTIME_IO_TENSOR_FILES_H

#include "runtime/io/safetensors.h"

#include <map>
#include <string>
#include <vector>

namespace mtc::runtime {

/// What `path` names: a safetensors file; an index (`model.safetensors.index.json`, as Hugging
/// Face's `save_pretrained` writes it) and the files beside it that the index lists; or a folder
/// with `model.safetensors` or that index.
class TensorFiles {
public:
  /// A mistake of the user, with the reason, if there is no such file or one of them is not valid.
  explicit TensorFiles(const std::string &path);

  const std::string &path() const { return named; }
  const std::map<std::string, ArrayOnDisk> &tensors() const { return entries; }
  /// Null if there is no such tensor.
  const ArrayOnDisk *find(const std::string &name) const;
  /// A text of the metadata of a single file; "" if it has none of this key.
  std::string metadata(const std::string &key) const;

private:
  void openIndex(const std::string &path);

  std::string named;
  std::vector<SafetensorsFile> files;
  std::map<std::string, ArrayOnDisk> entries;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_TENSOR_FILES_H
