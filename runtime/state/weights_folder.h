// Folders of weights, as save_pretrained of Hugging Face writes them.
#ifndef MTC_RUNTIME_STATE_WEIGHTS_FOLDER_H
#define MTC_RUNTIME_STATE_WEIGHTS_FOLDER_H

#include "runtime/state/exported_tensor.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Returns whether a path of --export-weights is that of a folder: any name but FILE.safetensors.
bool isWeightsFolder(const std::string &path);

/// Returns why a folder must not be replaced: it has files that an export does not write; "" if it
/// may be. A missing or empty folder may be. Configurations, scripts and texts of a replaced folder
/// that the new one lacks are kept.
std::string problemOfReplacing(const std::string &folder);

/// The tensors of a folder, in files of at most `maxShardBytes` unless a single tensor is larger.
class WeightsFolder {
public:
  using Write = std::function<void(const ExportedTensor &, const WriteBytes &)>;

  WeightsFolder(const std::vector<ExportedTensor> &tensors, int64_t maxShardBytes);

  /// Writes the files, their index if there are several, and copies of the configuration and
  /// tokenizer in `companions`, unless it is "", in which the float type of the weights becomes
  /// `type`. `write` writes a tensor. The folder appears completely or not at all.
  void write(const std::string &folder, const std::string &companions, std::optional<uint32_t> type,
             const Write &write) const;

private:
  std::string nameOf(size_t shard) const;
  std::string index() const;

  const std::vector<ExportedTensor> &tensors;
  std::vector<std::vector<size_t>> shards; ///< indices of tensors
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_WEIGHTS_FOLDER_H
