// Writing and reading of checkpoints.
#include "runtime/checkpoint.h"

#include "runtime/checksum.h"
#include "runtime/durable_file.h"
#include "runtime/element_type.h"
#include "runtime/failure.h"
#include "runtime/variables.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char *formatName = "mtc-checkpoint";
constexpr int formatVersion = 1;
constexpr const char *manifestName = "/manifest.json";

bool exists(const std::string &path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0;
}

/// Whether this code gave the name: `step-N-K.safetensors`, or a temporary of one or of a manifest.
bool isOurs(const std::string &name) {
  auto has = [&](size_t at, const char *part) {
    return name.compare(at, std::strlen(part), part) == 0;
  };
  auto endsWith = [&](const char *ending) {
    return name.size() >= std::strlen(ending) && has(name.size() - std::strlen(ending), ending);
  };
  if (endsWith(".tmp"))
    return has(0, ".step-") || has(0, ".manifest.json.");
  return has(0, "step-") && endsWith(".safetensors") &&
         name.find_first_not_of("0123456789-", 5) == name.size() - std::strlen(".safetensors");
}

/// Removes what earlier checkpoints and killed runs left. Failing to is no harm.
void removeOthers(const std::string &folder, const std::string &keep) {
  DIR *directory = opendir(folder.c_str());
  if (!directory)
    return;
  std::vector<std::string> names;
  while (const dirent *entry = readdir(directory))
    if (isOurs(entry->d_name) && entry->d_name != keep)
      names.emplace_back(entry->d_name);
  closedir(directory);
  for (const std::string &name : names)
    unlink((folder + "/" + name).c_str());
}

/// The manifest, valid and of this program.
Json readManifest(const MtcProgram &program, const std::string &folder) {
  const std::string path = folder + manifestName, flag = "--resume " + folder;
  if (!exists(path))
    userError(flag, ": holds no checkpoint (no manifest.json)");
  InputFile file(path);
  if (file.size() > 64 << 20)
    userError(path, ": is too large for a manifest");
  std::string text(static_cast<size_t>(file.size()), '\0');
  file.read(0, text.data(), file.size());
  Json manifest = Json::parse(text, nullptr, false);
  if (!manifest.is_object() || manifest.value("format", Json()) != formatName ||
      !manifest.value("fingerprint", Json()).is_string())
    userError(path, ": is not the manifest of a checkpoint");
  if (manifest.value("version", Json()) != formatVersion)
    userError(path, ": is of version ", manifest.value("version", Json()).dump(),
              "; this program reads version ", formatVersion);
  if (manifest.value("fingerprint", Json()) != program.fingerprint)
    userError(flag,
              ": the checkpoint belongs to another program: its variables, shapes or optimizer "
              "differ (fingerprint ",
              manifest.value("fingerprint", Json()).dump(), ", this program's is \"",
              program.fingerprint,
              "\"). Resume it with the program that wrote it, or give its weights to this one with "
              "--weights");
  for (const char *key : {"step", "seed", "bytes"})
    if (!manifest.value(key, Json()).is_number_unsigned())
      userError(path, ": lacks '", key, "'");
  // Rows are counted from the first step on, in 64 bits.
  if (manifest["step"].get<uint64_t>() > uint64_t{1} << 48 ||
      manifest["seed"].get<uint64_t>() > uint64_t{INT64_MAX})
    userError(path, ": 'step' or 'seed' is out of range");
  if (!manifest.value("shuffle", Json()).is_boolean() ||
      !manifest.value("file", Json()).is_string() ||
      !manifest.value("checksums", Json()).is_object())
    userError(path, ": lacks 'shuffle', 'file' or 'checksums'");
  if (std::string name = manifest["file"]; !isOurs(name))
    userError(path, ": names the file '", name, "', which is not one of a checkpoint");
  return manifest;
}

} // namespace

