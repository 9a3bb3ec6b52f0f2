// Writing and reading of checkpoints.
#include "runtime/state/checkpoint.h"

#include "runtime/io/checksum.h"
#include "runtime/io/durable_file.h"
#include "runtime/state/stored_variable.h"
#include "runtime/state/variables.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {

static bool exists(const std::string &path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0;
}

static bool isSameFile(const std::string &one, const std::string &other) {
  struct stat first, second;
  return stat(one.c_str(), &first) == 0 && stat(other.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static std::string readText(const std::string &path) {
  InputFile file(path);
  if (file.size() > 64 << 20)
    userError(path, ": is too large for a manifest");
  std::string text(static_cast<size_t>(file.size()), '\0');
  file.read(0, text.data(), file.size());
  return text;
}

CheckpointFolder::CheckpointFolder(std::string name) : folder(std::move(name)) {
  while (folder.size() > 1 && folder.back() == '/')
    folder.pop_back();
  for (size_t slash = folder.find('/', 1);; slash = folder.find('/', slash + 1)) {
    std::string part = folder.substr(0, slash);
    if (mkdir(part.c_str(), 0777) == 0)
      made.push_back(part);
    else if (errno != EEXIST)
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
  lock.emplace(folder);
}

CheckpointFolder::~CheckpointFolder() {
  lock.reset();
  // Those that hold something stay.
  for (; !made.empty(); made.pop_back())
    rmdir(made.back().c_str());
}

std::string CheckpointFolder::held() const {
  const std::string manifest = path(manifestName);
  if (!exists(manifest))
    return folder + " holds no checkpoint";
  std::string damaged = text("a checkpoint that cannot be read is in ", folder);
  try {
    auto json = nlohmann::json::parse(readText(manifest), nullptr, false);
    if (auto step = json.find("step"); step != json.end() && step->is_number_unsigned())
      return text("the checkpoint of step ", step->dump(), " is in ", folder);
  } catch (const Failure &) {
    return damaged; // What is wrong is said when it is resumed.
  }
  return damaged;
}

void CheckpointFolder::checkReplaces(const std::string &resumed) const {
  if (exists(path(manifestName)) && (resumed.empty() || !isSameFile(resumed, folder)))
    userError("--save ", folder, ": ", held(),
              ", and this run does not go on from it. To do so, "
              "give --resume ",
              folder,
              "; to keep it, save into another folder; to lose it, give "
              "--overwrite");
}

void CheckpointFolder::removeOthers(const std::string &kept) const {
  DIR *directory = opendir(folder.c_str());
  if (!directory)
    return;
  std::vector<std::string> names;
  while (const dirent *entry = readdir(directory))
    if (isCheckpointFileName(entry->d_name) && entry->d_name != kept)
      names.emplace_back(entry->d_name);
  closedir(directory);
  for (const std::string &name : names)
    unlink(path(name).c_str());
}

/// Of frozen variables, which no checkpoint holds: a run goes on from one with the same.
static std::map<std::string, std::string> frozenChecksums(const MtcProgram &program,
                                                          Device &device) {
  std::map<std::string, std::string> checksums;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (variable.role != MTC_FROZEN)
      continue;
    Checksum sum;
    device.read(placeOf(variable.tensor), variable.tensor.bytes,
                [&](const char *from, int64_t, int64_t bytes) { sum.add(from, bytes); });
    checksums[variable.tensor.name] = checksumText(sum.value());
  }
  return checksums;
}

void CheckpointFolder::writeTensors(const MtcProgram &program, Device &device,
                                    const FiniteVariables &finite, CheckpointManifest &manifest) {
  if (!frozen)
    frozen = frozenChecksums(program, device);
  manifest.checksums = *frozen;
  std::vector<uint32_t> saved;
  std::vector<SafetensorsEntry> entries;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    if (!isSaved(program.variables[i]))
      continue;
    const MtcTensor tensor = StoredVariable(program, i).tensor();
    saved.push_back(i);
    entries.push_back({tensor.name, tensor.type, shapeOf(tensor)});
  }
  SafetensorsWriter writer(path(manifest.file), entries);
  for (size_t i = 0; i < saved.size(); ++i) {
    Checksum sum;
    auto write = [&](const char *from, int64_t at, int64_t bytes) {
      writer.write(i, at, from, bytes);
      sum.add(from, bytes);
    };
    if (!finite.read(program, device, saved[i], write))
      stopDiverged(text("after step ", manifest.state.step, ", '", entries[i].name,
                        "' holds values that are not finite"),
                   held());
    manifest.checksums[entries[i].name] = checksumText(sum.value());
  }
  manifest.bytes = writer.fileBytes();
  writer.commit();
}

void CheckpointFolder::save(const MtcProgram &program, Device &device, const TrainingState &state,
                            const FiniteVariables &finite) {
  lock->renew();
  CheckpointManifest manifest;
  manifest.state = state;
  for (int attempt = 0; manifest.file.empty() || exists(path(manifest.file)); ++attempt)
    manifest.file = checkpointFileName(state.step, attempt);
  writeTensors(program, device, finite, manifest);
  DurableFile file(path(manifestName));
  file.append(writeManifest(program, manifest));
  file.commit();
  removeOthers(manifest.file);
}

Checkpoint::Checkpoint(const MtcProgram &program, const std::string &folder) {
  const std::string path = folder + "/" + manifestName;
  if (!exists(path))
    userError("--resume ", folder, ": holds no checkpoint (no ", manifestName, ")");
  for (std::string text = readText(path), newer;; text = newer) {
    manifest = parseManifest(program, path, text);
    try {
      file.emplace(folder + "/" + manifest.file);
      break;
    } catch (const Failure &) {
      // A run that saves meanwhile has removed the file, after it replaced the manifest.
      newer = readText(path);
      if (newer == text)
        throw;
    }
  }
  if (file->bytes() != manifest.bytes)
    userError(file->path(), ": has ", file->bytes(), " bytes; its manifest says ", manifest.bytes);
}

void Checkpoint::load(const MtcProgram &program, Device &device) const {
  Problems problems;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (!isSaved(variable))
      continue;
    const StoredVariable stored(program, i);
    const MtcTensor tensor = stored.tensor();
    const ArrayOnDisk *found = file->find(tensor.name);
    std::string why = found ? mismatch(tensor, *found) : "is missing";
    if (why.empty()) {
      Checksum sum;
      stored.write(device, [&](char *to, int64_t at, int64_t bytes) {
        readArray(*found, at, to, bytes);
        sum.add(to, bytes);
      });
      auto expected = manifest.checksums.find(tensor.name);
      if (expected == manifest.checksums.end() || expected->second != checksumText(sum.value()))
        why = "is damaged: its checksum is not the manifest's";
    }
    if (!why.empty())
      problems.add(file->path(), ": tensor '", tensor.name, "' ", why);
  }
  problems.throwIfAny();
  for (const auto &[name, checksum] : frozenChecksums(program, device))
    if (auto expected = manifest.checksums.find(name);
        expected == manifest.checksums.end() || expected->second != checksum)
      userError(file->path(), ": was trained with another value of '", name,
                "', which is frozen; --weights names the file that its run started from");
}

} // namespace mtc::runtime
