// Tensors of one safetensors file, or of several listed in an index.
#ifndef MTC_RUNTIME_IO_TENSOR_FILES_H
#define MTC_RUNTIME_IO_TENSOR_FILES_H

#include "runtime/io/safetensors.h"

#include <map>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Names in a folder of weights: the only file, or the index of several.
inline constexpr const char *weightsFileName = "model.safetensors";
inline constexpr const char *weightsIndexName = "model.safetensors.index.json";

/// Returns the folder of weights at `path`: a folder itself, or that of model.safetensors or of an
/// index; "" for other files.
std::string folderOfWeights(const std::string &path);

/// The tensors at `path`, which is a safetensors file; an index (`model.safetensors.index.json`, as
/// written by Hugging Face's `save_pretrained`), with the files that it lists in the same folder;
/// or a folder with `model.safetensors` or that index.
class TensorFiles {
public:
  /// Throws a user error, with the reason, if a file is missing or invalid.
  explicit TensorFiles(const std::string &path);

  const std::string &path() const { return named; }
  const std::map<std::string, ArrayOnDisk> &tensors() const { return entries; }
  /// Returns null if there is no such tensor.
  const ArrayOnDisk *find(const std::string &name) const;
  /// Returns a metadata value of a single file; "" if the key is missing.
  std::string metadata(const std::string &key) const;

private:
  void openIndex(const std::string &path);

  std::string named;
  std::vector<SafetensorsFile> files;
  std::map<std::string, ArrayOnDisk> entries;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_TENSOR_FILES_H
