// Adds and removes the folders of checkpoints.
#include "runtime/state/checkpoint_history.h"

#include "runtime/abi/number.h"
#include "runtime/io/folder_lock.h"
#include "runtime/support/failure.h"
#include "support/files/written_by_mtc.h"

#include <algorithm>
#include <dirent.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {
namespace {

constexpr std::string_view prefix = "step-";

std::vector<std::string> namesIn(const std::string &folder) {
  std::vector<std::string> names;
  if (DIR *directory = opendir(folder.c_str())) {
    while (const dirent *entry = readdir(directory))
      names.emplace_back(entry->d_name);
    closedir(directory);
  }
  return names;
}

bool isManifest(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return stepOfManifest(text).has_value();
}

/// Removes a checkpoint and its folder, unless another process saves to the folder. The manifest is
/// removed first, so that a process that is killed leaves no manifest without its data. Other files
/// remain, and so does a folder that contains them. Errors are ignored.
void removeCheckpoint(const std::string &folder) {
  try {
    const FolderLock lock(folder);
    const std::string manifest = folder + "/" + manifestName;
    struct stat status;
    const bool hasManifest = lstat(manifest.c_str(), &status) == 0;
    if (hasManifest && (!S_ISREG(status.st_mode) || !isManifest(manifest)))
      return;
    if (hasManifest && unlink(manifest.c_str()) != 0)
      return;
    for (const std::string &name : namesIn(folder)) {
      // A user's file may have the name of a checkpoint file, so the mark is checked. Files of
      // killed runs are incomplete and have a leading dot.
      const std::string path = folder + "/" + name;
      if (isCheckpointFileName(name) && (name.front() == '.' || files::isWrittenByMtc(path)))
        unlink(path.c_str());
    }
  } catch (const Failure &) {
    return; // locked
  }
  rmdir(folder.c_str());
}

} // namespace

std::string historyFolderName(int64_t step) { return text(prefix, step); }

std::optional<int64_t> stepOfHistoryFolder(const std::string &name) {
  int64_t step = 0;
  if (!name.starts_with(prefix) ||
      !abi::parseNumber(std::string_view(name).substr(prefix.size()), step).empty() ||
      name != historyFolderName(step))
    return std::nullopt;
  return step;
}

std::vector<int64_t> historyOf(const std::string &folder) {
  std::vector<int64_t> steps;
  for (const std::string &name : namesIn(folder)) {
    struct stat status;
    const std::optional<int64_t> step = stepOfHistoryFolder(name);
    if (step && lstat((folder + "/" + name).c_str(), &status) == 0 && S_ISDIR(status.st_mode))
      steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end(), std::greater<>());
  return steps;
}

CheckpointHistory::CheckpointHistory(std::string folder, int64_t count)
    : folder(std::move(folder)), count(count) {}

void CheckpointHistory::checkReplaces(const std::string &resumed) const {
  const std::vector<int64_t> steps = historyOf(folder);
  if (!steps.empty() && resumed.empty())
    userError("--save ", folder, ": holds ", historyFolderName(steps.front()),
              ", a checkpoint of another run. To go on from it, give --resume ", folder, "/",
              historyFolderName(steps.front()),
              "; to keep it, save into another folder; to lose it, give --overwrite");
}

void CheckpointHistory::keep(const MtcProgram &program, const CheckpointFolder &saved,
                             int64_t step) {
  CheckpointFolder(folder + "/" + historyFolderName(step)).adopt(program, saved);
  removeOldest(step);
}

/// Removes checkpoints of steps up to `step`, except for the last ones.
void CheckpointHistory::removeOldest(int64_t step) const {
  int64_t kept = 0;
  for (const int64_t each : historyOf(folder))
    if (each <= step && kept++ >= count)
      removeCheckpoint(folder + "/" + historyFolderName(each));
}

} // namespace mtc::runtime