CheckpointFolder::CheckpointFolder(std::string path) : folder(std::move(path)) {
  while (folder.size() > 1 && folder.back() == '/')
    folder.pop_back();
  for (size_t slash = folder.find('/', 1);; slash = folder.find('/', slash + 1)) {
    std::string part = folder.substr(0, slash);
    if (mkdir(part.c_str(), 0777) != 0 && errno != EEXIST)
      userError("--save ", folder, ": the folder ", part,
                " cannot be made: ", std::strerror(errno));
    if (slash == std::string::npos)
      break;
  }
  struct stat status;
  if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    userError("--save ", folder, ": is not a folder");
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    userError("--save ", folder, ": cannot be written to: ", std::strerror(errno));
}

void CheckpointFolder::save(const MtcProgram &program, Device &device, const TrainingState &state) {
  std::string name;
  for (int attempt = 0; name.empty() || exists(folder + "/" + name); ++attempt)
    name = text("step-", state.step, "-", attempt, ".safetensors");

  std::vector<const MtcTensor *> tensors;
  std::vector<SafetensorsEntry> entries;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (!isSaved(variable))
      continue;
    tensors.push_back(&variable.tensor);
    entries.push_back({variable.tensor.name, variable.tensor.type, shapeOf(variable.tensor)});
  }
  SafetensorsWriter writer(folder + "/" + name, entries);
  Json checksums = Json::object();
  for (size_t i = 0; i < tensors.size(); ++i) {
    Checksum sum;
    device.read(tensors[i]->offset, tensors[i]->bytes,
                [&](const char *from, int64_t at, int64_t bytes) {
                  writer.write(i, at, from, bytes);
                  sum.add(from, bytes);
                });
    checksums[tensors[i]->name] = checksumText(sum.value());
  }
  writer.commit();

  Json manifest = {{"format", formatName},
                   {"version", formatVersion},
                   {"compiler_version", program.compiler_version},
                   {"model", program.model_name},
                   {"fingerprint", program.fingerprint},
                   {"step", state.step},
                   {"batch", program.batch},
                   {"seed", state.seed},
                   {"shuffle", state.shuffle},
                   {"file", name},
                   {"bytes", writer.fileBytes()},
                   {"checksums", checksums}};
  DurableFile file(folder + manifestName);
  file.append(manifest.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  file.commit();
  removeOthers(folder, name);
}

TrainingState readTrainingState(const MtcProgram &program, const std::string &folder) {
  Json manifest = readManifest(program, folder);
  TrainingState state;
  state.step = manifest["step"].get<int64_t>();
  state.seed = manifest["seed"].get<uint64_t>();
  state.shuffle = manifest["shuffle"].get<bool>();
  return state;
}

void loadCheckpoint(const MtcProgram &program, Device &device, const std::string &folder) {
  Json manifest = readManifest(program, folder);
  SafetensorsFile file(folder + "/" + manifest["file"].get<std::string>());
  InputFile raw(file.path());
  if (raw.size() != manifest["bytes"].get<int64_t>())
    userError(file.path(), ": has ", raw.size(), " bytes; its manifest says ",
              manifest["bytes"].get<int64_t>());
  Problems problems;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (!isSaved(variable))
      continue;
    const MtcTensor &tensor = variable.tensor;
    const ArrayOnDisk *found = file.find(tensor.name);
    std::string why = found ? mismatch(tensor, *found) : "is missing";
    if (why.empty()) {
      Checksum sum;
      device.write(tensor.offset, tensor.bytes, [&](char *to, int64_t at, int64_t bytes) {
        readArray(*found, at, to, bytes);
        sum.add(to, bytes);
      });
      if (manifest["checksums"].value(tensor.name, Json()) != checksumText(sum.value()))
        why = "is damaged: its checksum is not the manifest's";
    }
    if (!why.empty())
      problems.add(file.path(), ": tensor '", tensor.name, "' ", why);
  }
  problems.throwIfAny();
}

} // namespace mtc::runtime
