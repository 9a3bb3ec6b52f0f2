#include "runtime/state/weights_folder.h"

#include "runtime/io/durable_file.h"
#include "runtime/io/input_file.h"
#include "runtime/io/pending_folder.h"
#include "runtime/io/safetensors.h"
#include "runtime/io/tensor_files.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "support/files/written_by_mtc.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

constexpr std::string_view weightsEnding = ".safetensors";
constexpr std::string_view indexEnding = ".index.json";

bool isFolder(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// Returns whether a file of a folder of weights has a configuration, a tokenizer or a chat
/// template rather than weights.
bool isCompanion(const std::string &name) {
  constexpr std::array<std::string_view, 6> endings = {".json",  ".txt",      ".model",
                                                       ".jinja", ".tiktoken", ".py"};
  return !name.ends_with(indexEnding) &&
         std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

/// Returns the text of a file with the float type of the weights.
std::string configWith(uint32_t type, const std::string &path) {
  const InputFile file(path);
  std::string content(static_cast<size_t>(file.size()), '\0');
  file.read(0, content.data(), file.size());
  auto json = nlohmann::ordered_json::parse(content, nullptr, /*allow_exceptions=*/false);
  bool isChanged = false;
  if (json.is_object())
    for (const char *key : {"dtype", "torch_dtype"})
      if (json.contains(key)) {
        isChanged = true;
        json[key] = plainTypeName(type);
      }
  return isChanged
             ? json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"
             : content;
}

} // namespace

bool isWeightsFolder(const std::string &path) { return !path.ends_with(weightsEnding); }

std::string problemOfReplacing(const std::string &folder) {
  const std::vector<std::string> names = entriesOf(folder);
  auto isWeights = [&](const std::string &name) {
    return name.ends_with(weightsEnding) && files::isWrittenByMtc(folder + "/" + name);
  };
  // Scripts and texts belong to an export only beside its weights.
  const bool hasWeights = std::any_of(names.begin(), names.end(), isWeights);
  for (const std::string &name : names)
    if (isFolder(folder + "/" + name) ||
        !(isWeights(name) || (hasWeights && (isCompanion(name) || name == weightsIndexName))))
      return text("has '", name,
                  "', which an export of weights does not write; choose a new folder");
  return "";
}

WeightsFolder::WeightsFolder(const std::vector<ExportedTensor> &tensors, int64_t maxShardBytes)
    : tensors(tensors), shards(1) {
  int64_t bytes = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!shards.back().empty() && bytes + tensors[i].bytes() > maxShardBytes) {
      shards.emplace_back();
      bytes = 0;
    }
    shards.back().push_back(i);
    bytes += tensors[i].bytes();
  }
}

std::string WeightsFolder::nameOf(size_t shard) const {
  if (shards.size() == 1)
    return weightsFileName;
  std::array<char, 64> name;
  std::snprintf(name.data(), name.size(), "model-%05zu-of-%05zu.safetensors", shard + 1,
                shards.size());
  return name.data();
}

std::string WeightsFolder::index() const {
  nlohmann::ordered_json files = nlohmann::ordered_json::object();
  int64_t total = 0;
  for (size_t shard = 0; shard < shards.size(); ++shard)
    for (const size_t i : shards[shard]) {
      files[tensors[i].name] = nameOf(shard);
      total += tensors[i].bytes();
    }
  const nlohmann::ordered_json json = {{"metadata", {{"total_size", total}}},
                                       {"weight_map", files}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void WeightsFolder::write(const std::string &folder, const std::string &companions,
                          std::optional<uint32_t> type, const Write &write) const {
  PendingFolder pending(folder);
  for (size_t shard = 0; shard < shards.size(); ++shard) {
    std::vector<SafetensorsEntry> entries;
    for (const size_t i : shards[shard])
      entries.push_back({tensors[i].name, tensors[i].type, tensors[i].dims});
    SafetensorsWriter file(pending.pathOf(nameOf(shard)), entries, {{"format", "pt"}});
    for (size_t i = 0; i < entries.size(); ++i)
      write(tensors[shards[shard][i]],
            [&](int64_t at, const char *from, int64_t bytes) { file.write(i, at, from, bytes); });
    file.commit();
  }
  if (shards.size() > 1) {
    DurableFile file(pending.pathOf(weightsIndexName));
    file.append(index());
    file.commit();
  }
  for (const std::string &name :
       companions.empty() ? std::vector<std::string>() : entriesOf(companions)) {
    const std::string from = companions + "/" + name;
    if (!isCompanion(name) || isFolder(from))
      continue;
    if (name == "config.json" && type) {
      DurableFile file(pending.pathOf(name));
      file.append(configWith(*type, from));
      file.commit();
    } else {
      copyFile(from, pending.pathOf(name));
    }
  }
  // Texts that were added to an earlier export stay.
  for (const std::string &name : entriesOf(folder))
    if (isCompanion(name) && access(pending.pathOf(name).c_str(), F_OK) != 0)
      copyFile(folder + "/" + name, pending.pathOf(name));
  pending.commit();
}

} // namespace mtc::runtime
