// Index files are JSON: {"weight_map": {tensor: file, ...}}.
#include "runtime/io/tensor_files.h"

#include "runtime/io/durable_file.h"
#include "runtime/io/json_object.h"
#include "runtime/support/failure.h"

#include <set>
#include <sys/stat.h>

namespace mtc::runtime {
namespace {

constexpr int64_t longestIndex = 100'000'000;

bool isFolder(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool exists(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

bool isIndex(const std::string &path) {
  constexpr std::string_view ending = ".json";
  return path.size() > ending.size() &&
         path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

/// Returns the weights file or index of a folder.
std::string fileOf(const std::string &folder) {
  for (const char *name : {weightsFileName, weightsIndexName})
    if (std::string path = folder + "/" + name; exists(path))
      return path;
  userError(folder, ": the folder has neither ", weightsFileName, " nor ", weightsIndexName,
            "; Hugging Face's save_pretrained writes one of them");
}

} // namespace

std::string folderOfWeights(const std::string &path) {
  if (isFolder(path))
    return path;
  const std::string name = fileNameOf(path);
  return name == weightsFileName || name == weightsIndexName ? folderOf(path) : "";
}

TensorFiles::TensorFiles(const std::string &path) : named(path) {
  const std::string file = isFolder(path) ? fileOf(path) : path;
  if (isIndex(file)) {
    openIndex(file);
    return;
  }
  files.emplace_back(file);
  entries = files.front().tensors();
}

void TensorFiles::openIndex(const std::string &path) {
  const InputFile index(path);
  if (index.size() > longestIndex)
    userError(path, ": has ", index.size(), " bytes; expected an index of at most ", longestIndex);
  std::string content(static_cast<size_t>(index.size()), '\0');
  index.read(0, content.data(), index.size());
  const nlohmann::json json = parseJsonObject(path + ":", content);
  const nlohmann::json map = json.value("weight_map", nlohmann::json());
  if (!map.is_object())
    userError(path, ": lacks 'weight_map', which names the file of each tensor");
  std::map<std::string, size_t> opened;
  for (const auto &[tensor, file] : map.items()) {
    const std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || name.find('/') != std::string::npos || name == "..")
      userError(path, ": the file of tensor '", tensor, "' is ", file.dump(),
                "; expected the name of a file in the same folder");
    auto [found, isNew] = opened.emplace(name, files.size());
    if (isNew)
      files.emplace_back(folderOf(path) + "/" + name);
    const ArrayOnDisk *array = files[found->second].find(tensor);
    if (!array)
      userError(files[found->second].path(), ": tensor '", tensor, "' is missing; ", path,
                " says that it is there");
    entries.emplace(tensor, *array);
  }
}

const ArrayOnDisk *TensorFiles::find(const std::string &name) const {
  auto found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

std::string TensorFiles::metadata(const std::string &key) const {
  return files.size() == 1 ? files.front().metadata(key) : "";
}

} // namespace mtc::runtime
